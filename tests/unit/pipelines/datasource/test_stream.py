"""Where a batch of a stream ends, and what a stream says of partitions that come and go."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pytest
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxRows, ReadMinRows

from ottla.pipelines.datasource.offsets import Offsets, Place
from ottla.pipelines.datasource.options import read_options
from ottla.pipelines.datasource.planning import DataLost, Loss, Range, losses, what_is_left
from ottla.pipelines.datasource.stream import StreamReader

START = {"orders": {"0": 10, "1": 20}}
LEAST = {"kafka.bootstrap.servers": "b:9092", "subscribe": "orders"}


class Cluster:
    """Stands in for `Positions`: these offsets, and nothing lost that is not told."""

    def __init__(self, ends: Offsets, firsts: Offsets | None = None) -> None:
        self.at_end, self.firsts = ends, firsts or {}

    def places(self) -> list[Place]:
        return sorted(self.at_end)

    def ends(self, places: Iterable[Place]) -> Offsets:
        return {place: self.at_end[place] for place in places}

    def lose(self, lost: Sequence[Loss]) -> None:
        if lost:
            raise DataLost(lost)

    def still_there(self, wanted: Sequence[Range], places: Sequence[Place]) -> list[Range]:
        firsts = {place: self.firsts.get(place, 0) for place in places}
        self.lose(losses(wanted, firsts))
        return what_is_left(wanted, firsts)


def reader(cluster: Cluster, **options: str) -> StreamReader:
    found = StreamReader(read_options({**LEAST, **options}, streaming=True))
    vars(found)["_positions"] = cluster
    return found


def test_a_batch_takes_no_more_than_it_may() -> None:
    cluster = Cluster({("orders", 0): 110, ("orders", 1): 20})
    limited = reader(cluster, maxOffsetsPerTrigger="30")
    limit = limited.getDefaultReadLimit()
    assert limit == ReadMaxRows(30)
    assert limited.latestOffset(START, limit) == {"orders": {"0": 40, "1": 20}}
    assert limited.reportLatestOffset() == {"orders": {"0": 110, "1": 20}}


def test_spark_may_want_all_at_once_whatever_the_option_says() -> None:
    cluster = Cluster({("orders", 0): 110, ("orders", 1): 20})
    limited = reader(cluster, maxOffsetsPerTrigger="30", minOffsetsPerTrigger="500")
    assert limited.latestOffset(START, ReadAllAvailable()) == {"orders": {"0": 110, "1": 20}}


def test_nothing_new_is_the_same_place() -> None:
    idle = reader(Cluster({("orders", 0): 10, ("orders", 1): 20}))
    assert idle.getDefaultReadLimit() == ReadAllAvailable()
    assert idle.latestOffset(START, ReadAllAvailable()) == START
    assert idle.partitions(START, START) == []


def test_only_what_is_there_now_means_nothing_of_later() -> None:
    cluster = Cluster({("orders", 0): 15, ("orders", 1): 20})
    bounded = reader(cluster)
    bounded.prepareForTriggerAvailableNow()
    cluster.at_end |= {("orders", 0): 99, ("orders", 2): 5}
    end = bounded.latestOffset(START, ReadAllAvailable())
    assert end == {"orders": {"0": 15, "1": 20}}
    assert bounded.latestOffset(end, ReadAllAvailable()) == end


def test_few_records_wait_but_for_the_first_batch_and_the_last_run() -> None:
    cluster = Cluster({("orders", 0): 11, ("orders", 1): 20})
    patient = reader(cluster, minOffsetsPerTrigger="5", maxTriggerDelay="1h")
    limit = patient.getDefaultReadLimit()
    assert limit == ReadMinRows(5)
    first = patient.latestOffset(START, limit)
    assert first == {"orders": {"0": 11, "1": 20}}
    cluster.at_end[("orders", 0)] = 15
    assert patient.latestOffset(first, limit) == first
    cluster.at_end[("orders", 0)] = 16
    assert patient.latestOffset(first, limit) == {"orders": {"0": 16, "1": 20}}
    cluster.at_end[("orders", 0)] = 17
    patient.prepareForTriggerAvailableNow()
    assert patient.latestOffset(first, limit) == {"orders": {"0": 17, "1": 20}}


def test_a_partition_that_appears_is_read_from_its_first_offset() -> None:
    grown = reader(Cluster({("orders", 0): 10, ("orders", 1): 20, ("orders", 2): 3}))
    end = grown.latestOffset(START, ReadAllAvailable())
    assert [part.value for part in grown.partitions(START, end)] == [Range("orders", 2, 0, 3)]


@pytest.mark.parametrize(
    ("ends", "why"),
    [
        ({("orders", 0): 10}, "orders-1: from offset 20: the partition does not exist any more"),
        ({("orders", 0): 10, ("orders", 1): 7}, "orders-1: from offset 20: .* ends at offset 7"),
    ],
)
def test_a_partition_that_is_gone_or_another_one_is_a_loss(ends: Offsets, why: str) -> None:
    with pytest.raises(DataLost, match=why):
        reader(Cluster(ends)).latestOffset(START, ReadAllAvailable())


def test_a_repeated_batch_whose_records_are_gone_is_a_loss() -> None:
    ends = {("orders", 0): 50, ("orders", 1): 20}
    shortened = reader(Cluster(ends, firsts={("orders", 0): 30}))
    with pytest.raises(DataLost, match="orders-0: offsets 10 to 29: deleted before they were read"):
        shortened.partitions(START, {"orders": {"0": 50, "1": 20}})


def test_tasks_are_as_many_as_wanted() -> None:
    ends = {("orders", 0): 110, ("orders", 1): 20}
    shared: Any = reader(Cluster(ends), minPartitions="4")
    parts = shared.partitions(START, {"orders": {"0": 110, "1": 20}})
    assert [part.value.size for part in parts] == [25, 25, 25, 25]
