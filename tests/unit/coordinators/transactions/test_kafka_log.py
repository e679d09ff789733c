"""A log that Apache Kafka 3.9.1 wrote is loaded, and all is as Kafka itself described it.

`vectors/kafka.json.gz` holds `__transaction_state-0` of a broker with one such partition, and what
it answered just before to DescribeTransactions v0. Its topic `stuck` lacked an in-sync replica, so
that some transactions were decided and could not be completed; `s` had its markers in `orders`.
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

from ottla.coordinators.transactions.marker_port import NO_LEADER
from ottla.coordinators.transactions.requests import InitAnswer
from tests.unit.coordinators.fake_log import FakeLog
from tests.unit.coordinators.transactions.world import NONE, World
from tests.virtual_time import on_virtual_time

VECTOR = Path(__file__).parent / "vectors" / "kafka.json.gz"


@cache
def recorded() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(gzip.decompress(VECTOR.read_bytes()))
    return found


NAMES = list(recorded()["answers"])


async def loaded() -> World:
    log = FakeLog()
    log.data = b64decode(recorded()["log"])
    world = World(logs=[log])
    world.brokers.leaders = {("stuck", number): NO_LEADER for number in range(3)}
    world.coordinator.start(1)
    world.coordinator.elected(0, 1)
    await world.settle()
    assert not world.coordinator.partitions.is_loading
    return world


@pytest.mark.parametrize("name", NAMES)
def test_a_transactional_id_is_described_as_in_kafka(name: str) -> None:
    @on_virtual_time
    async def test() -> None:
        described = (await loaded()).coordinator.describe(name)
        told = recorded()["answers"][name]
        assert [described.error.name, *described[1:6]] == told[:6]
        assert sorted(described.partitions) == [(topic, number) for topic, number in told[6]]

    test()


@on_virtual_time
async def test_what_kafka_had_decided_is_carried_out_here() -> None:
    world = await loaded()
    world.brokers.leaders = {}
    await world.wait(1_000)
    states = {name: world.state_of(name) for name in ("s", "aborting", "fenced")}
    assert states == {"s": "CompleteCommit", "aborting": "CompleteAbort", "fenced": "CompleteAbort"}
    markers = [marker for _, sent in world.brokers.sent for marker in sent]
    told = {(each.producer_id, each.producer_epoch, each.is_commit) for each in markers}
    assert told == {(0, 0, True), (5, 0, False), (6, 1, False)}


@on_virtual_time
async def test_the_producers_that_kafka_knew_go_on_here() -> None:
    world = await loaded()
    assert await world.end("ongoing", InitAnswer(NONE, 2, 0), commit=True) is NONE
    assert await world.init("bumped") == (NONE, 7, 4)


@on_virtual_time
async def test_nothing_of_it_is_passed_over(caplog: pytest.LogCaptureFixture) -> None:
    await loaded()
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []
