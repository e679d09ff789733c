"""LeaderAndIsr: the controller makes this broker leader or follower of partitions."""

from __future__ import annotations

from ottla.controller.topic_names import check_name
from ottla.handlers.call import Call
from ottla.handlers.controller_request import check_controller
from ottla.handlers.services import Services
from ottla.handlers.slices import Slices
from ottla.protocol.apis.leader_and_isr import (
    LeaderAndIsrPartitionError,
    LeaderAndIsrRequest,
    LeaderAndIsrResponse,
    LeaderAndIsrTopicError,
)
from ottla.protocol.errors import ErrorCode, KafkaError
from ottla.protocol.primitives import ZERO_UUID
from ottla.replication.leadership import PartitionState

_BY_TOPIC_ID_FROM = 5


async def handle_leader_and_isr(request: LeaderAndIsrRequest, call: Call) -> LeaderAndIsrResponse:
    async with call.services.leadership.turn:
        return await _lead_and_follow(request, call)


async def _lead_and_follow(request: LeaderAndIsrRequest, call: Call) -> LeaderAndIsrResponse:
    services, leadership = call.services, call.services.leadership
    check_controller(services, request.controller_epoch, request.broker_epoch)
    states = _states(request)
    for name in dict.fromkeys(each.topic for each in states):
        check_name(name)  # it becomes a folder's: whoever sends this may not choose where
    held = services.replicas.partitions
    await services.learn_topics(
        list(
            dict.fromkeys(
                each.topic for each in states if (each.topic, each.partition_index) not in held
            )
        )
    )
    await leadership.open_logs(states, now_ms=services.clock.now_ms())
    errors: list[tuple[PartitionState, ErrorCode]] = []
    slices = Slices(services.timer)
    for state in states:
        error = leadership.become(state)
        errors.append((state, error))
        if error is ErrorCode.NONE:
            _tell_coordinators(services, state)
        await slices.breathe()
    return _response(errors, call.version)


def _tell_coordinators(services: Services, state: PartitionState) -> None:
    partition = (state.topic, state.partition_index, state.leader_epoch)
    if state.leader == services.broker_id:
        services.leads(*partition)
    else:
        services.leads_no_more(*partition)


def _states(request: LeaderAndIsrRequest) -> list[PartitionState]:
    """By topic since version 2, all in one list before."""
    named = [(each.topic_name, ZERO_UUID, each) for each in request.ungrouped_partition_states]
    for topic in request.topic_states:
        named += [(topic.topic_name, topic.topic_id, each) for each in topic.partition_states]
    return [
        PartitionState(
            topic=name,
            topic_id=topic_id,
            partition_index=state.partition_index,
            controller_epoch=state.controller_epoch,
            leader=state.leader,
            leader_epoch=state.leader_epoch,
            isr=tuple(state.isr),
            replicas=tuple(state.replicas),
            partition_epoch=state.partition_epoch,
            is_new=state.is_new,
        )
        for name, topic_id, state in named
    ]


def _response(errors: list[tuple[PartitionState, ErrorCode]], version: int) -> LeaderAndIsrResponse:
    by_id = version >= _BY_TOPIC_ID_FROM
    flat: list[LeaderAndIsrPartitionError] = []
    grouped: dict[bytes, list[LeaderAndIsrPartitionError]] = {}
    for state, error in errors:
        each = LeaderAndIsrPartitionError(
            topic_name="" if by_id else state.topic,
            partition_index=state.partition_index,
            error_code=error,
        )
        (grouped.setdefault(state.topic_id, []) if by_id else flat).append(each)
    topics = [
        LeaderAndIsrTopicError(topic_id=topic_id, partition_errors=partitions)
        for topic_id, partitions in grouped.items()
    ]
    return LeaderAndIsrResponse(partition_errors=flat, topics=topics)


def refuse(request: LeaderAndIsrRequest, error: KafkaError) -> LeaderAndIsrResponse:
    return LeaderAndIsrResponse(error_code=error.code)
