"""The lines for batches and records in the words of Kafka 2.0: either the one or the other."""

from __future__ import annotations

from collections.abc import Iterator

from ottla.logtools.batch_lines import (
    TIMESTAMP_NAMES,
    add_contents,
    add_end_of_transaction,
    add_header_keys,
    add_sizes,
    control_number,
    records_with_checksums,
)
from ottla.logtools.decoders import Decoder, ToolStops
from ottla.logtools.line import Line
from ottla.logtools.scan import StoredBatch
from ottla.protocol.records.batch import BatchHeader
from ottla.protocol.records.control import ControlType, read_control_type
from ottla.protocol.records.record import Record
from ottla.protocol.records.record_set import Batch


def old_batch_line(stored: StoredBatch) -> Line:
    line = Line("batch")
    batch = stored.batch
    if batch is None:
        line.add("offset", stored.last_offset).add("position", stored.position)
        line.add("isvalid", False).add("size", stored.size_bytes)
        return line.add("magic", stored.magic)
    if batch.header is None:
        line.add("offset", batch.last_offset)
    else:
        _add_header(line, batch.header)
    line.add("position", stored.position)
    line.add(TIMESTAMP_NAMES[batch.timestamp_type], batch.max_timestamp)
    line.add("isvalid", stored.fault is None)
    line.add("size", stored.size_bytes).add("magic", batch.magic)
    return line.add("compresscodec", batch.codec.name).add("crc", batch.content.crc)


def _add_header(line: Line, header: BatchHeader) -> None:
    line.add("baseOffset", header.base_offset).add("lastOffset", header.last_offset)
    line.add("baseSequence", header.base_sequence).add("lastSequence", header.last_sequence)
    line.add("producerId", header.producer_id).add("producerEpoch", header.producer_epoch)
    line.add("partitionLeaderEpoch", header.partition_leader_epoch)
    line.add("isTransactional", header.is_transactional)


def old_record_lines(stored: StoredBatch, batch: Batch, decoder: Decoder | None) -> Iterator[Line]:
    name = TIMESTAMP_NAMES[batch.timestamp_type]
    for record, crc in records_with_checksums(batch):
        line = Line("record").add("offset", record.offset).add("position", stored.position)
        line.add(name, record.timestamp).add("isvalid", stored.fault is None)
        add_sizes(line, record, names=("keysize", "valuesize"))
        line.add("magic", batch.magic).add("compresscodec", batch.codec.name)
        if batch.header is None:
            line.add("crc", crc)
        else:
            _add_producer(line, batch.header, record)
        if batch.is_control:
            _add_control(line, record)
        elif decoder is not None:
            try:
                add_contents(line, record, decoder)
            except ToolStops:
                yield line
                raise
        yield line


def _add_producer(line: Line, header: BatchHeader, record: Record) -> None:
    line.add("producerId", header.producer_id).add("producerEpoch", header.producer_epoch)
    line.add("sequence", header.sequence_of(record.offset))
    line.add("isTransactional", header.is_transactional)
    add_header_keys(line, record)


def _add_control(line: Line, record: Record) -> None:
    kind = read_control_type(record.key)
    if kind in (ControlType.ABORT, ControlType.COMMIT):
        add_end_of_transaction(line, kind, record)
    else:
        line.add("controlType", "UNKNOWN", text=f"UNKNOWN({control_number(record)})")
