"""AllocateProducerIds: the controller gives another broker a block of producer ids (KIP-730)."""

from __future__ import annotations

from ottla.controller.producer_ids import allocate_block
from ottla.handlers.call import Call
from ottla.protocol.apis.allocate_producer_ids import (
    AllocateProducerIdsRequest,
    AllocateProducerIdsResponse,
)
from ottla.protocol.errors import ErrorCode, KafkaError


async def handle_allocate_producer_ids(
    request: AllocateProducerIdsRequest, call: Call
) -> AllocateProducerIdsResponse:
    controller, broker = call.services.controller, request.broker_id
    known = controller.context.brokers.get(broker)
    if known is None:
        raise KafkaError(ErrorCode.BROKER_ID_NOT_REGISTERED, f"there is no broker {broker}")
    if request.broker_epoch != known.epoch:
        detail = f"broker {broker} has epoch {known.epoch}, not {request.broker_epoch}"
        raise KafkaError(ErrorCode.STALE_BROKER_EPOCH, detail)
    block = await allocate_block(controller.fence.store, broker_id=broker)
    return AllocateProducerIdsResponse(producer_id_start=block.start, producer_id_len=len(block))


def refuse(request: AllocateProducerIdsRequest, error: KafkaError) -> AllocateProducerIdsResponse:
    return AllocateProducerIdsResponse(
        error_code=error.code, producer_id_start=0, producer_id_len=0
    )
