"""Messages of magic 0 and 1: hand-computed bytes, wrappers, and what is refused."""

from __future__ import annotations

import zlib
from struct import pack

import pytest

from ottla.protocol.errors import ErrorCode, ProtocolError
from ottla.protocol.records.compression import Codec, compress
from ottla.protocol.records.layout import TimestampType
from ottla.protocol.records.message_set import (
    build_message,
    build_message_set,
    read_message,
    read_message_records,
)
from ottla.protocol.records.record import Record

CODECS = [Codec.GZIP, Codec.SNAPPY, Codec.LZ4]
RECORDS = [Record(20, 7, b"k", b"v"), Record(22, 9, None, b"w"), Record(25, 8, b"", None)]


def records_of(data: bytes) -> list[Record]:
    return read_message_records(read_message(data), limit=100_000)


def without_timestamps(records: list[Record]) -> list[Record]:
    return [Record(record.offset, -1, record.key, record.value) for record in records]


def wrapper(
    plain: bytes | None, *, magic: int = 1, codec: int = Codec.GZIP, offset: int = 30
) -> bytes:
    value = None if plain is None else compress(Codec.GZIP, plain)
    return build_message(Record(offset, 50, None, value), magic=magic, attributes=codec)


def refusal_of(data: bytes) -> ErrorCode:
    with pytest.raises(ProtocolError) as refusal:
        records_of(data)
    return refusal.value.code


def test_the_bytes_of_both_magics() -> None:
    record = Record(10, 1000, b"k", b"v")
    body_0 = bytes.fromhex("0000" + "000000016b" + "0000000176")
    body_1 = bytes.fromhex("0100" + "00000000000003e8" + "000000016b" + "0000000176")
    for magic, body in ((0, body_0), (1, body_1)):
        message = build_message(record, magic=magic)
        assert message == pack(">qiI", 10, 4 + len(body), zlib.crc32(body)) + body


def test_a_message_without_key_and_value_has_only_its_overhead() -> None:
    nothing = Record(0, -1, None, None)
    assert [len(build_message(nothing, magic=magic)) for magic in (0, 1)] == [26, 34]
    assert records_of(build_message(nothing, magic=0)) == [nothing]


@pytest.mark.parametrize("codec", CODECS)
def test_magic_1_wraps_offsets_counted_from_the_first(codec: Codec) -> None:
    data = build_message_set(RECORDS, magic=1, codec=codec)
    message = read_message(data)
    assert (message.offset, message.timestamp, message.codec) == (25, 9, codec)
    assert message.timestamp_type is TimestampType.CREATE_TIME
    assert records_of(data) == RECORDS


@pytest.mark.parametrize("codec", CODECS)
def test_magic_0_wraps_absolute_offsets_and_no_timestamps(codec: Codec) -> None:
    data = build_message_set(RECORDS, magic=0, codec=codec, log_append_time=5)
    message = read_message(data)
    assert (message.offset, message.timestamp) == (25, -1)
    assert message.timestamp_type is TimestampType.NONE
    assert records_of(data) == without_timestamps(RECORDS)


def test_the_append_time_of_a_wrapper_holds_for_all_it_wraps() -> None:
    plain = b"".join(build_message(record, magic=1) for record in RECORDS)
    value = compress(Codec.GZIP, plain)
    data = build_message(Record(25, 99, None, value), magic=1, attributes=Codec.GZIP | 8)
    assert [record.timestamp for record in records_of(data)] == [99, 99, 99]


def test_a_wrapper_at_offset_zero_leaves_its_inner_offsets_alone() -> None:
    plain = b"".join(build_message(RECORDS[0], magic=1, offset=offset) for offset in range(3))
    assert [record.offset for record in records_of(wrapper(plain, offset=0))] == [0, 1, 2]
    assert [record.offset for record in records_of(wrapper(plain, offset=30))] == [28, 29, 30]


@pytest.mark.parametrize(
    "plain",
    [
        None,
        b"",
        build_message(RECORDS[0], magic=0),
        wrapper(build_message(RECORDS[0], magic=1)),
    ],
    ids=["no value", "no messages", "another magic", "compressed twice"],
)
def test_wrappers_that_make_no_sense_are_invalid(plain: bytes | None) -> None:
    assert refusal_of(wrapper(plain)) is ErrorCode.INVALID_RECORD


def test_zstd_never_wraps_old_messages() -> None:
    assert refusal_of(wrapper(b"", codec=Codec.ZSTD)) is ErrorCode.INVALID_RECORD
    assert refusal_of(wrapper(b"", codec=7)) is ErrorCode.CORRUPT_MESSAGE


def test_an_inner_offset_cannot_leave_64_bits() -> None:
    plain = build_message(RECORDS[0], magic=1, offset=-5) + build_message(
        RECORDS[0], magic=1, offset=-(1 << 63)
    )
    assert refusal_of(wrapper(plain)) is ErrorCode.INVALID_RECORD


@pytest.mark.parametrize("magic", [0, 1])
def test_every_changed_or_missing_byte_is_corrupt(magic: int) -> None:
    data = build_message(RECORDS[0], magic=magic)
    for at in range(8, len(data)):
        changed = bytearray(data)
        changed[at] ^= 0x81
        assert refusal_of(bytes(changed)) is ErrorCode.CORRUPT_MESSAGE
        assert refusal_of(data[:at]) is ErrorCode.CORRUPT_MESSAGE


def test_an_inner_message_is_checked_too() -> None:
    plain = bytearray(build_message(RECORDS[0], magic=1))
    plain[-1] ^= 1
    assert refusal_of(wrapper(bytes(plain))) is ErrorCode.CORRUPT_MESSAGE


@pytest.mark.parametrize("body", ["00007fffffff", "0000ffffffff7fffffff00", "0000000000010000"])
def test_lengths_beyond_the_message_are_corrupt(body: str) -> None:
    content = bytes.fromhex(body).ljust(10, b"\0")
    data = pack(">qiI", 0, 4 + len(content), zlib.crc32(content)) + content
    assert refusal_of(data) is ErrorCode.CORRUPT_MESSAGE
