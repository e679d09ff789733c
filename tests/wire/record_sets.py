"""Judges one vector of record sets: decode, compare, rebuild, compare again."""

from __future__ import annotations

import base64
from typing import Any

from ottla.protocol.errors import ErrorCode, KafkaError
from ottla.protocol.records.batch import build_batch, read_records
from ottla.protocol.records.control import read_control_type
from ottla.protocol.records.convert import down_convert, down_convert_for_fetch
from ottla.protocol.records.layout import TimestampType
from ottla.protocol.records.message_set import build_message_set
from ottla.protocol.records.record import Record
from ottla.protocol.records.record_set import Batch, read_batches

ERRORS = {
    "CorruptRecordException": ErrorCode.CORRUPT_MESSAGE,
    "InvalidRecordException": ErrorCode.INVALID_RECORD,
    "UnsupportedCompressionTypeException": ErrorCode.UNSUPPORTED_COMPRESSION_TYPE,
}
TIMESTAMP_TYPES = {
    TimestampType.NONE: "NoTimestampType",
    TimestampType.CREATE_TIME: "CreateTime",
    TimestampType.LOG_APPEND_TIME: "LogAppendTime",
}
# What another compressor may do differently without being wrong.
BYTES_ONLY = ("position", "sizeInBytes", "crc")


def describe(data: bytes) -> list[dict[str, Any]]:
    """Every batch of a record set in the words of the vectors."""
    return [_describe_batch(batch) for batch in read_batches(data)]


def _describe_batch(batch: Batch) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "position": batch.position,
        "baseOffset": batch.base_offset,
        "lastOffset": batch.last_offset,
        "nextOffset": batch.next_offset,
        "magic": batch.magic,
        "sizeInBytes": batch.size_bytes,
        "compression": batch.codec.name.lower(),
        "timestampType": TIMESTAMP_TYPES[batch.timestamp_type],
        "maxTimestamp": batch.max_timestamp,
        "crc": batch.header.crc if batch.header else None,
    }
    if header := batch.header:
        facts |= {
            "partitionLeaderEpoch": header.partition_leader_epoch,
            "producerId": header.producer_id,
            "producerEpoch": header.producer_epoch,
            "baseSequence": header.base_sequence,
            "lastSequence": header.last_sequence,
            "isTransactional": header.is_transactional,
            "isControlBatch": header.is_control,
            "count": header.record_count,
        }
        if header.delete_horizon_ms is not None:
            facts["deleteHorizonMs"] = header.delete_horizon_ms
    facts["records"] = [_describe_record(batch, record) for record in batch.records()]
    return facts


def _describe_record(batch: Batch, record: Record) -> dict[str, Any]:
    facts = {
        "offset": record.offset,
        "timestamp": record.timestamp,
        "sequence": batch.header.sequence_of(record.offset) if batch.header else -1,
        "key": _base64(record.key),
        "value": _base64(record.value),
        "headers": [[name, _base64(value)] for name, value in record.headers],
    }
    if batch.is_control:
        facts["controlType"] = read_control_type(record.key).name
    return facts


def _base64(content: bytes | None) -> str | None:
    return None if content is None else base64.b64encode(content).decode()


def rebuild(data: bytes) -> bytes:
    """The record set made anew from what was read of it."""
    return b"".join(_rebuild_batch(batch) for batch in read_batches(data))


def _rebuild_batch(batch: Batch) -> bytes:
    header = batch.header
    if header is None:
        return build_message_set(
            batch.records(),
            magic=batch.magic,
            codec=batch.codec,
            log_append_time=batch.log_append_time,
        )
    records = read_records(batch.view, stored_timestamps=True)
    return build_batch(
        records,
        codec=header.codec,
        base_offset=header.base_offset,
        last_offset_delta=header.last_offset_delta,
        leader_epoch=header.partition_leader_epoch,
        log_append_time=batch.log_append_time,
        # Nothing in an emptied batch tells it; elsewhere it must come out of the records.
        max_timestamp=None if records else header.max_timestamp,
        delete_horizon_ms=header.delete_horizon_ms,
        producer_id=header.producer_id,
        producer_epoch=header.producer_epoch,
        base_sequence=header.base_sequence,
        is_transactional=header.is_transactional,
        is_control=header.is_control,
    )


