"""The v2 record batch: its header, its checksum, and its records.

Checking and patching are the broker's hottest path and never touch the records; everything else
works on whole batches too, but may take its time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from struct import Struct
from typing import NamedTuple

from ottla.protocol.checksum import crc32c
from ottla.protocol.records.compression import Codec, compress, decompress
from ottla.protocol.records.layout import (
    CODEC_MASK,
    LOG_APPEND_TIME_BIT,
    LOG_OVERHEAD,
    MAGIC_AT,
    NO_TIMESTAMP,
    TimestampType,
)
from ottla.protocol.records.record import Record, iterate_records, write_records
from ottla.protocol.records.refusals import corrupt, invalid
from ottla.protocol.varint import Buffer

BATCH_OVERHEAD = 61
MAX_UNCOMPRESSED_BYTES = 256 * 1024 * 1024

_READING = "record batch v2"
_new_tuple = tuple.__new__
_HEADER = Struct(">qiibIhiqqqhii")
_UNCHECKED_HEADER = Struct(">qiibI")
_CHECKED_HEADER = Struct(">hiqqqhii")  # what follows the checksum, and is covered by it
_OFFSET = Struct(">q")
_OFFSET_LENGTH_EPOCH = Struct(">qii")
_CRC = Struct(">I")
_ATTRIBUTES = Struct(">h")
_CRC_AT = 17
_ATTRIBUTES_AT = CHECKED_FROM = 21
_MAX_TIMESTAMP_AT = 35

TRANSACTIONAL_BIT = 0x10
CONTROL_BIT = 0x20
DELETE_HORIZON_BIT = 0x40


class BatchHeader(NamedTuple):
    """The 61 bytes before the records, in their order on the wire."""

    base_offset: int
    batch_length: int
    partition_leader_epoch: int
    magic: int
    crc: int
    attributes: int
    last_offset_delta: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    record_count: int

    @property
    def size_bytes(self) -> int:
        return LOG_OVERHEAD + self.batch_length

    @property
    def last_offset(self) -> int:
        return self.base_offset + self.last_offset_delta

    @property
    def next_offset(self) -> int:
        return self.base_offset + self.last_offset_delta + 1

    @property
    def last_sequence(self) -> int:
        return self.sequence_of(self.last_offset)

    def sequence_of(self, offset: int) -> int:
        """The sequence number of the record at `offset`; -1 if the producer is not idempotent."""
        if self.base_sequence < 0:
            return -1
        return increment_sequence(self.base_sequence, offset - self.base_offset)

    @property
    def codec(self) -> Codec:
        return Codec(self.attributes & CODEC_MASK)

    @property
    def timestamp_type(self) -> TimestampType:
        return TimestampType(self.attributes >> 3 & 1)

    @property
    def is_transactional(self) -> bool:
        return bool(self.attributes & TRANSACTIONAL_BIT)

    @property
    def is_control(self) -> bool:
        return bool(self.attributes & CONTROL_BIT)

    @property
    def is_idempotent(self) -> bool:
        return self.producer_id >= 0

    @property
    def delete_horizon_ms(self) -> int | None:
        """From when on compaction may drop the batch's tombstones (KIP-534)."""
        return self.base_timestamp if self.attributes & DELETE_HORIZON_BIT else None


def increment_sequence(sequence: int, count: int) -> int:
    """Sequence numbers are non-negative 32-bit integers: after 2147483647 comes 0."""
    return (sequence + count) & 0x7FFF_FFFF


def read_header(view: Buffer) -> BatchHeader:
    """The header of the whole batch that `view` starts with; its checksum is not looked at."""
    if len(view) < BATCH_OVERHEAD:
        raise corrupt(
            f"{len(view)} bytes are fewer than a header",
            reading=_READING,
            path="batch_length",
            offset=8,
        )
    # Fields by number and no method call: on a small batch each would cost as much as the CRC.
    header = _new_tuple(BatchHeader, _HEADER.unpack_from(view))
    if header[3] != 2:
        raise corrupt(f"magic {header.magic}", reading=_READING, path="magic", offset=MAGIC_AT)
    if not 49 <= header[1] <= len(view) - 12:
        cause = f"length {header.batch_length} in a buffer of {len(view)} bytes"
        raise corrupt(cause, reading=_READING, path="batch_length", offset=8)
    if header[5] & 7 > 4:
        raise corrupt(
            "an unknown codec", reading=_READING, path="attributes", offset=_ATTRIBUTES_AT
        )
    return header


def validate_batch(view: memoryview | bytes) -> BatchHeader:
    """Check length, magic and checksum of the batch that `view` starts with."""
    if type(view) is not memoryview:
        view = memoryview(view)
    # As `read_header`, which says what is wrong; a call less for every batch that is right.
    size = len(view)
    header = _new_tuple(BatchHeader, _HEADER.unpack_from(view)) if size >= BATCH_OVERHEAD else None
    if header is None or header[3] != 2 or not 49 <= header[1] <= size - 12 or header[5] & 7 > 4:
        header = read_header(view)
    if header[4] != crc32c(view[21 : header[1] + 12]):
        raise corrupt("the checksum is wrong", reading=_READING, path="crc", offset=_CRC_AT)
    return header


# `read_header` without the call and the checks.
unpack_header = _HEADER.unpack_from
# `patch_batch` without the call: view, 0, base offset, batch length, leader epoch.
patch_into = _OFFSET_LENGTH_EPOCH.pack_into


