"""Record sets: one view over three formats, and what a cut-off end means."""

from __future__ import annotations

import pytest

from ottla.protocol.errors import ErrorCode, ProtocolError
from ottla.protocol.records.batch import build_batch
from ottla.protocol.records.compression import Codec
from ottla.protocol.records.layout import TimestampType
from ottla.protocol.records.message_set import build_message_set
from ottla.protocol.records.record import Record
from ottla.protocol.records.record_set import Batch, read_batches


def records(*offsets: int) -> list[Record]:
    return [Record(offset, offset, b"key", b"value") for offset in offsets]


MIXED = (
    build_message_set(records(0), magic=0)
    + build_message_set(records(1, 3, 4), magic=1, codec=Codec.GZIP, log_append_time=90)
    + build_batch(records(5, 6), codec=Codec.LZ4)
)


def facts(batch: Batch) -> tuple[object, ...]:
    return (
        batch.magic,
        batch.base_offset,
        batch.last_offset,
        batch.next_offset,
        batch.codec,
        batch.timestamp_type,
        batch.max_timestamp,
        batch.log_append_time,
        [record.offset for record in batch.records()],
    )


def test_one_view_fits_all_three_formats() -> None:
    first, second, third = read_batches(MIXED)
    assert facts(first) == (0, 0, 0, 1, Codec.NONE, TimestampType.NONE, -1, None, [0])
    assert facts(second) == (
        1, 1, 4, 5, Codec.GZIP, TimestampType.LOG_APPEND_TIME, 90, 90, [1, 3, 4],
    )  # fmt: skip
    assert facts(third) == (2, 5, 6, 7, Codec.LZ4, TimestampType.CREATE_TIME, 6, None, [5, 6])
    assert (first.header, second.header) == (None, None)
    assert third.header is not None
    assert third.position + third.size_bytes == len(MIXED)


def test_a_cut_off_tail_is_ignored() -> None:
    starts = [batch.position for batch in read_batches(MIXED)] + [len(MIXED)]
    for length in range(len(MIXED)):
        whole = len(list(read_batches(MIXED[:length])))
        assert whole == sum(end <= length for end in starts[1:])


def test_a_size_no_batch_can_have_is_corrupt_even_in_a_tail() -> None:
    for length in (12, 16, 17, 60):
        with pytest.raises(ProtocolError) as refusal:
            list(read_batches(bytes(length)))
        assert refusal.value.code is ErrorCode.CORRUPT_MESSAGE


@pytest.mark.parametrize("magic", [3, 127, 255])
def test_a_magic_nobody_knows_is_corrupt(magic: int) -> None:
    data = bytearray(MIXED)
    data[16] = magic
    with pytest.raises(ProtocolError) as refusal:
        list(read_batches(data))
    assert (refusal.value.code, refusal.value.path) == (ErrorCode.CORRUPT_MESSAGE, "magic")


def test_the_checksum_of_a_batch_can_be_left_for_later() -> None:
    data = bytearray(build_batch(records(1)))
    data[-1] ^= 1
    assert len(list(read_batches(data, check_crc=False))) == 1
    with pytest.raises(ProtocolError):
        list(read_batches(data))


def test_the_limit_holds_for_each_batch() -> None:
    *_, third = read_batches(MIXED, limit=10)
    with pytest.raises(ProtocolError) as refusal:
        third.records()
    assert refusal.value.code is ErrorCode.INVALID_RECORD
