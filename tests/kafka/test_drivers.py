"""The drivers of the benchmark move the records they say they move, to and from a real Kafka."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.beside.bench import Bench, started
from benchmarks.beside.group_scenarios import every_coordinator
from benchmarks.beside.members import members
from benchmarks.beside.targets import Kafka
from benchmarks.drivers.driver import DriverFailed, drive
from benchmarks.drivers.frames import fetch_request, produce_request
from benchmarks.drivers.group_frames import OFFSET, commits, heartbeats, offset_fetch
from ottla.protocol.apis.describe_groups import DescribeGroupsRequest, DescribeGroupsResponse
from ottla.protocol.apis.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from ottla.protocol.apis.offset_fetch import OffsetFetchRequest, OffsetFetchResponse

pytestmark = pytest.mark.skipif(
    shutil.which("cc") is None and os.environ.get("CI") != "true",
    reason="the drivers are compiled on first use: that needs cc on the PATH",
)
COUNT = 1_000
LATEST = -1


@pytest.fixture(scope="module")
def bench(classpath: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    with started(Kafka(classpath), tmp_path_factory.mktemp("bench"), scale=1) as bench:
        yield bench


def end_offset(bench: Bench, topic: str, partition: int = 0) -> int:
    wanted = ListOffsetsPartition(partition_index=partition, timestamp=LATEST)
    request = ListOffsetsRequest(
        replica_id=-1, topics=[ListOffsetsTopic(name=topic, partitions=[wanted])]
    )
    answer = bench.admin.ask(request, 2, ListOffsetsResponse)
    return answer.topics[0].partitions[0].offset


@pytest.mark.parametrize("codec", ["none", "gzip", "lz4", "zstd"])
def test_what_is_produced_is_fetched_by_both_drivers(codec: str, bench: Bench) -> None:
    with bench.fresh_topic() as topic:
        sent = bench.client("produce", topic, size=100, count=COUNT, compression_codec=codec)
        assert (sent["count"], sent["bytes"]) == (COUNT, COUNT * 100)
        assert end_offset(bench, topic) == COUNT + 1  # and the first, which is not counted
        assert bench.client("fetch", topic, count=COUNT + 1)["bytes"] % 100 == 0
        raw = bench.raw("fetch", fetch_request(topic), until=COUNT + 1, connections=2)
        assert raw["bytes"] > 2 * COUNT * (100 if codec == "none" else 10)


def test_an_idempotent_producer_fills_all_partitions(bench: Bench) -> None:
    with bench.fresh_topic(3) as topic:
        options = {"partitions": 3, "batch": 2_000, "enable_idempotence": "true"}
        # A short queue: what finds no room is sent later, and once.
        bench.client(
            "produce", topic, size=100, count=COUNT, queue_buffering_max_messages=50, **options
        )
        ends = [end_offset(bench, topic, partition) for partition in range(3)]
    assert sum(ends) == COUNT + 3
    assert min(ends) > COUNT // 4


@pytest.mark.parametrize(("connections", "depth"), [(1, 1), (10, 1), (3, 5)])
def test_each_bare_request_is_one_record(connections: int, depth: int, bench: Bench) -> None:
    with bench.fresh_topic() as topic:
        request = produce_request(topic, record_bytes=100, acks=1)
        options = {"connections": connections, "depth": depth, "seconds": 0.2, "warmup": 0}
        done = bench.raw("repeat", request, **options)
        # Those in flight at the end may have been appended, too.
        assert done["count"] <= end_offset(bench, topic) <= done["count"] + connections * depth
    assert 0 < done["p50_us"] <= done["p99_us"] <= done["max_us"]


@pytest.mark.parametrize("acks", [1, -1])
def test_as_many_bare_batches_are_sent_as_were_asked_for(acks: int, bench: Bench) -> None:
    with bench.fresh_topic() as topic:
        request = produce_request(topic, record_bytes=100, acks=acks, records=50)
        options = {"connections": 2, "depth": 5, "count": 33, "payload": 50 * 100}
        done = bench.raw("repeat", request, **options)
        assert (done["count"], done["bytes"]) == (33, 33 * 50 * 100)
        assert end_offset(bench, topic) == 33 * 50
        assert bench.client("fetch", topic, count=33 * 50)["bytes"] % 100 == 0


def test_latencies_are_of_as_many_records_as_were_asked_for(bench: Bench) -> None:
    for mode in ("sync", "end-to-end"):
        with bench.fresh_topic() as topic:
            done = bench.client(mode, topic, size=100, count=COUNT, linger_ms=0)
            assert done["count"] == COUNT
            assert 0 < done["p50_us"] <= done["p99_us"] <= done["p999_us"] < 30e6
            assert end_offset(bench, topic) > COUNT


def test_an_error_of_the_broker_ends_the_bare_driver(bench: Bench) -> None:
    request = produce_request("nowhere", record_bytes=100, acks=1)
    with pytest.raises(DriverFailed, match="error code 3"):
        bench.raw("repeat", request, seconds=1)


def test_a_misspelt_option_is_refused(tmp_path: Path) -> None:
    options = {"port": 1, "frame": tmp_path, "head": 20, "error-at": 4, "conections": 5}
    with pytest.raises(DriverFailed, match="conections=5"):
        drive("raw", "repeat", options)


def state_of(bench: Bench, group: str) -> str:
    request = DescribeGroupsRequest(groups=[group])
    return bench.admin.ask(request, 4, DescribeGroupsResponse).groups[0].group_state


@pytest.mark.parametrize("mode", ["form", "grow"])
def test_members_form_a_group_and_leave_it(mode: str, bench: Bench) -> None:
    every_coordinator(bench)
    done = bench.group(mode, f"driver-{mode}", members=5, rounds=2)
    assert done["count"] == 2
    assert 0 < done["p50_us"] <= done["max_us"]
    assert [state_of(bench, f"driver-{mode}-{number}") for number in range(2)] == ["Empty"] * 2


def test_each_connection_commits_for_a_group_of_its_own(bench: Bench) -> None:
    every_coordinator(bench)
    with bench.fresh_topic(3) as topic, members(bench.admin, ["driver-a", "driver-b"]) as joined:
        request = commits(joined, topic, partitions=3)
        assert bench.raw("repeat", request, connections=2, seconds=0.2)["count"] > 0
        assert bench.raw("repeat", heartbeats(joined), connections=2, seconds=0.2)["count"] > 0
        for who in joined:
            fetch = OffsetFetchRequest(group_id=who.group, topics=None)
            answer = bench.admin.ask(fetch, 5, OffsetFetchResponse)
            assert [row.committed_offset for row in answer.topics[0].partitions] == [OFFSET] * 3
        named = offset_fetch("driver-a", [topic], partitions=3, names_them=True)
        assert bench.raw("repeat", named, seconds=0.2)["count"] > 0
