"""The lines for the batches of a `.log` file and for their records, in the words of Kafka 3.9."""

from __future__ import annotations

from collections.abc import Iterator

from ottla.logtools.decoders import Decoder, compact
from ottla.logtools.line import Line, java_list, optional_long
from ottla.logtools.scan import LARGEST_BATCH_BYTES, StoredBatch
from ottla.protocol.codec import decode
from ottla.protocol.errors import ProtocolError
from ottla.protocol.internal import control_records
from ottla.protocol.readable import to_json
from ottla.protocol.records.batch import BatchHeader
from ottla.protocol.records.compression import Codec, decompress
from ottla.protocol.records.control import ControlType, read_control_type, read_coordinator_epoch
from ottla.protocol.records.layout import TimestampType
from ottla.protocol.records.message_set import Message, read_message
from ottla.protocol.records.record import Record
from ottla.protocol.records.record_set import Batch
from ottla.protocol.schema import Message as Declared

TIMESTAMP_NAMES = {
    TimestampType.NONE: "NoTimestampType",
    TimestampType.CREATE_TIME: "CreateTime",
    TimestampType.LOG_APPEND_TIME: "LogAppendTime",
}
_KRAFT_RECORDS: dict[ControlType, tuple[str, type[Declared]]] = {
    ControlType.SNAPSHOT_HEADER: ("SnapshotHeader", control_records.SnapshotHeaderRecord),
    ControlType.SNAPSHOT_FOOTER: ("SnapshotFooter", control_records.SnapshotFooterRecord),
    ControlType.KRAFT_VERSION: ("KRaftVersion", control_records.KRaftVersionRecord),
    ControlType.KRAFT_VOTERS: ("KRaftVoters", control_records.VotersRecord),
}


def batch_line(stored: StoredBatch) -> Line:
    line = Line("batch")
    batch = stored.batch
    if batch is None:
        return _unreadable(line, stored)
    header = batch.header
    if header is None:
        line.add("offset", batch.last_offset)
    else:
        _add_header(line, header)
        horizon = header.delete_horizon_ms
        line.add("isControl", header.is_control)
        line.add("deleteHorizonMs", horizon, text=optional_long(horizon))
    line.add("position", stored.position)
    line.add(TIMESTAMP_NAMES[batch.timestamp_type], batch.max_timestamp)
    line.add("size", stored.size_bytes).add("magic", batch.magic)
    line.add("compresscodec", batch.codec.name.lower()).add("crc", batch.content.crc)
    return line.add("isvalid", stored.fault is None)


def _unreadable(line: Line, stored: StoredBatch) -> Line:
    """Neither format's fields can be believed; the rest is what every batch has."""
    line.add("offset", stored.last_offset).add("position", stored.position)
    return line.add("size", stored.size_bytes).add("magic", stored.magic).add("isvalid", False)


def _add_header(line: Line, header: BatchHeader) -> None:
    line.add("baseOffset", header.base_offset).add("lastOffset", header.last_offset)
    line.add("count", header.record_count)
    line.add("baseSequence", header.base_sequence).add("lastSequence", header.last_sequence)
    line.add("producerId", header.producer_id).add("producerEpoch", header.producer_epoch)
    line.add("partitionLeaderEpoch", header.partition_leader_epoch)
    line.add("isTransactional", header.is_transactional)


def record_lines(batch: Batch, decoder: Decoder | None) -> Iterator[Line]:
    """A line for each record; with its key and value if there is a decoder to show them."""
    name = TIMESTAMP_NAMES[batch.timestamp_type]
    for record, crc in records_with_checksums(batch):
        line = Line("record", "|").add("offset", record.offset).add(name, record.timestamp)
        add_sizes(line, record, names=("keySize", "valueSize"))
        if batch.header is None:
            # The brace is Kafka's.
            line.add("isValid", True).add("crc", crc, text=f"{crc}}}")
        else:
            line.add("sequence", batch.header.sequence_of(record.offset))
            add_header_keys(line, record)
        if batch.is_control:
            _add_control(line, record)
        elif decoder is not None:
            add_contents(line, record, decoder)
        yield line


def records_with_checksums(batch: Batch) -> Iterator[tuple[Record, int | None]]:
    """Old records have a checksum each, also those within a compressed message."""
    records = batch.records()
    content = batch.content
    if isinstance(content, BatchHeader):
        yield from ((record, None) for record in records)
    elif content.codec is Codec.NONE:
        yield records[0], content.crc
    else:
        yield from zip(records, (inner.crc for inner in _inner(content)), strict=True)


def _inner(wrapper: Message) -> Iterator[Message]:
    plain = decompress(
        wrapper.codec, wrapper.value or b"", limit=LARGEST_BATCH_BYTES, magic=wrapper.magic
    )
    pos = 0
    while pos < len(plain):
        message = read_message(memoryview(plain)[pos:])
        yield message
        pos += message.size_bytes


def add_sizes(line: Line, record: Record, *, names: tuple[str, str]) -> None:
    for name, content in zip(names, (record.key, record.value), strict=True):
        line.add(name, -1 if content is None else len(content))


def add_header_keys(line: Line, record: Record) -> None:
    # Bytes that are no UTF-8 are kept as surrogates, which cannot be printed.
    keys = [key.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
            for key, _ in record.headers]  # fmt: skip
    line.add("headerKeys", keys, text=java_list(keys))


def add_contents(line: Line, record: Record, decoder: Decoder) -> None:
    key, payload = decoder(record)
    if key is not None:
        line.add("key", key.value, text=key.text)
    if payload is not None:
        line.add("payload", payload.value, text=payload.text)


def add_end_of_transaction(line: Line, kind: ControlType, record: Record) -> None:
    line.add("endTxnMarker", kind.name)
    line.add("coordinatorEpoch", read_coordinator_epoch(record.value))


def _add_control(line: Line, record: Record) -> None:
    kind = read_control_type(record.key)
    if kind in (ControlType.ABORT, ControlType.COMMIT):
        add_end_of_transaction(line, kind, record)
    elif kind in _KRAFT_RECORDS:
        name, declared = _KRAFT_RECORDS[kind]
        value = record.value or b""
        try:
            version = int.from_bytes(value[:2], "big", signed=True)
            found = to_json(decode(declared, value, version), version)
        except ProtocolError:
            found = to_json(decode(declared, value, 0), 0)
        line.text += f" {name} {compact(found)}"
        line.values[name] = found
    else:
        line.add("controlType", kind.name, text=f"{kind.name}({control_number(record)})")


def control_number(record: Record) -> int:
    """The number that the key holds, whether or not it has a name."""
    return int.from_bytes((record.key or b"")[2:4], "big", signed=True)
