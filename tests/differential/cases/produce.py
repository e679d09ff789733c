"""Produce: every version and codec, every acks, and the batches a broker must refuse."""

from __future__ import annotations

from collections.abc import Callable

from ottla.protocol.records.batch import BatchHeader, build_batch, read_header, seal_batch
from ottla.protocol.records.compression import Codec
from ottla.protocol.records.control import ControlType, control_key
from ottla.protocol.records.record import Record
from tests.differential.case import Case, Topic, case
from tests.differential.requests import (
    LATER,
    T0,
    At,
    To,
    batch,
    fetch,
    message_set,
    metadata,
    never_answered,
    produce,
    read_back,
    records,
)

NEWEST = 11
ONE = batch(b"one")
_TRANSACTIONAL = build_batch(
    records(b"a"), producer_id=5, producer_epoch=0, base_sequence=0, is_transactional=True
)
_COMPACTED = Topic("t", configs={"cleanup.policy": "compact"})
_STAMPED = Topic("t", configs={"message.timestamp.type": "LogAppendTime"})


def magic_of(version: int) -> int:
    """What a producer of that time wrote."""
    return 2 if version >= 3 else 1 if version == 2 else 0


def written(version: int, codec: Codec = Codec.NONE) -> bytes:
    magic = magic_of(version)
    values = (b"first", None, b"", b"last")
    if magic < 2:
        return message_set(*values, magic=magic, codec=codec)
    return build_batch(records(*values, headers=True), codec=codec)


def changed(data: bytes, change: Callable[[BatchHeader], BatchHeader]) -> bytes:
    """The batch with another header, and a checksum that fits."""
    return seal_batch(change(read_header(data)), data[61:])