def check_batches(case: dict[str, Any], data: bytes | None = None) -> str | None:
    """None if the case passes, otherwise what differs."""
    if data is None:
        data = bytes.fromhex(case["hex"])
    if "error" in case:
        return _check_refused(case["error"], lambda: describe(data))
    found = describe(data)
    if difference := _difference("batches", case["batches"], found):
        return difference
    valid_bytes = found[-1]["position"] + found[-1]["sizeInBytes"] if found else 0
    if valid_bytes != case.get("valid_bytes", case["size"]) or len(data) != case["size"]:
        return f"{valid_bytes} of {len(data)} bytes are whole batches"
    again = rebuild(data)
    if case.get("encode_exact", all(b["compression"] == "none" for b in case["batches"])):
        return _difference_of_bytes("rebuilt", data[:valid_bytes], again)
    return _difference("rebuilt", _values(case["batches"]), _values(describe(again)))


def check_downconvert(case: dict[str, Any]) -> str | None:
    """None if the case passes, otherwise what differs."""
    data = bytes.fromhex(case["in_hex"])
    to_magic, first_offset = case["to_magic"], case["first_offset"]
    if difference := _difference("in", case["in"], describe(data)):
        return difference
    if "error" in case:
        for convert in (down_convert, down_convert_for_fetch):
            difference = _check_refused(
                case["error"],
                lambda convert=convert: convert(data, to_magic=to_magic, first_offset=first_offset),
            )
            if difference:
                return difference
        return None
    out = down_convert(data, to_magic=to_magic, first_offset=first_offset)
    sent = down_convert_for_fetch(data, to_magic=to_magic, first_offset=first_offset)
    expected_sent = bytes.fromhex(case["lazy_sent_hex"])
    if case["encode_exact"]:
        return _difference_of_bytes("out", bytes.fromhex(case["out_hex"]), out) or (
            _difference_of_bytes("sent", expected_sent, sent)
        )
    return _difference("out", _values(case["out"]), _values(describe(out))) or (
        _difference_of_sent(describe(expected_sent), describe(sent))
    )


def _difference_of_sent(expected: list[dict[str, Any]], found: list[dict[str, Any]]) -> str | None:
    # Another compressor needs other sizes, so the last batch may just fit or just be cut off.
    whole = min(len(expected), len(found))
    if max(len(expected), len(found)) > whole + 1:
        return f"sent are {len(found)} batches, expected {len(expected)}"
    return _difference("sent", _values(expected[:whole]), _values(found[:whole]))


def _check_refused(error: str, attempt: Any) -> str | None:
    try:
        attempt()
    except KafkaError as refusal:
        if refusal.code is ERRORS[error]:
            return None
        return f"refused with {refusal.code.name} instead of {error}"
    return f"not refused, but should be with {error}"


def _values(batches: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: b[name] for name in b if name not in BYTES_ONLY} for b in batches]


def _difference(path: str, expected: Any, found: Any) -> str | None:
    if isinstance(expected, dict) and isinstance(found, dict) and set(expected) == set(found):
        pairs = [(f"{path}.{name}", expected[name], found[name]) for name in expected]
    elif isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        pairs = [(f"{path}[{i}]", expected[i], found[i]) for i in range(len(expected))]
    else:
        return None if expected == found else f"{path} is {found!r}, expected {expected!r}"
    differences = (_difference(*pair) for pair in pairs)
    return next((difference for difference in differences if difference), None)


def _difference_of_bytes(path: str, expected: bytes, found: bytes) -> str | None:
    return None if expected == found else f"{path} is {found.hex()}, expected {expected.hex()}"
