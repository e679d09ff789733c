"""StopReplica: the controller makes this broker let go of partitions, and perhaps delete them."""

from __future__ import annotations

from ottla.handlers.call import Call
from ottla.handlers.controller_request import check_controller
from ottla.handlers.slices import Slices
from ottla.protocol.apis.stop_replica import (
    StopReplicaPartitionError,
    StopReplicaRequest,
    StopReplicaResponse,
)
from ottla.protocol.errors import ErrorCode, KafkaError
from ottla.replication.leadership import NO_EPOCH


async def handle_stop_replica(request: StopReplicaRequest, call: Call) -> StopReplicaResponse:
    async with call.services.leadership.turn:
        return await _stop(request, call)


async def _stop(request: StopReplicaRequest, call: Call) -> StopReplicaResponse:
    services = call.services
    check_controller(services, request.controller_epoch, request.broker_epoch)
    errors = []
    slices = Slices(services.timer)
    for topic, index, epoch, deletes in _partitions(request):
        code = services.leadership.stop(topic, index, leader_epoch=epoch, deletes=deletes)
        if code is not ErrorCode.FENCED_LEADER_EPOCH:
            # It is let go, whatever became of its files. And without the epoch, which was judged
            # already: one that is not newer would leave a coordinator in office.
            services.leads_no_more(topic, index, None)
        errors.append(
            StopReplicaPartitionError(topic_name=topic, partition_index=index, error_code=code)
        )
        await slices.breathe()
    # The controller forgets a topic when it hears that its folders are gone: so they must be.
    if not await services.leadership.make_stops_last():
        raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, "a log directory failed")
    return StopReplicaResponse(partition_errors=errors)


def _partitions(request: StopReplicaRequest) -> list[tuple[str, int, int, bool]]:
    """Topic, partition, leader epoch, whether to delete: three forms, by version."""
    deletes = request.delete_partitions
    found = [
        (each.topic_name, each.partition_index, NO_EPOCH, deletes)
        for each in request.ungrouped_partitions
    ]
    found += [
        (topic.name, index, NO_EPOCH, deletes)
        for topic in request.topics
        for index in topic.partition_indexes
    ]
    found += [
        (topic.topic_name, each.partition_index, each.leader_epoch, each.delete_partition)
        for topic in request.topic_states
        for each in topic.partition_states
    ]
    return found


def refuse(request: StopReplicaRequest, error: KafkaError) -> StopReplicaResponse:
    return StopReplicaResponse(error_code=error.code, partition_errors=[])
