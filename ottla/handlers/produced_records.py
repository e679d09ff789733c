"""What the version of a produce request lets it carry; a topic's own rules come with the append."""

from __future__ import annotations

from ottla.handlers.call import Call
from ottla.handlers.transactional_produce import ATTRIBUTES_AT
from ottla.protocol.errors import ErrorCode, KafkaError
from ottla.protocol.records.batch import TRANSACTIONAL_BIT
from ottla.protocol.records.compression import Codec
from ottla.protocol.records.layout import CODEC_MASK, LOG_OVERHEAD, MAGIC_AT

_ONE_BATCH_FROM = 3
_ZSTD_FROM = 7


def check_records(call: Call, view: memoryview | None) -> memoryview | None:
    """None if there is nothing to append, which only old versions may send."""
    if view is None:
        raise KafkaError(ErrorCode.INVALID_REQUEST, "null records")
    size_bytes = _first_batch_bytes(view)
    if call.version < _ONE_BATCH_FROM:
        return view if size_bytes else None
    if not size_bytes:
        detail = f"{len(view)} bytes that hold no whole batch"
        raise KafkaError(ErrorCode.INVALID_RECORD, detail)
    if view[MAGIC_AT] < 2:
        detail = f"version {call.version} carries batches of magic 2, not {view[MAGIC_AT]}"
        raise KafkaError(ErrorCode.INVALID_RECORD, detail)
    if _first_batch_bytes(view[size_bytes:]):
        detail = f"version {call.version} carries one batch for each partition, not more"
        raise KafkaError(ErrorCode.INVALID_RECORD, detail)
    if call.version < _ZSTD_FROM and view[ATTRIBUTES_AT] & CODEC_MASK == Codec.ZSTD:
        detail = f"version {call.version} may not carry zstd"
        raise KafkaError(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, detail)
    return view


def is_transactional(view: memoryview) -> bool:
    is_whole = _first_batch_bytes(view) > 0
    return is_whole and view[MAGIC_AT] == 2 and bool(view[ATTRIBUTES_AT] & TRANSACTIONAL_BIT)


def _first_batch_bytes(view: memoryview) -> int:
    """0 if what is there is not whole."""
    if len(view) <= ATTRIBUTES_AT:
        return 0
    size_bytes = int.from_bytes(view[8:12], "big") + LOG_OVERHEAD
    return size_bytes if size_bytes <= len(view) else 0
