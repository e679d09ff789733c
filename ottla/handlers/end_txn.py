"""EndTxn: a producer commits or aborts; answered when that is decided for good (KIP-98)."""

from __future__ import annotations

from ottla.handlers.call import Call
from ottla.handlers.fencing import fenced_error
from ottla.protocol.apis.end_txn import EndTxnRequest, EndTxnResponse
from ottla.protocol.errors import ErrorCode, KafkaError

_FENCED_FROM = 2


def handle_end_txn(request: EndTxnRequest, call: Call) -> None:
    def reply(error: ErrorCode) -> None:
        told = fenced_error(error, version=call.version, known_from=_FENCED_FROM)
        call.reply(EndTxnResponse(error_code=told))

    call.services.transactions.end(
        request.transactional_id,
        producer_id=request.producer_id,
        producer_epoch=request.producer_epoch,
        is_commit=request.committed,
        to=reply,
    )


def refuse(request: EndTxnRequest, error: KafkaError) -> EndTxnResponse:
    return EndTxnResponse(error_code=error.code)
