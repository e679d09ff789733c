"""v2 batches: hand-computed bytes, the hot path, and what is refused."""

from __future__ import annotations

from struct import pack_into

import pytest
from crc32c import crc32c

from ottla.protocol.errors import ErrorCode, ProtocolError
from ottla.protocol.records.batch import (
    BatchHeader,
    build_batch,
    patch_batch,
    patch_timestamp,
    read_header,
    read_records,
    validate_batch,
)
from ottla.protocol.records.compression import Codec
from ottla.protocol.records.layout import TimestampType
from ottla.protocol.records.record import Record

RECORDS = [Record(0, 1000, b"k", b"v", [("h", b"x")]), Record(1, 1005, None, None)]
# Length 12, no attributes, deltas 0 and 0, key "k", value "v", one header "h" = "x"; then length 6,
# deltas 5 and 1, no key, no value, no headers.
PAYLOAD = bytes.fromhex("180000 00026b0276 0202680278" + "0c000a02010100")


def transactional_batch() -> bytes:
    return build_batch(
        RECORDS, producer_id=77, producer_epoch=3, base_sequence=9, is_transactional=True
    )


def edited(batch: bytes, layout: str, at: int, value: int) -> bytes:
    """The batch with one field changed and its checksum made good again."""
    changed = bytearray(batch)
    pack_into(layout, changed, at, value)
    pack_into(">I", changed, 17, crc32c(memoryview(changed)[21:]))
    return bytes(changed)


def read_checked(batch: bytes) -> list[Record]:
    validate_batch(batch)
    return read_records(batch)


def refusal_of(batch: bytes) -> ProtocolError:
    with pytest.raises(ProtocolError) as refusal:
        read_checked(batch)
    return refusal.value


def test_the_bytes_of_a_transactional_batch() -> None:
    batch = transactional_batch()
    assert len(batch) == 81
    assert batch[61:] == PAYLOAD
    assert batch[:17].hex() == "0000000000000000" + "00000045" + "ffffffff" + "02"
    assert batch[21:61].hex() == (
        "0010" + "00000001" + "00000000000003e8" + "00000000000003ed"
        "000000000000004d" + "0003" + "00000009" + "00000002"
    )  # fmt: skip
    assert int.from_bytes(batch[17:21], "big") == crc32c(batch[21:])


def test_a_header_tells_what_is_in_the_batch() -> None:
    batch = transactional_batch()
    crc = int.from_bytes(batch[17:21], "big")
    header = validate_batch(batch)
    assert header == BatchHeader(0, 69, -1, 2, crc, 16, 1, 1000, 1005, 77, 3, 9, 2)
    assert (header.size_bytes, header.last_offset, header.next_offset) == (81, 1, 2)
    assert (header.last_sequence, header.sequence_of(0)) == (10, 9)
    assert header.is_transactional
    assert header.is_idempotent
    assert not header.is_control
    assert (header.codec, header.timestamp_type) == (Codec.NONE, TimestampType.CREATE_TIME)
    assert header.delete_horizon_ms is None
    assert read_records(batch) == RECORDS


def test_sequence_numbers_wrap_to_zero() -> None:
    records = [Record(offset, 0, None, b"") for offset in range(3)]
    header = validate_batch(build_batch(records, producer_id=1, base_sequence=2147483646))
    assert [header.sequence_of(offset) for offset in range(3)] == [2147483646, 2147483647, 0]
    assert header.last_sequence == 0


def test_a_leader_assigns_offset_and_epoch_under_the_same_checksum() -> None:
    view = memoryview(bytearray(transactional_batch() + b"next batch"))
    patch_batch(view, read_header(view), base_offset=5_000_000_000, leader_epoch=6)
    header = validate_batch(view)
    assert (header.base_offset, header.partition_leader_epoch) == (5_000_000_000, 6)
    assert [record.offset for record in read_records(view)] == [5_000_000_000, 5_000_000_001]
    assert bytes(view[81:]) == b"next batch"


def test_append_time_replaces_every_timestamp_but_the_stored_ones() -> None:
    view = memoryview(bytearray(transactional_batch() + b"next batch"))
    patch_timestamp(view, max_timestamp=2000, log_append_time=True)
    header = validate_batch(view)
    assert header.timestamp_type is TimestampType.LOG_APPEND_TIME
    assert header.is_transactional
    assert [record.timestamp for record in read_records(view)] == [2000, 2000]
    stored = read_records(view, stored_timestamps=True)
    assert [record.timestamp for record in stored] == [1000, 1005]
    patch_timestamp(view, max_timestamp=1005, log_append_time=False)
    assert bytes(view[:81]) == transactional_batch()


