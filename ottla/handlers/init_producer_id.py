"""InitProducerId: an id for a producer whose retries are told from new records.

One that names a transactional id gets the id of that, and whoever had it before is fenced.
"""

from __future__ import annotations

from collections.abc import Coroutine
from functools import partial
from typing import Any

from ottla.coordinators.transactions.requests import InitAnswer, ProducerIdentity
from ottla.handlers.call import Call
from ottla.handlers.fencing import fenced_error
from ottla.protocol.apis.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from ottla.protocol.errors import ErrorCode, KafkaError

_NOBODY = -1
_FENCED_FROM = 4


def handle_init_producer_id(
    request: InitProducerIdRequest, call: Call
) -> Coroutine[Any, Any, InitProducerIdResponse] | None:
    if (request.producer_id == _NOBODY) != (request.producer_epoch == _NOBODY):
        detail = f"producer {request.producer_id} in epoch {request.producer_epoch}: give both"
        raise KafkaError(ErrorCode.INVALID_REQUEST, detail)
    if request.transactional_id is None:
        return _new_id(call)
    is_known = request.producer_id != _NOBODY
    call.services.transactions.init_producer_id(
        request.transactional_id,
        timeout_ms=request.transaction_timeout_ms,
        expected=ProducerIdentity(request.producer_id, request.producer_epoch)
        if is_known
        else None,
        to=partial(_reply, call),
    )
    return None


async def _new_id(call: Call) -> InitProducerIdResponse:
    producer_id = await call.services.new_producer_id()
    return InitProducerIdResponse(producer_id=producer_id, producer_epoch=0)


def _reply(call: Call, answer: InitAnswer) -> None:
    call.reply(
        InitProducerIdResponse(
            error_code=fenced_error(answer.error, version=call.version, known_from=_FENCED_FROM),
            producer_id=answer.producer_id,
            producer_epoch=answer.producer_epoch,
        )
    )


def refuse(request: InitProducerIdRequest, error: KafkaError) -> InitProducerIdResponse:
    return InitProducerIdResponse(error_code=error.code, producer_id=-1, producer_epoch=-1)
