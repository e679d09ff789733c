"""InitProducerId: an id for a producer that wants its retries told from new records."""

from __future__ import annotations

from ottla.config.transaction_options import TRANSACTION_MAX_TIMEOUT_MS
from ottla.handlers.call import Call
from ottla.protocol.apis.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from ottla.protocol.errors import ErrorCode, KafkaError


async def handle_init_producer_id(
    request: InitProducerIdRequest, call: Call
) -> InitProducerIdResponse:
    if (request.producer_id == -1) != (request.producer_epoch == -1):
        detail = f"producer {request.producer_id} in epoch {request.producer_epoch}: give both"
        raise KafkaError(ErrorCode.INVALID_REQUEST, detail)
    if request.transactional_id is not None:
        _check_transactional(request, call)
        detail = "this broker coordinates no transactions"
        raise KafkaError(ErrorCode.COORDINATOR_NOT_AVAILABLE, detail)
    producer_id = await call.services.new_producer_id()
    return InitProducerIdResponse(producer_id=producer_id, producer_epoch=0)


def _check_transactional(request: InitProducerIdRequest, call: Call) -> None:
    if not request.transactional_id:
        raise KafkaError(ErrorCode.INVALID_REQUEST, "an empty transactional id")
    timeout_ms = request.transaction_timeout_ms
    most = call.services.overrides.broker[TRANSACTION_MAX_TIMEOUT_MS]
    if not 0 < timeout_ms <= most:
        detail = f"a timeout of {timeout_ms} ms; {TRANSACTION_MAX_TIMEOUT_MS.name} is {most}"
        raise KafkaError(ErrorCode.INVALID_TRANSACTION_TIMEOUT, detail)


def refuse(request: InitProducerIdRequest, error: KafkaError) -> InitProducerIdResponse:
    return InitProducerIdResponse(error_code=error.code, producer_id=-1, producer_epoch=-1)
