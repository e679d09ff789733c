"""Whatever is built can be read, and whatever is read is either records or a ProtocolError."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from struct import pack_into

from crc32c import crc32c
from hypothesis import given
from hypothesis import strategies as st

from ottla.protocol.errors import ErrorCode, KafkaError, ProtocolError
from ottla.protocol.records.batch import (
    build_batch,
    patch_timestamp,
    read_records,
    validate_batch,
)
from ottla.protocol.records.compression import Codec, compress, decompress
from ottla.protocol.records.convert import (
    down_convert,
    down_convert_for_fetch,
    recompress,
    up_convert,
)
from ottla.protocol.records.message_set import build_message_set
from ottla.protocol.records.record import Record
from ottla.protocol.records.record_set import read_batches

LIMIT = 1 << 20
INT64 = st.integers(-(1 << 63), (1 << 63) - 1)
CONTENT = st.none() | st.binary(max_size=80) | st.integers(0, 20_000).map(bytes)
HEADERS = st.lists(st.tuples(st.text(max_size=5), CONTENT), max_size=3)
CODEC = st.sampled_from(list(Codec))
REFUSALS = (None, ErrorCode.CORRUPT_MESSAGE, ErrorCode.INVALID_RECORD)


@st.composite
def record_lists(draw: st.DrawFn) -> list[Record]:
    base_offset = draw(st.integers(0, 1 << 62))
    deltas = sorted(draw(st.sets(st.integers(0, (1 << 31) - 1), min_size=1, max_size=5)))
    return [
        Record(base_offset + delta, draw(INT64), draw(CONTENT), draw(CONTENT), draw(HEADERS))
        for delta in deltas
    ]


@st.composite
def record_sets(draw: st.DrawFn) -> bytes:
    """Batches of one format, as any producer might build them."""
    records, codec = draw(record_lists()), draw(CODEC)
    append_time = draw(st.none() | INT64)
    magic = draw(st.integers(0, 2))
    if magic == 2:
        return build_batch(records, codec=codec, log_append_time=append_time)
    codec = Codec.GZIP if codec is Codec.ZSTD else codec
    return build_message_set(records, magic=magic, codec=codec, log_append_time=append_time)


def outcome(read: Callable[[], object]) -> ErrorCode | None:
    try:
        read()
    except ProtocolError as refusal:
        return refusal.code
    except KafkaError as refusal:
        # The one refusal of bytes that are in order: they would not be in the format asked for.
        return None if refusal.code is ErrorCode.UNSUPPORTED_COMPRESSION_TYPE else refusal.code
    return None


def read_everything(data: bytes) -> None:
    """Every way into the package; whatever is not a refusal of these bytes escapes."""
    reads: list[Callable[[], object]] = [
        lambda: [batch.records() for batch in read_batches(data, check_crc=False, limit=LIMIT)],
        lambda: validate_batch(data),
        lambda: read_records(data, limit=LIMIT),
        lambda: recompress(data, codec=Codec.LZ4, limit=LIMIT),
        lambda: patch_timestamp(memoryview(bytearray(data)), max_timestamp=1, log_append_time=True),
        lambda: up_convert(data, limit=LIMIT),
        lambda: down_convert(data, to_magic=0, first_offset=0),
        lambda: down_convert_for_fetch(data, to_magic=1, first_offset=0),
    ]
    for read in reads:
        assert outcome(read) in REFUSALS


def with_good_checksum(data: bytes) -> bytes:
    """The first batch's checksum made good, so that the fault is found behind it."""
    if len(data) < 26:
        return data
    fixed = bytearray(data)
    if fixed[16] == 2:
        end = 12 + int.from_bytes(fixed[8:12], "big", signed=True)
        pack_into(">I", fixed, 17, crc32c(memoryview(fixed)[21 : max(end, 21)]))
    else:
        pack_into(">I", fixed, 12, zlib.crc32(memoryview(fixed)[16:]))
    return bytes(fixed)


@given(record_lists(), CODEC)
def test_what_is_built_is_read(records: list[Record], codec: Codec) -> None:
    batch = build_batch(records, codec=codec)
    assert validate_batch(batch).size_bytes == len(batch)
    assert read_records(batch) == records


@given(record_lists(), st.sampled_from([Codec.NONE, Codec.GZIP, Codec.SNAPPY, Codec.LZ4]))
def test_old_formats_keep_all_but_headers(records: list[Record], codec: Codec) -> None:
    for magic in (0, 1):
        data = build_message_set(records, magic=magic, codec=codec)
        found = [record for batch in read_batches(data) for record in batch.records()]
        assert found == [
            Record(record.offset, record.timestamp if magic else -1, record.key, record.value)
            for record in records
        ]


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    read_everything(data)
    read_everything(with_good_checksum(data))


@given(st.integers(0, 3), st.binary(max_size=150), st.integers(-1, 200))
def test_any_bytes_behind_a_plausible_start_are_read_or_refused(
    magic: int, data: bytes, length: int
) -> None:
    start = bytes(8) + length.to_bytes(4, "big", signed=True) + bytes(4) + bytes([magic])
    read_everything(with_good_checksum(start + data))


@given(record_sets(), st.data())
def test_damaged_batches_are_read_or_refused(batch: bytes, data: st.DataObject) -> None:
    damaged = bytearray(batch)
    places = st.integers(0, min(len(batch), 400) - 1)
    for at in data.draw(st.lists(places, min_size=1, max_size=4)):
        damaged[at] = data.draw(st.integers(0, 255))
    end = data.draw(st.sampled_from([len(batch), len(batch) // 2, len(batch) - 1]))
    read_everything(bytes(damaged[:end]))
    read_everything(with_good_checksum(bytes(damaged)))


@given(CODEC, st.binary(max_size=300), st.data())
def test_damaged_compression_is_read_or_refused(
    codec: Codec, plain: bytes, data: st.DataObject
) -> None:
    packed = bytearray(compress(codec, plain * 3))
    for at in data.draw(st.lists(st.integers(0, max(0, len(packed) - 1)), max_size=4)):
        if packed:
            packed[at] = data.draw(st.integers(0, 255))
    assert outcome(lambda: decompress(codec, packed, limit=LIMIT)) in REFUSALS
