"""Where a pipeline begins to read a topic, and what Spark is told of it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

import pytest

from ottla.pipelines.declaration import Topic
from ottla.pipelines.kafka import Cluster, Committed, KnownTopic, Place
from ottla.pipelines.sources.topic import BadStart, first_positions, start_ms, stream_options

ORDERS = [("orders", 0), ("orders", 1)]


class Known(Cluster):
    """Topic `orders`: offsets 10 to 49, of which a transaction still holds back the last ten."""

    def __init__(self, committed: dict[Place, int] | None = None) -> None:
        self._committed = committed or {}

    def topics(self, names: Iterable[str]) -> dict[str, KnownTopic]:
        return {name: KnownTopic("id", 2) for name in names if name == "orders"}

    def starts(self, places: Iterable[Place]) -> dict[Place, int]:
        return dict.fromkeys(places, 10)

    def ends(self, places: Iterable[Place]) -> dict[Place, int]:
        return dict.fromkeys(places, 50)

    def stable_ends(self, places: Iterable[Place]) -> dict[Place, int]:
        return dict.fromkeys(places, 40)

    def offsets_at_times(self, times_ms: Mapping[Place, int]) -> dict[Place, int]:
        return {place: time_ms for place, time_ms in times_ms.items() if time_ms < 50}

    def committed(self, group: str) -> dict[Place, Committed]:
        return {place: Committed(offset, "") for place, offset in self._committed.items()}


def test_the_earliest_is_the_first_offset_there_is() -> None:
    assert first_positions(Known(), Topic(("orders",))) == dict.fromkeys(ORDERS, 10)


def test_the_latest_is_no_further_than_the_source_will_be_shown() -> None:
    found = first_positions(Known(), Topic(("orders",), start="latest"))
    assert found == dict.fromkeys(ORDERS, 40)


@pytest.mark.parametrize(("ms", "offset"), [(20, 20), (45, 40), (60, 40)])
def test_a_time_is_its_first_record_or_else_the_stable_end(ms: int, offset: int) -> None:
    topic = Topic(("orders",), start=f"1970-01-01T00:00:00.0{ms}Z")
    assert first_positions(Known(), topic) == dict.fromkeys(ORDERS, offset)


def test_a_group_is_followed_and_what_it_never_read_is_read_from_its_beginning() -> None:
    cluster = Known({("orders", 1): 33, ("payments", 0): 7})
    found = first_positions(cluster, Topic(("orders",), start="group:billing"))
    assert found == {("orders", 0): 10, ("orders", 1): 33}


def test_a_group_that_knows_nothing_of_the_topic_is_refused() -> None:
    with pytest.raises(BadStart, match="group:biling: this group has committed nothing"):
        first_positions(Known(), Topic(("orders",), start="group:biling"))


def test_a_missing_topic_is_named() -> None:
    with pytest.raises(BadStart, match="no such topic: payments; create it first"):
        first_positions(Known(), Topic(("orders", "payments")))


def test_a_time_without_a_zone_is_in_utc() -> None:
    assert start_ms("2026-01-31T08:00:00") == start_ms("2026-01-31T09:00:00+01:00")


def test_what_is_no_time_is_refused_with_all_that_may_stand_there() -> None:
    with pytest.raises(BadStart, match="start=erliest: must be earliest, latest, group:NAME or"):
        start_ms("erliest")


def test_spark_is_told_exact_offsets_and_to_stop_when_data_is_lost() -> None:
    topic = Topic(("orders", "payments"), at_once=500)
    options = stream_options(topic, bootstrap="b:9092", start=dict.fromkeys(ORDERS, 5))
    assert options["subscribe"] == "orders,payments"
    assert json.loads(options["startingOffsets"]) == {"orders": {"0": 5, "1": 5}}
    assert options["failOnDataLoss"] == options["includeHeaders"] == "true"
    assert options["maxOffsetsPerTrigger"] == "500"
    assert options["kafka.isolation.level"] == "read_committed"


def test_the_clients_settings_get_sparks_prefix_and_the_sources_own_do_not() -> None:
    given = {"fetch.max.bytes": "1", "kafka.client.id": "me", "minPartitions": "8"}
    options = stream_options(Topic(("orders",), options=given), bootstrap="b:9092", start=None)
    assert options["kafka.fetch.max.bytes"] == "1"
    assert options["kafka.client.id"] == "me"
    assert options["minPartitions"] == "8"
    assert options["startingOffsets"] == "earliest"


def test_an_option_cannot_change_what_the_pipeline_rests_on() -> None:
    given = {"failOnDataLoss": "false", "bootstrap.servers": "elsewhere"}
    options = stream_options(Topic(("orders",), options=given), bootstrap="b:9092", start=None)
    assert options["failOnDataLoss"] == "true"
    assert options["kafka.bootstrap.servers"] == "b:9092"