def test_an_emptied_batch_keeps_its_offsets_and_sequences() -> None:
    batch = build_batch(
        [], base_offset=100, last_offset_delta=4, max_timestamp=7, producer_id=1, base_sequence=9
    )
    header = validate_batch(batch)
    assert (len(batch), header.last_offset, header.last_sequence) == (61, 104, 13)
    assert (header.base_timestamp, header.max_timestamp) == (-1, 7)
    assert read_records(batch) == []


def test_a_delete_horizon_stands_where_the_base_timestamp_was() -> None:
    batch = build_batch(RECORDS, delete_horizon_ms=900)
    assert validate_batch(batch).delete_horizon_ms == 900
    assert read_records(batch) == RECORDS


@pytest.mark.parametrize("codec", list(Codec))
def test_records_survive_every_codec(codec: Codec) -> None:
    records = [Record(i, i, b"key", b"value " * i) for i in range(200)]
    batch = build_batch(records, codec=codec)
    assert validate_batch(batch).codec is codec
    assert read_records(batch) == records


def test_timestamps_too_far_apart_for_64_bits_survive() -> None:
    records = [Record(0, (1 << 63) - 1, None, None), Record(1, -(1 << 63), None, None)]
    assert read_records(build_batch(records)) == records


def test_a_header_name_that_is_not_utf_8_survives() -> None:
    records = [Record(0, 0, None, None, [(b"\xff\xc3".decode("utf-8", "surrogateescape"), None)])]
    batch = build_batch(records)
    assert b"\xff\xc3" in batch
    assert read_records(batch) == records


@pytest.mark.parametrize("cut", [0, 11, 16, 60, 80])
def test_a_cut_off_batch_is_corrupt(cut: int) -> None:
    assert refusal_of(transactional_batch()[:cut]).code is ErrorCode.CORRUPT_MESSAGE


@pytest.mark.parametrize("at", [16, 17, 20, 21, 60, 61, 80])
def test_a_changed_byte_is_corrupt(at: int) -> None:
    batch = bytearray(transactional_batch())
    batch[at] ^= 1
    assert refusal_of(bytes(batch)).code is ErrorCode.CORRUPT_MESSAGE


@pytest.mark.parametrize("length", [-1, 0, 48, 70, 2147483647])
def test_a_length_that_cannot_be_is_corrupt(length: int) -> None:
    refusal = refusal_of(edited(transactional_batch(), ">i", 8, length))
    assert (refusal.code, refusal.path) == (ErrorCode.CORRUPT_MESSAGE, "batch_length")


@pytest.mark.parametrize("codec", [5, 6, 7])
def test_a_codec_nobody_knows_is_corrupt(codec: int) -> None:
    refusal = refusal_of(edited(transactional_batch(), ">h", 21, codec))
    assert (refusal.code, refusal.path) == (ErrorCode.CORRUPT_MESSAGE, "attributes")


@pytest.mark.parametrize("count", [-1, 0, 1, 3, 2147483647])
@pytest.mark.parametrize("codec", list(Codec))
def test_a_wrong_record_count_is_invalid(count: int, codec: Codec) -> None:
    refusal = refusal_of(edited(build_batch(RECORDS, codec=codec), ">i", 57, count))
    assert refusal.code is ErrorCode.INVALID_RECORD


@pytest.mark.parametrize(
    ("at", "byte"),
    [
        (61, 0x19),  # a negative length
        (61, 0x16),  # one byte too short
        (61, 0x1A),  # one byte too long
        (65, 0x7E),  # a key beyond the record
        (69, 0x01),  # a negative number of headers
        (69, 0x7E),  # more headers than there is room for
        (70, 0x01),  # a header without a name
        (72, 0x7E),  # a header's value beyond the record
    ],
)
def test_a_record_that_does_not_add_up_is_invalid(at: int, byte: int) -> None:
    refusal = refusal_of(edited(transactional_batch(), ">B", at, byte))
    assert (refusal.code, refusal.path) == (ErrorCode.INVALID_RECORD, "records[0]")


def test_offsets_beyond_64_bits_are_refused() -> None:
    batch = edited(transactional_batch(), ">q", 0, (1 << 63) - 1)
    assert refusal_of(batch).path == "base_offset"