def patch_batch(
    view: memoryview, header: BatchHeader, *, base_offset: int, leader_epoch: int
) -> None:
    """What a leader assigns; neither field is covered by the checksum."""
    _OFFSET_LENGTH_EPOCH.pack_into(view, 0, base_offset, header[1], leader_epoch)


def patch_timestamp(view: memoryview, *, max_timestamp: int, log_append_time: bool) -> None:
    """Set the batch's largest timestamp and who gave it, and with them the checksum."""
    header = read_header(view)
    attributes = header.attributes & ~LOG_APPEND_TIME_BIT
    if log_append_time:
        attributes |= LOG_APPEND_TIME_BIT
    if (attributes, max_timestamp) == (header.attributes, header.max_timestamp):
        return
    _ATTRIBUTES.pack_into(view, _ATTRIBUTES_AT, attributes)
    _OFFSET.pack_into(view, _MAX_TIMESTAMP_AT, max_timestamp)
    _CRC.pack_into(view, _CRC_AT, crc32c(view[_ATTRIBUTES_AT : header.size_bytes]))


def read_payload(view: Buffer, header: BatchHeader, *, limit: int) -> bytes:
    """The batch's records as one piece of uncompressed bytes."""
    payload = memoryview(view)[BATCH_OVERHEAD : header.size_bytes]
    if not header.attributes & CODEC_MASK or not payload:
        return bytes(payload)  # an emptied batch has nothing to decompress, whatever its codec
    return decompress(header.codec, payload, limit=limit)


def read_records(
    view: Buffer, *, limit: int = MAX_UNCOMPRESSED_BYTES, stored_timestamps: bool = False
) -> list[Record]:
    """The batch's records, exactly as many as it counts.

    With LogAppendTime all have the batch's timestamp, unless those stored are asked for.
    """
    return list(each_record(view, limit=limit, stored_timestamps=stored_timestamps))


def each_record(
    view: Buffer, *, limit: int = MAX_UNCOMPRESSED_BYTES, stored_timestamps: bool = False
) -> Iterator[Record]:
    """As `read_records`, one at a time: of what a client compressed, all may be too many."""
    header = read_header(view)
    if header.record_count < 0:
        cause = f"{header.record_count} records"
        raise invalid(cause, reading=_READING, path="record_count", offset=57)
    if abs(header.base_offset) >= (1 << 63) - (1 << 31):  # no delta may take it out of 64 bits
        raise corrupt("offsets beyond 64 bits", reading=_READING, path="base_offset", offset=0)
    records = iterate_records(
        read_payload(view, header, limit=limit),
        header.record_count,
        base_offset=header.base_offset,
        base_timestamp=header.base_timestamp,
    )
    if not header.attributes & LOG_APPEND_TIME_BIT or stored_timestamps:
        yield from records
        return
    for record in records:
        record.timestamp = header.max_timestamp
        yield record


def build_batch(
    records: Sequence[Record],
    *,
    codec: Codec = Codec.NONE,
    level: int | None = None,
    base_offset: int | None = None,
    last_offset_delta: int | None = None,
    leader_epoch: int = -1,
    log_append_time: int | None = None,
    max_timestamp: int | None = None,
    delete_horizon_ms: int | None = None,
    producer_id: int = -1,
    producer_epoch: int = -1,
    base_sequence: int = -1,
    is_transactional: bool = False,
    is_control: bool = False,
) -> bytes:
    """A batch of these records; what is not given follows from them."""
    if base_offset is None:
        base_offset = records[0].offset if records else 0
    if last_offset_delta is None:
        last_offset_delta = records[-1].offset - base_offset if records else -1
    base_timestamp = records[0].timestamp if records else NO_TIMESTAMP
    attributes = int(codec)
    if delete_horizon_ms is not None:
        base_timestamp = delete_horizon_ms
        attributes |= DELETE_HORIZON_BIT
    if log_append_time is not None:
        max_timestamp = log_append_time
        attributes |= LOG_APPEND_TIME_BIT
    elif max_timestamp is None:
        max_timestamp = max((record.timestamp for record in records), default=NO_TIMESTAMP)
    attributes |= TRANSACTIONAL_BIT * is_transactional | CONTROL_BIT * is_control
    payload = write_records(records, base_offset=base_offset, base_timestamp=base_timestamp)
    header = BatchHeader(
        base_offset, 0, leader_epoch, 2, 0, attributes, last_offset_delta, base_timestamp,
        max_timestamp, producer_id, producer_epoch, base_sequence, len(records),
    )  # fmt: skip
    return seal_batch(header, compress(codec, payload, level=level) if records else b"")


def seal_plain(
    payload: bytes, count: int, *, timestamp: int, base_offset: int, leader_epoch: int
) -> bytes:
    """`seal_batch` of so many records of one time, by nobody in particular, not compressed."""
    checked = _CHECKED_HEADER.pack(0, count - 1, timestamp, timestamp, -1, -1, -1, count) + payload
    length = len(checked) + CHECKED_FROM - LOG_OVERHEAD
    return _UNCHECKED_HEADER.pack(base_offset, length, leader_epoch, 2, crc32c(checked)) + checked


def seal_batch(header: BatchHeader, payload: bytes) -> bytes:
    """The bytes of a batch with this header and payload; length and checksum are computed."""
    checked = _CHECKED_HEADER.pack(*header[5:]) + payload
    length = BATCH_OVERHEAD + len(payload) - LOG_OVERHEAD
    start = (header.base_offset, length, header.partition_leader_epoch, 2, crc32c(checked))
    return _UNCHECKED_HEADER.pack(*start) + checked
