"""What is prepared apart from the append is what the append alone would have made of it."""

from __future__ import annotations

import pytest

from ottla.protocol.errors import InvalidRecords, KafkaError
from ottla.protocol.records.compression import Codec
from ottla.protocol.records.message_set import build_message_set
from ottla.protocol.records.record import Record
from ottla.storage.config import LogConfig, TimestampPolicy
from ottla.storage.incoming import Incoming
from ottla.storage.long_way import needs_work, prepare, take
from tests.unit.storage.logs import NOW_MS, batch

DAY_MS = 24 * 60 * 60 * 1000
TOPICS = {
    "compacted": LogConfig(compacts=True),
    "lz4": LogConfig(compression_type="lz4"),
    "uncompressed": LogConfig(compression_type="uncompressed"),
    "times": LogConfig(timestamp_before_max_ms=DAY_MS),
    "append time": LogConfig(timestamp_policy=TimestampPolicy.LOG_APPEND_TIME),
    "zstd and append time": LogConfig(
        compression_type="zstd", timestamp_policy=TimestampPolicy.LOG_APPEND_TIME
    ),
    "old": LogConfig(message_magic=1),
    "old and gzip": LogConfig(message_magic=1, compression_type="gzip"),
}


def message_set(magic: int, codec: Codec) -> memoryview:
    records = [Record(i, NOW_MS + i if magic else -1, b"k", b"v" * i) for i in range(5)]
    return memoryview(bytearray(build_message_set(records, magic=magic, codec=codec)))


SENT = {
    "plain": lambda: batch(b"a", b"b", key=b"k"),
    "gzip": lambda: batch(*[b"v" * 100] * 50, key=b"k", codec=Codec.GZIP),
    "idempotent": lambda: batch(b"a", key=b"k", producer_id=7, producer_epoch=0, base_sequence=0),
    "magic 1": lambda: message_set(1, Codec.NONE),
    "magic 1, gzip": lambda: message_set(1, Codec.GZIP),
    "magic 0, snappy": lambda: message_set(0, Codec.SNAPPY),
    "with a part of another": lambda: memoryview(
        bytearray(bytes(message_set(1, Codec.NONE)) + bytes(message_set(1, Codec.NONE))[:20])
    ),
}


def taken(view: memoryview, config: LogConfig, *, is_prepared: bool = False) -> Incoming:
    return take(
        view, config, next_offset=1_000, leader_epoch=3, now_ms=NOW_MS, is_prepared=is_prepared
    )


@pytest.mark.parametrize("sent", SENT)
@pytest.mark.parametrize("topic", TOPICS)
def test_both_ways_lead_to_the_same_bytes(topic: str, sent: str) -> None:
    config = TOPICS[topic]
    if sent == "idempotent" and config.message_magic < 2:
        with pytest.raises(KafkaError, match="message format"):
            prepare(SENT[sent](), config, now_ms=NOW_MS)
        return
    prepared = prepare(SENT[sent](), config, now_ms=NOW_MS)
    assert taken(prepared, config, is_prepared=True) == taken(SENT[sent](), config)


@pytest.mark.parametrize(("before", "after"), [("old", "compacted"), ("lz4", "old")])
def test_a_topic_whose_format_changed_meanwhile_takes_what_was_prepared(
    before: str, after: str
) -> None:
    prepared = prepare(message_set(1, Codec.GZIP), TOPICS[before], now_ms=NOW_MS)
    found = taken(prepared, TOPICS[after], is_prepared=True)
    assert (found.append[1], found.append[2]) == (1_000, 1_004)


@pytest.mark.parametrize(
    ("topic", "sent", "is_work"),
    [
        ("compacted", "plain", False),
        ("compacted", "gzip", True),
        ("compacted", "magic 1", True),
        ("times", "plain", False),
        ("times", "gzip", True),
        ("lz4", "plain", False),
        ("lz4", "gzip", True),
        ("append time", "gzip", False),
        ("zstd and append time", "gzip", True),
        ("old", "plain", True),
    ],
)
def test_what_is_compressed_or_old_is_work_where_its_records_are_touched(
    topic: str, sent: str, is_work: bool
) -> None:
    assert needs_work(SENT[sent](), TOPICS[topic]) == is_work


@pytest.mark.parametrize(
    ("topic", "values", "is_work"),
    [
        ("compacted", [b""] * 500, False),
        ("compacted", [b""] * 501, True),
        ("compacted", [bytes(500_000)], False),
        ("lz4", [bytes(60_000)], False),
        ("lz4", [bytes(70_000)], True),
        ("append time", [bytes(500_000)], False),
    ],
)
def test_so_is_much(topic: str, values: list[bytes], is_work: bool) -> None:
    assert needs_work(batch(*values, key=b"k"), TOPICS[topic]) == is_work


def test_what_is_too_short_for_a_batch_is_refused_and_not_read() -> None:
    assert not needs_work(memoryview(bytearray(60)), TOPICS["lz4"])


def test_of_very_many_wrong_records_a_producer_hears_of_some() -> None:
    wrong = batch(*[b"v"] * 20_000)
    with pytest.raises(InvalidRecords) as refusal:
        prepare(wrong, TOPICS["compacted"], now_ms=NOW_MS)
    assert [index for index, _ in refusal.value.records] == list(range(10_000))
