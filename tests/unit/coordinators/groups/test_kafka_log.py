"""A log that Apache Kafka 3.9.1 wrote is loaded, and the groups are as Kafka itself told them.

`vectors/kafka.json.gz` holds `__consumer_offsets-0` of a broker with one such partition after its
stop, and what it answered just before to DescribeGroups v4 and OffsetFetch v7 (all; all, stable;
three partitions, stable). In the log: commits v4 with a retention and v8, groups of two range
consumers and of one static cooperative one, one that was left, deleted groups and offsets, a
deleted topic, and transactions that were committed, aborted, overtaken by a plain commit, and open.
"""

from __future__ import annotations

import gzip
import json
import logging
from base64 import b64decode
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from ottla.coordinators.groups.answers import TopicPartition
from ottla.protocol.errors import ErrorCode
from ottla.protocol.records.record_set import read_batches
from tests.unit.coordinators.fake_log import FakeLog
from tests.unit.coordinators.groups.world import NONE, World
from tests.virtual_time import on_virtual_time

VECTOR = Path(__file__).parent / "vectors" / "kafka.json.gz"
SOME = [("orders", number) for number in range(3)]


@cache
def recorded() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(gzip.decompress(VECTOR.read_bytes()))
    return found


GROUPS = list(recorded()["answers"])


async def loaded() -> World:
    log = FakeLog()
    log.data = b64decode(recorded()["log"])
    world = World(logs=[log])
    world.coordinator.start(1)
    world.coordinator.elected(0, 1)
    await world.settle()
    assert not world.coordinator.partitions.is_loading
    return world


def fetched(
    world: World, group_id: str, partitions: list[TopicPartition] | None, *, stable: bool
) -> dict[str, list[object]]:
    error, found = world.coordinator.fetch(group_id, partitions, require_stable=stable)
    assert error is NONE
    return {f"{topic}-{number}": list(each) for (topic, number), each in found.items()}


@pytest.mark.parametrize("group_id", GROUPS)
def test_a_group_is_described_and_its_offsets_fetched_as_in_kafka(group_id: str) -> None:
    @on_virtual_time
    async def test() -> None:
        world, answer = await loaded(), recorded()["answers"][group_id]
        described = world.coordinator.describe(group_id)
        told = answer["describe"]
        assert described.error is NONE
        assert described[1:4] == (told["state"], told["protocol_type"], told["protocol"])
        assert sorted([*each[:4], each[4].hex(), each[5].hex()] for each in described.members) == (
            sorted(told["members"])
        )
        assert fetched(world, group_id, None, stable=False) == answer["all"]
        assert fetched(world, group_id, None, stable=True) == answer["stable"]
        assert fetched(world, group_id, SOME, stable=True) == answer["some_stable"]

    test()


@on_virtual_time
async def test_all_groups_that_kafka_knew_are_listed_and_no_others() -> None:
    world = await loaded()
    states = {name: told["describe"]["state"] for name, told in recorded()["answers"].items()}
    assert world.listed() == {name: state for name, state in states.items() if state != "Dead"}


@on_virtual_time
async def test_the_members_that_kafka_knew_go_on_here() -> None:
    world = await loaded()
    for name in ("readers", "static"):
        for member in recorded()["answers"][name]["describe"]["members"]:
            hosted = next(iter(world.coordinator.partitions)).groups[name]
            answers: list[ErrorCode] = []
            world.coordinator.heartbeat(
                name,
                member_id=member[0],
                instance_id=member[1],
                generation=hosted.group.generation,
                to=answers.append,
            )
            assert answers == [NONE]


@on_virtual_time
async def test_nothing_of_it_is_passed_over(caplog: pytest.LogCaptureFixture) -> None:
    assert any(batch.is_control for batch in read_batches(b64decode(recorded()["log"])))
    await loaded()
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []
