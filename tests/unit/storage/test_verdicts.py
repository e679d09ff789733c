"""Each rule of compaction on one small log, told as `explain-compaction` tells it."""

from __future__ import annotations

from ottla.protocol.records.batch import BatchHeader
from ottla.protocol.records.compression import Codec
from ottla.protocol.records.control import ControlType
from ottla.protocol.records.message_set import build_message_set
from ottla.protocol.records.record import Record
from ottla.protocol.records.record_set import read_batches
from ottla.storage.compaction import BatchFilter, MapBuilder, Outcome
from ottla.storage.offset_map import OffsetMap
from ottla.storage.transaction_trail import ActiveProducer, TransactionTrail
from ottla.storage.verdict import RecordFate, Verdict
from tests.unit.storage.compacted_log import RETENTION_MS, ROOMY, WrittenLog, compact, parse


def fates(
    log: WrittenLog,
    batches: list[bytes] | None = None,
    *,
    now_ms: int = 0,
    map_bytes: int = ROOMY,
    keeps_old_tombstones: bool = True,
) -> list[tuple[int, Verdict, int | None]]:
    """What becomes of each record in one pass over the whole log."""
    told: list[RecordFate] = []
    before = parse(log.batches if batches is None else batches)
    offset_map = OffsetMap(map_bytes)
    builder = MapBuilder(offset_map, TransactionTrail(log.aborted), first_dirty_offset=0)
    all(builder.add(batch) for batch in before)
    batch_filter = BatchFilter(
        offset_map,
        TransactionTrail(log.aborted),
        end_offset=builder.end_offset,
        active_producers=[],
        now_ms=now_ms,
        delete_retention_ms=RETENTION_MS,
        explain=told.append,
    )
    batch_filter.keeps_old_tombstones = keeps_old_tombstones
    outcomes: list[Outcome] = [batch_filter.filter(batch) for batch in before]
    assert sum(outcome.records_read for outcome in outcomes) == len(told)
    assert sum(outcome.records_kept for outcome in outcomes) == sum(f.verdict.keeps for f in told)
    return [(fate.offset, fate.verdict, fate.detail) for fate in told]


def header(batches: list[bytes], number: int) -> BatchHeader:
    found = parse(batches)[number].header
    assert found is not None
    return found


def test_an_older_record_is_dropped_for_the_newer_one() -> None:
    log = WrittenLog()
    log.write([(b"a", b"1"), (b"b", b"1"), (b"a", b"2")])
    assert fates(log) == [
        (0, Verdict.DROPPED_NEWER, 2),
        (1, Verdict.KEPT_LATEST, None),
        (2, Verdict.KEPT_LATEST, None),
    ]


def test_a_record_without_key_is_dropped() -> None:
    log = WrittenLog()
    log.write([(None, b"1")])
    assert fates(log) == [(0, Verdict.DROPPED_WITHOUT_KEY, None)]


def test_a_tombstone_gets_its_time_in_the_first_pass_and_goes_when_it_is_over() -> None:
    log = WrittenLog()
    log.write([(b"a", b"1"), (b"a", None), (b"b", b"1")], timestamps=[10, 20, 30])
    assert fates(log, now_ms=7)[1] == (1, Verdict.KEPT_TOMBSTONE, 7 + RETENTION_MS)
    batches, _ = compact(log, now_ms=7)
    assert header(batches, 0).delete_horizon_ms == 7 + RETENTION_MS
    assert [r.timestamp for r in parse(batches)[0].records()] == [20, 30]
    late = 6 + RETENTION_MS
    assert fates(log, batches, now_ms=late)[0] == (1, Verdict.KEPT_TOMBSTONE, 7 + RETENTION_MS)
    late += 1
    assert fates(log, batches, now_ms=late)[0] == (1, Verdict.DROPPED_TOMBSTONE, late)
    batches, _ = compact(log, batches, now_ms=late)
    assert [(r.offset, r.timestamp) for r in parse(batches)[0].records()] == [(2, 30)]


def test_a_tombstones_time_does_not_begin_before_the_map_has_covered_its_batch() -> None:
    log = WrittenLog()
    log.write([(b"%d" % n, b"1") for n in range(20)])
    log.write([(b"%d" % n, None) for n in range(20, 40)])
    batches, end_offset = compact(log, map_bytes=1)
    assert 20 < end_offset < 40
    assert header(batches, 1).delete_horizon_ms is None
    told = fates(log, map_bytes=1)
    assert told[end_offset] == (end_offset, Verdict.KEPT_NOT_REACHED, end_offset)


def test_a_batch_from_which_nothing_goes_stays_byte_for_byte() -> None:
    log = WrittenLog()
    log.write([(b"a", b"1"), (b"b", b"2")], codec=Codec.GZIP)
    assert compact(log)[0] == log.batches


def test_what_is_left_of_a_batch_keeps_its_offsets_sequences_and_codec() -> None:
    log = WrittenLog()
    log.write(
        [(b"a", b"1"), (b"b", b"2"), (b"a", b"3"), (b"b", b"4")],
        producer=9,
        transactional=False,
        timestamps=[100, 50, 70, 60],
        codec=Codec.ZSTD,
    )
    before = header(log.batches, 0)
    batches, _ = compact(log)
    after = header(batches, 0)
    changed = ("batch_length", "crc", "base_timestamp", "max_timestamp", "record_count")
    for name in BatchHeader._fields:
        assert (getattr(before, name) == getattr(after, name)) == (name not in changed), name
    assert (after.base_timestamp, after.max_timestamp, after.record_count) == (70, 70, 2)


def test_aborted_data_goes_and_its_marker_follows_in_its_time() -> None:
    log = WrittenLog()
    log.write([(b"a", b"1")])
    log.write([(b"a", b"aborted")], producer=7)
    log.end_transaction(7, ControlType.ABORT)
    assert fates(log) == [
        (0, Verdict.KEPT_LATEST, None),
        (1, Verdict.DROPPED_ABORTED, None),
        (2, Verdict.KEPT_MARKER, None),
    ]
    batches, _ = compact(log)
    assert fates(log, batches)[1] == (2, Verdict.KEPT_EMPTY_MARKER, RETENTION_MS)
    batches, _ = compact(log, batches)
    assert fates(log, batches)[1] == (2, Verdict.KEPT_EMPTY_MARKER, RETENTION_MS)
    over = fates(log, batches, now_ms=RETENTION_MS)
    assert over[1] == (2, Verdict.DROPPED_MARKER, RETENTION_MS)


def test_a_commit_marker_stays_as_long_as_any_data_of_its_transaction() -> None:
    log = WrittenLog()
    log.write([(b"a", b"1"), (b"b", b"1")], producer=7)
    log.end_transaction(7, ControlType.COMMIT)
    log.write([(b"a", b"2")])
    batches, _ = compact(log)
    assert (2, Verdict.KEPT_MARKER, None) in fates(log, batches, now_ms=10 * RETENTION_MS)
    log.batches = batches
    log.write([(b"b", b"2")])
    batches, _ = compact(log)
    assert fates(log, batches)[0] == (2, Verdict.KEPT_EMPTY_MARKER, RETENTION_MS)


def test_the_marker_of_a_producer_without_data_stays_as_an_empty_batch() -> None:
    log = WrittenLog()
    log.end_transaction(7, ControlType.COMMIT)
    for epoch, count in ((0, 1), (1, 0)):
        batches, _ = compact(log)
        producers = [ActiveProducer(7, epoch, None)]
        batches, _ = compact(log, batches, now_ms=RETENTION_MS, producers=producers)
        assert [batch.header.record_count for batch in parse(batches) if batch.header] == [
            0
        ] * count


def old_log(magic: int, codec: Codec) -> WrittenLog:
    contents = [(b"a", b"1"), (b"b", b"1"), (b"a", None)]
    records = [Record(n, 100 + n if magic else -1, *content) for n, content in enumerate(contents)]
    log = WrittenLog(batches=[build_message_set(records, magic=magic, codec=codec)], end_offset=3)
    return log


def test_old_formats_are_compacted_in_their_own_format() -> None:
    for magic in (0, 1):
        for codec in (Codec.NONE, Codec.GZIP):
            log = old_log(magic, codec)
            batches, _ = compact(log)
            found = list(read_batches(b"".join(batches)))
            assert [(batch.magic, batch.codec) for batch in found] == [(magic, codec)] * len(found)
            assert [r.offset for batch in found for r in batch.records()] == [1, 2]


def test_tombstones_of_old_formats_go_with_the_age_of_their_segment() -> None:
    log = old_log(1, Codec.NONE)
    assert fates(log)[2] == (2, Verdict.KEPT_OLD_TOMBSTONE, None)
    gone = fates(log, keeps_old_tombstones=False)
    assert gone[2] == (2, Verdict.DROPPED_TOMBSTONE, None)
