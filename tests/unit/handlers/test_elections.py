"""ElectLeaders and ControlledShutdown, against a broker that is the controller."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from ottla.controller.context import TopicPartition
from ottla.controller.events import ElectionResult, ElectionType
from ottla.handlers import HANDLERS
from ottla.protocol.apis.controlled_shutdown import (
    ControlledShutdownRequest,
    ControlledShutdownResponse,
)
from ottla.protocol.apis.elect_leaders import (
    ElectLeadersRequest,
    ElectLeadersResponse,
    TopicPartitions,
)
from ottla.protocol.errors import ErrorCode
from tests.unit.handlers.one_broker import OneBroker, one_broker
from tests.virtual_time import on_virtual_time, virtual_loop


async def elect(
    broker: OneBroker,
    *wanted: tuple[str, int],
    election_type: int = ElectionType.PREFERRED,
    version: int | None = None,
    timeout_ms: int = 1_000,
) -> tuple[int, dict[tuple[str, int], int]]:
    partitions = [TopicPartitions(topic=name, partitions=[index]) for name, index in wanted]
    request = ElectLeadersRequest(
        election_type=election_type, topic_partitions=partitions or None, timeout_ms=timeout_ms
    )
    answer = await broker.ask(request, ElectLeadersResponse, version)
    results = {
        (topic.topic, each.partition_id): each.error_code
        for topic in answer.replica_election_results
        for each in topic.partition_result
    }
    return answer.error_code, results


@pytest.mark.parametrize("version", range(HANDLERS[43][1] + 1))
@on_virtual_time
async def test_an_election_that_is_not_needed_or_not_possible_says_so(version: int) -> None:
    async with one_broker() as broker:
        await broker.create("orders")
        top, found = await elect(broker, ("orders", 0), ("orders", 7), version=version)
        assert (top, found) == (
            0,
            {
                ("orders", 0): ErrorCode.ELECTION_NOT_NEEDED,
                ("orders", 7): ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
            },
        )


@on_virtual_time
async def test_of_all_partitions_only_those_that_needed_it_are_named() -> None:
    async with one_broker() as broker:
        await broker.create("orders", 3)
        assert await elect(broker) == (0, {})


@pytest.mark.parametrize(("version", "top"), [(0, 0), (1, ErrorCode.NOT_CONTROLLER)])
@on_virtual_time
async def test_only_the_controller_holds_elections(version: int, top: int) -> None:
    async with one_broker() as broker:
        await broker.create("orders")
        broker.broker.controller._resign()
        expected = (top, {("orders", 0): ErrorCode.NOT_CONTROLLER})
        assert await elect(broker, ("orders", 0), version=version) == expected


@on_virtual_time
async def test_there_are_two_types_of_elections() -> None:
    async with one_broker() as broker:
        top, found = await elect(broker, ("orders", 0), election_type=2)
        assert top == ErrorCode.INVALID_REQUEST
        assert found == {("orders", 0): ErrorCode.INVALID_REQUEST}


def elected(broker: OneBroker, leader: int) -> None:
    """As if the controller had elected it, and only this broker had not heard of it."""
    at = TopicPartition("orders", 0)
    controller = broker.broker.controller

    async def elect_leaders(
        election_type: ElectionType, partitions: Sequence[TopicPartition] | None
    ) -> dict[TopicPartition, ElectionResult]:
        known = controller.context.leaderships[at]
        controller.context.leaderships[at] = replace(known, leader=leader)
        return {at: ElectionResult(ErrorCode.NONE)}

    controller.elect_leaders = elect_leaders  # type: ignore[method-assign]


@on_virtual_time
async def test_an_election_is_answered_when_the_metadata_shows_it() -> None:
    async with one_broker() as broker:
        await broker.create("orders")
        elected(broker, leader=1)
        assert await elect(broker, ("orders", 0)) == (0, {("orders", 0): 0})


@on_virtual_time
async def test_an_election_that_nobody_hears_of_in_time_has_timed_out() -> None:
    async with one_broker() as broker:
        await broker.create("orders")
        elected(broker, leader=2)
        started = virtual_loop().time()
        timed_out = ErrorCode.REQUEST_TIMED_OUT
        assert await elect(broker, ("orders", 0)) == (0, {("orders", 0): timed_out})
        assert virtual_loop().time() - started == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize("version", range(HANDLERS[7][1] + 1))
@on_virtual_time
async def test_a_broker_that_shares_nothing_may_go_at_once(version: int) -> None:
    async with one_broker() as broker:
        await broker.create("orders")
        request = ControlledShutdownRequest(broker_id=1)
        answer = await broker.ask(request, ControlledShutdownResponse, version)
        assert (answer.error_code, answer.remaining_partitions) == (0, [])


@on_virtual_time
async def test_a_shutdown_of_a_stranger_or_of_an_earlier_life_is_refused() -> None:
    async with one_broker() as broker:
        stranger = ControlledShutdownRequest(broker_id=9)
        answer = await broker.ask(stranger, ControlledShutdownResponse)
        assert answer.error_code == ErrorCode.BROKER_NOT_AVAILABLE
        stale = ControlledShutdownRequest(broker_id=1, broker_epoch=0)
        answer = await broker.ask(stale, ControlledShutdownResponse)
        assert answer.error_code == ErrorCode.STALE_BROKER_EPOCH
        broker.broker.controller._resign()
        answer = await broker.ask(stranger, ControlledShutdownResponse)
        assert answer.error_code == ErrorCode.STALE_CONTROLLER_EPOCH