def flipped(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


_VERSIONS = (
    *(
        case(f"produce-v{v}", produce(v, To(written(v))), produce(v, To(written(v))), read_back(),
             topics=["t"])
        for v in range(NEWEST + 1)
    ),
    *(
        case(f"produce-{codec.name.lower()}-v{v}", produce(v, To(written(v, codec))), read_back(),
             topics=["t"])
        for codec in (Codec.GZIP, Codec.SNAPPY, Codec.LZ4, Codec.ZSTD)
        for v in (0, 2, 3, 7, 11)
        if codec is not Codec.ZSTD or v >= 3
    ),
    *(
        case(f"produce-magic{magic}-in-v{v}", produce(v, To(message_set(b"a", magic=magic))),
             read_back(), topics=["t"])
        for magic, v in ((1, 0), (1, 3), (0, 3), (0, 2), (1, 1))
    ),
    case("produce-magic2-in-v2", produce(2, To(ONE)), read_back(), topics=["t"]),
)  # fmt: skip
_ACKS = (
    *(
        case(f"produce-acks-{acks}-v{v}", produce(v, To(ONE), acks=acks), read_back(),
             topics=["t"])
        for v in (0, 7, 11)
        for acks in (0, 1)
    ),
    *(
        case(f"produce-acks-bad-v{v}", produce(v, To(ONE), acks=2), produce(v, To(ONE), acks=-2),
             read_back(), topics=["t"])
        for v in (0, 5, 8, 11)
    ),
    # Nobody hears an error; the connection is closed so that the producer asks for metadata.
    case("produce-acks-0-unknown-topic", produce(7, To(ONE, "missing"), acks=0),
         metadata(1), topics=["t"]),
    case("produce-acks-0-corrupt", produce(7, To(flipped(ONE, -1 % len(ONE))), acks=0),
         metadata(1), topics=["t"]),
    case("produce-acks-all-too-few-replicas", produce(11, To(ONE)), produce(11, To(ONE), acks=1),
         produce(3, To(ONE)), read_back(),
         topics=[Topic("t", configs={"min.insync.replicas": "2"})]),
)  # fmt: skip
_WHERE = (
    *(
        case(f"produce-unknown-topic-v{v}", produce(v, To(ONE, "missing")), topics=["t"])
        for v in (3, 7, 8, 11)
    ),
    case("produce-unknown-partition", produce(11, To(ONE, partition=1)),
         produce(11, To(ONE, partition=-1)), topics=["t"]),
    case("produce-several", produce(
        11, To(ONE), To(batch(b"two"), partition=1), To(ONE, "u"), To(ONE, partition=9),
        To(flipped(ONE, 64), "u", 1)),
        read_back(), read_back("t", 1), read_back("u"),
        topics=[Topic("t", 2), Topic("u", 2)]),
    case("produce-same-partition-twice", produce(11, To(ONE), To(ONE)), read_back(),
         topics=["t"]),
    case("produce-nothing", produce(11), produce(0)),
    case("produce-invalid-name", produce(11, To(ONE, "=no name"), To(ONE, "="))),
    case("produce-internal-topic", produce(11, To(ONE, "=__consumer_offsets"))),
    # Which of two faults is told: first where, then what, and acks last.
    case("produce-unknown-topic-acks-bad", produce(11, To(ONE, "missing"), acks=2),
         produce(5, To(ONE, "missing"), acks=2), topics=["t"]),
    case("produce-unknown-topic-two-batches", produce(11, To(ONE + ONE, "missing")),
         produce(11, To(ONE + ONE, partition=9)), topics=["t"]),
    case("produce-two-batches-acks-bad", produce(11, To(ONE + ONE), acks=2), read_back(),
         topics=["t"]),
    case("produce-corrupt-acks-bad", produce(11, To(flipped(ONE, 17)), acks=2), read_back(),
         topics=["t"]),
    case("produce-internal-topic-acks-bad", produce(11, To(ONE, "=__consumer_offsets"), acks=2)),
    *(
        case(f"produce-transactional-without-id-v{v}",
             produce(v, To(ONE), To(_TRANSACTIONAL, partition=1), To(ONE, "missing")),
             produce(v, To(ONE), To(_TRANSACTIONAL, "missing")),
             produce(v, To(ONE + ONE), To(_TRANSACTIONAL, partition=1)),
             produce(v, To(_TRANSACTIONAL), acks=2),
             read_back(), read_back("t", 1), topics=[Topic("t", 2)])
        for v in (2, 3, 8, 11)
    ),
    case("produce-transactional-without-id-acks-0",
         produce(11, To(ONE), To(_TRANSACTIONAL, partition=1), acks=0),
         read_back(), read_back("t", 1), topics=[Topic("t", 2)]),
    case("produce-no-time", produce(11, To(ONE), timeout_ms=0), read_back(), topics=["t"]),
)  # fmt: skip
_RECORDS = (
    *(
        case(f"produce-null-records-v{v}", never_answered(produce(v, To(None))), read_back(),
         topics=["t"])
        for v in (2, 3, 9)
    ),
    *(
        case(f"produce-empty-records-v{v}", produce(v, To(b"")), read_back(), topics=["t"])
        for v in (2, 3, 9)
    ),
    case("produce-batch-without-records", produce(11, To(build_batch([], base_offset=0))),
         read_back(), topics=["t"]),
    case("produce-two-batches", produce(11, To(ONE + batch(b"two"))), produce(3, To(ONE + ONE)),
         read_back(), topics=["t"]),
    case("produce-two-messages", produce(2, To(message_set(b"a", b"b", magic=1) * 2)),
         read_back(), topics=["t"]),
    case("produce-corrupt-checksum", produce(11, To(flipped(ONE, 17))), produce(3, To(flipped(ONE,
         17))),
         read_back(), topics=["t"]),
    case("produce-corrupt-payload", produce(11, To(flipped(ONE, len(ONE) - 1))), topics=["t"]),
    case("produce-corrupt-old-message",
         produce(2, To(flipped(message_set(b"a", magic=1), 12))),
         produce(0, To(flipped(message_set(b"a", magic=0), 12))), topics=["t"]),
    case("produce-bad-magic", produce(11, To(ONE[:16] + b"\3" + ONE[17:])),
         produce(11, To(ONE[:16] + b"\xff" + ONE[17:])),
         produce(2, To(ONE[:16] + b"\3" + ONE[17:])), topics=["t"]),
    case("produce-cut-off", produce(11, To(ONE[:-1])), produce(11, To(ONE[:40])),
         produce(11, To(ONE[:10])), produce(2, To(message_set(b"a", magic=1)[:-1])),
         topics=["t"]),
    case("produce-trailing-bytes", produce(11, To(ONE + b"\0" * 5)), produce(11,
         To(ONE + ONE[:20])),
         read_back(), topics=["t"]),
    case("produce-lying-count",
         produce(11, To(changed(ONE, lambda h: h._replace(record_count=5)))),
         produce(11, To(changed(ONE, lambda h: h._replace(record_count=0)))),
         produce(11, To(changed(ONE, lambda h: h._replace(record_count=-1)))),
         read_back(), topics=["t"]),
    case("produce-lying-last-offset",
         produce(11, To(changed(ONE, lambda h: h._replace(last_offset_delta=4)))),
         produce(11, To(changed(ONE, lambda h: h._replace(last_offset_delta=-1)))),
         read_back(), topics=["t"]),
    case("produce-odd-base-offset",
         produce(11, To(changed(ONE, lambda h: h._replace(base_offset=77)))),
         produce(11, To(changed(ONE, lambda h: h._replace(base_offset=-5)))),
         read_back(), topics=["t"]),
    case("produce-odd-leader-epoch",
         produce(11, To(changed(ONE, lambda h: h._replace(partition_leader_epoch=9)))),
         read_back(), topics=["t"]),
    case("produce-unknown-codec",
         produce(11, To(changed(ONE, lambda h: h._replace(attributes=5)))),
         produce(11, To(changed(ONE, lambda h: h._replace(attributes=7)))), topics=["t"]),
    case("produce-broken-compression",
         produce(11, To(changed(ONE, lambda h: h._replace(attributes=1)))),
         produce(11, To(changed(ONE, lambda h: h._replace(attributes=4)))),
         read_back(), topics=["t"]),
    case("produce-control-batch", produce(11, To(build_batch(
        [Record(0, T0, control_key(ControlType.COMMIT), b"\0\0\0\0\0\0")], is_control=True,
        producer_id=5, producer_epoch=0, is_transactional=True))), read_back(), topics=["t"]),
    case("produce-stamped-by-producer",
         produce(11, To(build_batch(records(b"a"), log_append_time=T0))), read_back(),
         topics=["t"]),
    case("produce-too-large", produce(11, To(batch(b"x" * 2000))), produce(11, To(ONE)),
         produce(2, To(message_set(b"x" * 2000, magic=1))),
         produce(3, To(ONE), To(batch(b"x" * 2000), partition=1)), read_back(),
         topics=[Topic("t", 2, configs={"max.message.bytes": "1000"})]),
    case("produce-too-large-uncompressed-only",
         produce(11, To(batch(b"x" * 5000, codec=Codec.GZIP))),
         fetch(12, At(max_bytes=10)), topics=[Topic("t", configs={"max.message.bytes": "1000"})]),
    case("produce-larger-than-segment", produce(11, To(batch(b"x" * 3000))), produce(11, To(ONE)),
         topics=[Topic("t", configs={"segment.bytes": "2000"})]),
)  # fmt: skip
_KEYLESS = [Record(0, T0, b"k", b"v"), Record(1, T0, None, b"v"), Record(2, T0, None, b"w")]
_TOPICS = (
    *(
        case(f"produce-no-key-compacted-v{v}", produce(v, To(build_batch(_KEYLESS))), read_back(),
             topics=[_COMPACTED])
        for v in (3, 7, 8, 11)
    ),
    case("produce-tombstone-compacted", produce(11, To(batch(None, b"x"))), read_back(),
         topics=[_COMPACTED]),
    case("produce-no-key-compacted-gzip",
         produce(11, To(build_batch(_KEYLESS, codec=Codec.GZIP))), topics=[_COMPACTED]),
    *(
        case(f"produce-stamped-v{v}", produce(v, To(written(v))), read_back(), topics=[_STAMPED])
        for v in (0, 2, 3, 11)
    ),
    case("produce-stamped-gzip", produce(11, To(written(11, Codec.GZIP))), read_back(),
         topics=[_STAMPED]),
    *(
        case(f"produce-too-old-v{v}", produce(v, To(written(v))), read_back(),
             topics=[Topic("t", configs={"message.timestamp.before.max.ms": "60000"})])
        for v in (2, 3, 8, 11)
    ),
    case("produce-too-early", produce(11, To(batch(b"a", start=LATER))), read_back(),
         topics=[Topic("t", configs={"message.timestamp.after.max.ms": "60000"})]),
    case("produce-far-future", produce(11, To(batch(b"a", start=LATER))), read_back(),
         topics=["t"]),
    case("produce-no-timestamp", produce(11, To(batch(b"a", start=-1))), read_back(),
         topics=["t"]),
    case("produce-lying-max-timestamp",
         produce(11, To(changed(ONE, lambda h: h._replace(max_timestamp=T0 + 9999)))),
         read_back(), topics=["t"]),
    *(
        case(f"produce-recompressed-{name}", produce(11, To(written(11))),
             produce(11, To(written(11, Codec.LZ4))), read_back(),
             topics=[Topic("t", configs={"compression.type": name})])
        for name in ("gzip", "snappy", "lz4", "zstd", "uncompressed")
    ),
)  # fmt: skip

CASES: tuple[Case, ...] = (*_VERSIONS, *_ACKS, *_WHERE, *_RECORDS, *_TOPICS)
