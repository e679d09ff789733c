"""Conversion: what old consumers are sent, what old producers sent, and other codecs."""

from __future__ import annotations

import pytest

from ottla.protocol.errors import ErrorCode, KafkaError, ProtocolError
from ottla.protocol.records.batch import build_batch, read_records, validate_batch
from ottla.protocol.records.compression import Codec
from ottla.protocol.records.control import ControlType, build_end_transaction
from ottla.protocol.records.convert import (
    down_convert,
    down_convert_for_fetch,
    recompress,
    up_convert,
)
from ottla.protocol.records.message_set import build_message_set
from ottla.protocol.records.record import Record
from ottla.protocol.records.record_set import read_batches

ZSTD = build_batch([Record(9, 1, None, b"z")], codec=Codec.ZSTD)
MARKER = build_end_transaction(
    ControlType.ABORT,
    offset=8,
    timestamp=1,
    producer_id=1,
    producer_epoch=0,
    coordinator_epoch=0,
)


def records(*offsets: int, value: bytes = b"value") -> list[Record]:
    return [Record(offset, 100 + offset, b"key", value) for offset in offsets]


def offsets_of(data: bytes) -> list[int]:
    return [record.offset for batch in read_batches(data) for record in batch.records()]


@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("codec", [Codec.NONE, Codec.GZIP, Codec.SNAPPY, Codec.LZ4])
def test_offsets_and_codec_survive_but_headers_do_not(magic: int, codec: Codec) -> None:
    batch = build_batch([Record(3, 5, b"k", b"v", [("h", b"x")]), Record(7, 6, None, None)])
    converted = down_convert(recompress(batch, codec=codec), to_magic=magic, first_offset=0)
    found = [(b.magic, b.codec) for b in read_batches(converted)]
    assert found == [(magic, codec)] * (2 if codec is Codec.NONE else 1)
    timestamps = (5, 6) if magic == 1 else (-1, -1)
    assert [record for b in read_batches(converted) for record in b.records()] == [
        Record(3, timestamps[0], b"k", b"v"),
        Record(7, timestamps[1], None, None),
    ]


def test_records_below_the_first_offset_go_only_from_uncompressed_batches_being_converted() -> None:
    plain = build_batch(records(0, 1, 2))
    assert offsets_of(down_convert(plain, to_magic=1, first_offset=2)) == [2]
    packed = recompress(plain, codec=Codec.GZIP)
    assert offsets_of(down_convert(packed, to_magic=1, first_offset=2)) == [0, 1, 2]
    old = build_message_set(records(0, 1, 2), magic=1)
    assert down_convert(old, to_magic=1, first_offset=2) == old


def test_append_time_stays_append_time() -> None:
    batch = build_batch(records(0, 1), log_append_time=900)
    converted = down_convert(batch, to_magic=1, first_offset=0)
    assert converted == build_message_set(records(0, 1), magic=1, log_append_time=900)
    assert [b.log_append_time for b in read_batches(converted)] == [900, 900]


def test_control_batches_vanish_and_leave_a_short_padding() -> None:
    assert down_convert(MARKER, to_magic=1, first_offset=0) == b""
    sent = down_convert_for_fetch(MARKER, to_magic=1, first_offset=0)
    assert sent.hex() == "ffffffffffffffff" + "0000003d"
    assert list(read_batches(sent)) == []
    assert down_convert_for_fetch(b"", to_magic=1, first_offset=0) == b""


@pytest.mark.parametrize("magic", [0, 1])
def test_zstd_cannot_be_converted(magic: int) -> None:
    for convert in (down_convert, down_convert_for_fetch):
        with pytest.raises(KafkaError) as refusal:
            convert(ZSTD, to_magic=magic, first_offset=0)
        assert refusal.value.code is ErrorCode.UNSUPPORTED_COMPRESSION_TYPE


def test_a_later_zstd_batch_is_padded_over_until_the_consumer_asks_for_it() -> None:
    data = build_batch(records(0, 1)) + ZSTD
    sent = down_convert_for_fetch(data, to_magic=1, first_offset=0)
    assert len(sent) == len(data)
    assert offsets_of(sent) == [0, 1]


def test_a_later_broken_batch_is_not_padded_over() -> None:
    data = build_batch(records(0, 1)) + build_message_set(records(5), magic=1)
    broken = bytearray(data)
    broken[-1] ^= 1
    with pytest.raises(ProtocolError):
        down_convert_for_fetch(broken, to_magic=0, first_offset=0)


