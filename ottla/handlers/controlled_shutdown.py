"""ControlledShutdown: a broker that is about to stop asks the controller to move its leaders."""

from __future__ import annotations

from ottla.handlers.call import Call
from ottla.protocol.apis.controlled_shutdown import (
    ControlledShutdownRequest,
    ControlledShutdownResponse,
    RemainingPartition,
)
from ottla.protocol.errors import ErrorCode, KafkaError


async def handle_controlled_shutdown(
    request: ControlledShutdownRequest, call: Call
) -> ControlledShutdownResponse:
    remaining = await call.services.controller.controlled_shutdown(
        request.broker_id, broker_epoch=request.broker_epoch
    )
    return ControlledShutdownResponse(
        remaining_partitions=[
            RemainingPartition(topic_name=at.topic, partition_index=at.partition)
            for at in remaining
        ]
    )


def refuse(request: ControlledShutdownRequest, error: KafkaError) -> ControlledShutdownResponse:
    code = error.code
    if code is ErrorCode.NOT_CONTROLLER:
        code = ErrorCode.STALE_CONTROLLER_EPOCH  # the word of Kafka's brokers for it
    return ControlledShutdownResponse(error_code=code, remaining_partitions=[])
