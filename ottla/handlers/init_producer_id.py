"""InitProducerId: an id for a producer that wants its retries told from new records."""

from __future__ import annotations

from ottla.handlers.call import Call
from ottla.protocol.apis.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from ottla.protocol.errors import ErrorCode, KafkaError


async def handle_init_producer_id(
    request: InitProducerIdRequest, call: Call
) -> InitProducerIdResponse:
    if request.transactional_id is not None:
        detail = "this broker coordinates no transactions"
        raise KafkaError(ErrorCode.COORDINATOR_NOT_AVAILABLE, detail)
    producer_id = await call.services.new_producer_id()
    return InitProducerIdResponse(producer_id=producer_id, producer_epoch=0)


def refuse(request: InitProducerIdRequest, error: KafkaError) -> InitProducerIdResponse:
    return InitProducerIdResponse(error_code=error.code, producer_id=-1, producer_epoch=-1)