def test_what_is_sent_has_the_size_of_the_stored_set() -> None:
    data = build_batch(records(0)) + MARKER
    sent = down_convert_for_fetch(data, to_magic=1, first_offset=0)
    whole = down_convert(data, to_magic=1, first_offset=0)
    left = len(data) - len(whole)
    assert sent == whole + b"\xff" * 8 + (left + 1).to_bytes(4, "big") + bytes(left - 12)


def test_the_first_batch_is_sent_whole_and_the_rest_is_cut_to_size() -> None:
    batch = build_batch([Record(i, i, None, None) for i in range(20)])
    first = down_convert(batch, to_magic=1, first_offset=0)
    assert len(first) > 2 * len(batch)
    assert down_convert_for_fetch(batch + batch, to_magic=1, first_offset=0) == first
    three = down_convert_for_fetch(batch * 3, to_magic=1, first_offset=0)
    assert three == (first * 3)[: max(len(first), 3 * len(batch))]


def test_a_large_padding_starts_anew_every_128_kib() -> None:
    data = build_batch(records(0)) + build_batch(records(1, value=bytes(300_000)), is_control=True)
    sent = down_convert_for_fetch(data, to_magic=1, first_offset=0)
    start = len(down_convert(data, to_magic=1, first_offset=0))
    assert len(sent) == len(data)
    for at in range(start, len(sent) - 12, 128 * 1024):
        assert sent[at : at + 12] == b"\xff" * 8 + (len(sent) - at + 1).to_bytes(4, "big")


@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("codec", [Codec.NONE, Codec.GZIP, Codec.SNAPPY, Codec.LZ4])
def test_what_old_producers_send_becomes_one_batch(magic: int, codec: Codec) -> None:
    data = build_message_set(records(0, 1, 2), magic=magic, codec=codec)
    batch = up_convert(data, base_offset=50, leader_epoch=4)
    header = validate_batch(batch)
    assert header.size_bytes == len(batch)
    assert (header.base_offset, header.last_offset, header.partition_leader_epoch) == (50, 52, 4)
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (-1, -1, -1)
    assert (header.codec, header.max_timestamp) == (codec, 102 if magic else -1)


def test_the_topic_may_ask_for_another_codec_format_or_timestamp() -> None:
    data = build_message_set(records(0, 1), magic=0, codec=Codec.GZIP)
    appended = validate_batch(up_convert(data, codec=Codec.ZSTD, log_append_time=77))
    assert (appended.codec, appended.max_timestamp) == (Codec.ZSTD, 77)
    (batch,) = read_batches(up_convert(data, to_magic=1, base_offset=8, log_append_time=77))
    assert (batch.magic, batch.base_offset, batch.last_offset) == (1, 8, 9)
    assert batch.log_append_time == 77
    with pytest.raises(KafkaError):
        up_convert(data, to_magic=1, codec=Codec.ZSTD)
    assert up_convert(b"") == b""


@pytest.mark.parametrize("target", list(Codec))
@pytest.mark.parametrize("source", list(Codec))
def test_recompression_changes_nothing_but_the_codec(source: Codec, target: Codec) -> None:
    batch = build_batch(
        records(3, 5),
        codec=source,
        base_offset=2,
        last_offset_delta=8,
        leader_epoch=6,
        log_append_time=900,
        delete_horizon_ms=40,
        producer_id=7,
        producer_epoch=1,
        base_sequence=4,
        is_transactional=True,
    )
    again = recompress(batch, codec=target)
    before, after = validate_batch(batch), validate_batch(again)
    assert after.codec is target
    changed = {"batch_length": 0, "crc": 0, "attributes": 0}
    assert after._replace(**changed) == before._replace(**changed)
    assert after.attributes & ~7 == before.attributes & ~7
    assert read_records(again, stored_timestamps=True) == records(3, 5)
    assert recompress(again, codec=source) == batch


def test_an_emptied_batch_can_be_recompressed() -> None:
    batch = build_batch([], base_offset=5, last_offset_delta=2)
    assert read_records(recompress(batch, codec=Codec.GZIP)) == []


@pytest.mark.parametrize("magic", [0, 1])
def test_headers_are_not_dropped_from_what_a_producer_sends(magic: int) -> None:
    sent = build_batch([Record(0, 5, None, b"v", [("h", b"1")])])
    with pytest.raises(KafkaError, match="headers") as refused:
        up_convert(sent, to_magic=magic)
    assert refused.value.code is ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT
