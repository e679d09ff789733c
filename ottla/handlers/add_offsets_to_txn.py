"""AddOffsetsToTxn: a group's offsets join a transaction, as a partition of their log."""

from __future__ import annotations

from ottla.handlers.call import Call
from ottla.handlers.fencing import fenced_error
from ottla.protocol.apis.add_offsets_to_txn import AddOffsetsToTxnRequest, AddOffsetsToTxnResponse
from ottla.protocol.errors import ErrorCode, KafkaError
from ottla.protocol.internal.topics import GROUP_METADATA_TOPIC

_FENCED_FROM = 2


def handle_add_offsets_to_txn(request: AddOffsetsToTxnRequest, call: Call) -> None:
    def reply(error: ErrorCode) -> None:
        told = fenced_error(error, version=call.version, known_from=_FENCED_FROM)
        call.reply(AddOffsetsToTxnResponse(error_code=told))

    partition = call.services.groups.partition_for(request.group_id)
    call.services.transactions.add_partitions(
        request.transactional_id,
        producer_id=request.producer_id,
        producer_epoch=request.producer_epoch,
        partitions=[(GROUP_METADATA_TOPIC, partition)],
        to=reply,
    )


def refuse(request: AddOffsetsToTxnRequest, error: KafkaError) -> AddOffsetsToTxnResponse:
    return AddOffsetsToTxnResponse(error_code=error.code)
