"""The log through its own doors: append, commit, roll, read, cut, close, open again."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from ottla.protocol.errors import ErrorCode, KafkaError
from ottla.protocol.records.batch import BATCH_OVERHEAD, build_batch
from ottla.protocol.records.control import ControlType
from ottla.protocol.records.record import Record
from ottla.protocol.records.record_set import read_batches
from ottla.simulation.disk import SimulatedDisk
from ottla.storage.config import LogConfig, TimestampPolicy
from ottla.storage.cutting import advance_start, drop_oldest, restart, truncate
from ottla.storage.flushing import close, flush
from ottla.storage.recovery import Found, open_log
from tests.unit.storage.logs import FOLDER, NOW_MS, append, batch, contents, new_log

SMALL = LogConfig(segment_bytes=400, index_interval_bytes=100)


def test_offsets_follow_each_other() -> None:
    log = new_log()
    assert append(log, b"a", b"b") == 0
    assert append(log, b"c") == 2
    assert contents(log) == [(0, b"a"), (1, b"b"), (2, b"c")]


def test_appends_of_one_tick_are_one_write() -> None:
    disk = SimulatedDisk(random.Random(0))
    log = new_log(disk=disk)
    log.start_epoch(0)
    before = len(disk.operations)
    for value in (b"a", b"b", b"c"):
        log.append(batch(value), leader_epoch=0, now_ms=NOW_MS)
    log.commit()
    assert len(disk.operations) - before == 1


def test_a_full_disk_leaves_the_log_and_the_producers_as_they_were() -> None:
    disk = SimulatedDisk(random.Random(0))
    log = new_log(disk=disk)
    append(log, b"kept")
    disk.fill_up()
    sent = batch(b"lost", producer_id=7, producer_epoch=0, base_sequence=0)
    appended = log.append(sent, leader_epoch=0, now_ms=NOW_MS)
    with pytest.raises(OSError, match="space"):
        log.commit()
    assert appended.group is not None
    assert isinstance(appended.group.error, OSError)
    assert log.next_offset == 1
    assert log.producers.active_producers() == []
    assert contents(log) == [(0, b"kept")]


def test_a_read_sees_what_is_still_queued() -> None:
    log = new_log()
    log.append(batch(b"a"), leader_epoch=0, now_ms=NOW_MS)
    assert contents(log) == [(0, b"a")]


def test_a_segment_that_is_full_is_followed_by_the_next() -> None:
    log = new_log(SMALL)
    for number in range(20):
        append(log, b"%d" % number * 20)
    assert len(log.segments) > 3
    assert log.segments[0].base_offset == 0
    assert [value for _, value in contents(log)] == [b"%d" % n * 20 for n in range(20)]


def test_a_segment_is_rolled_by_the_age_of_its_first_record() -> None:
    log = new_log(LogConfig(segment_ms=1000))
    append(log, b"a", timestamp=NOW_MS)
    append(log, b"b", timestamp=NOW_MS + 1000)
    assert len(log.segments) == 1
    append(log, b"c", timestamp=NOW_MS + 1001)
    assert len(log.segments) == 2


def test_a_read_from_inside_a_batch_gives_the_whole_batch() -> None:
    log = new_log()
    append(log, b"a", b"b", b"c")
    found = log.read(2, max_bytes=1, up_to=3)
    assert found is not None
    assert found.first_offset == 0
    assert found.length == log.size_bytes


def test_a_read_stops_at_the_high_watermark() -> None:
    log = new_log()
    append(log, b"a")
    first_size = log.size_bytes
    append(log, b"b")
    found = log.read(0, max_bytes=10_000, up_to=1)
    assert found is not None
    assert found.length == first_size
    assert log.read(1, max_bytes=10_000, up_to=1) is None


@pytest.mark.parametrize("offset", [-1, 2, 100])
def test_a_read_outside_the_log_is_refused(offset: int) -> None:
    log = new_log()
    append(log, b"a")
    with pytest.raises(KafkaError, match="OFFSET_OUT_OF_RANGE"):
        log.read(offset, max_bytes=100, up_to=1)


def test_the_first_record_at_or_after_a_time_is_found() -> None:
    log = new_log(SMALL)
    for number in range(30):
        append(log, b"x" * 20, timestamp=NOW_MS + number * 10)
    assert log.find_timestamp(NOW_MS + 95) == (NOW_MS + 100, 10)
    assert log.find_timestamp(NOW_MS + 100) == (NOW_MS + 100, 10)
    assert log.find_timestamp(0) == (NOW_MS, 0)
    assert log.find_timestamp(NOW_MS + 291) is None


def test_a_batch_sent_twice_gets_its_first_offset_again() -> None:
    log = new_log()
    append(log, b"before")

    def send() -> int:
        sent = batch(b"a", b"b", producer_id=7, producer_epoch=0, base_sequence=0)
        appended = log.append(sent, leader_epoch=0, now_ms=NOW_MS)
        log.commit()
        return appended.first_offset

    assert send() == 1
    assert send() == 1
    assert log.next_offset == 3


def test_a_duplicate_of_what_is_still_queued_shares_its_fate() -> None:
    log = new_log()
    first, second = (
        log.append(
            batch(b"a", producer_id=7, producer_epoch=0, base_sequence=0),
            leader_epoch=0,
            now_ms=NOW_MS,
        )
        for _ in range(2)
    )
    assert second.first_offset == first.first_offset
    assert second.group is first.group


def test_an_aborted_transaction_is_listed_and_bounds_the_last_stable_offset() -> None:
    log = new_log()
    sent = batch(b"a", producer_id=7, producer_epoch=0, base_sequence=0, is_transactional=True)
    log.append(sent, leader_epoch=0, now_ms=NOW_MS)
    log.commit()
    log.advance_high_watermark(1)
    assert log.last_stable_offset == 0
    log.append_marker(
        ControlType.ABORT,
        producer_id=7,
        producer_epoch=0,
        coordinator_epoch=0,
        leader_epoch=0,
        now_ms=NOW_MS,
    )
    log.commit()
    log.advance_high_watermark(2)
    assert log.last_stable_offset == 2
    found = log.read(0, max_bytes=1000, up_to=2)
    assert found is not None
    assert [(t.producer_id, t.first_offset) for t in log.aborted_transactions(found, 0)] == [(7, 0)]


def test_truncation_cuts_segments_epochs_and_producers() -> None:
    log = new_log(SMALL)
    for number in range(20):
        log.append(
            batch(b"x" * 20, producer_id=7, producer_epoch=0, base_sequence=number),
            leader_epoch=number // 10,
            now_ms=NOW_MS,
        )
        log.commit()
    assert truncate(log, 7, now_ms=NOW_MS)
    assert log.next_offset == 7
    assert [offset for offset, _ in contents(log)] == list(range(7))
    assert [entry.epoch for entry in log.epochs.entries] == [0]
    state = log.producers.get(7)
    assert state is not None
    assert state.last_sequence == 6
    assert append(log, b"new") == 7


def test_a_log_can_start_afresh_at_a_later_offset() -> None:
    log = new_log(SMALL)
    for _ in range(10):
        append(log, b"x" * 20)
    restart(log, 1000, now_ms=NOW_MS)
    assert (log.log_start_offset, log.next_offset) == (1000, 1000)
    assert append(log, b"a") == 1000


def test_dropped_segments_are_renamed_and_the_log_starts_later() -> None:
    log = new_log(SMALL)
    for _ in range(20):
        append(log, b"x" * 20)
    start = log.segments[2].base_offset
    renamed = drop_oldest(log, 2, now_ms=NOW_MS)
    assert log.log_start_offset == start
    assert all(path.endswith(".deleted") for path in renamed)
    assert contents(log)[0][0] == start


def test_records_before_the_log_start_are_gone() -> None:
    log = new_log()
    append(log, b"a", b"b", b"c")
    advance_start(log, 2)
    assert contents(log) == [(2, b"c")]
    with pytest.raises(KafkaError, match="OFFSET_OUT_OF_RANGE"):
        log.read(1, max_bytes=100, up_to=3)


@pytest.mark.parametrize("is_flushed", [False, True])
def test_the_start_moves_without_waiting_for_the_disk_and_the_epochs_with_it(
    is_flushed: bool,
) -> None:
    disk = SimulatedDisk(random.Random(0))
    log = new_log(SMALL, disk)
    for number in range(30):
        log.append(batch(b"x" * 20), leader_epoch=number // 10, now_ms=NOW_MS)
    flush(log)
    before = len(disk.operations)
    advance_start(log, 15)
    assert len(disk.operations) == before
    if is_flushed:
        log.append(batch(b"more"), leader_epoch=2, now_ms=NOW_MS)
        flush(log)
    expected = log.epochs.entries
    assert expected == ((1, 15), (2, 20))
    found = Found(was_clean=False, recovery_point=log.recovery_point, log_start_offset=15)
    again = open_log(disk.crash(), FOLDER, SMALL, found, now_ms=NOW_MS)
    assert again.epochs.entries == expected


def test_a_log_that_was_closed_opens_as_it_was_without_a_look_at_its_batches() -> None:
    disk = SimulatedDisk(random.Random(0))
    log = new_log(SMALL, disk)
    for number in range(20):
        log.append(
            batch(b"x" * 20, producer_id=7, producer_epoch=0, base_sequence=number),
            leader_epoch=3,
            now_ms=NOW_MS,
        )
    expected = contents(log)
    states = log.producers.active_producers()
    close(log)
    again = open_log(disk, FOLDER, SMALL, Found(was_clean=True), now_ms=NOW_MS)
    assert contents(again) == expected
    assert [s.producer_id for s in again.producers.active_producers()] == [7]
    assert again.producers.active_producers()[0].last_sequence == states[0].last_sequence
    assert again.recovery_point == again.next_offset


def test_what_was_flushed_survives_a_power_cut() -> None:
    disk = SimulatedDisk(random.Random(1))
    log = new_log(SMALL, disk)
    for _ in range(10):
        append(log, b"x" * 20)
    flush(log)
    expected = contents(log)
    append(log, b"perhaps")
    after = disk.crash()
    again = open_log(
        after, FOLDER, SMALL, Found(False, recovery_point=log.recovery_point), now_ms=NOW_MS
    )
    assert contents(again)[: len(expected)] == expected


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"max_message_bytes": 50}, ErrorCode.MESSAGE_TOO_LARGE),
        ({"compacts": True}, ErrorCode.INVALID_RECORD),
        ({"timestamp_before_max_ms": 10}, ErrorCode.INVALID_TIMESTAMP),
        ({"timestamp_after_max_ms": 10}, ErrorCode.INVALID_TIMESTAMP),
    ],
)
def test_the_topic_s_rules_are_kept(change: dict[str, int], code: ErrorCode) -> None:
    log = new_log(replace(LogConfig(), **change))  # type: ignore[arg-type]
    late = -100 if "timestamp_before_max_ms" in change else 100
    with pytest.raises(KafkaError) as refusal:
        log.append(batch(b"x", timestamp=NOW_MS + late), leader_epoch=0, now_ms=NOW_MS)
    assert refusal.value.code is code
    assert log.next_offset == 0


@pytest.mark.parametrize("config", [SMALL, replace(SMALL, compacts=True, deletes=False)])
def test_what_a_coordinator_made_becomes_the_batch_that_it_would_have_sealed_itself(
    config: LogConfig,
) -> None:
    own, sealed = new_log(config), new_log(config)
    assert own.takes_own
    for turn, count in enumerate((1, 3, 1, 2, 1, 1)):
        records = [Record(i, NOW_MS, b"k%d" % i, bytes(20)) for i in range(count)]
        whole = build_batch(records)
        for log, payload in ((own, whole[BATCH_OVERHEAD:]), (sealed, None)):
            if payload is not None:
                log.append_own(payload, count, leader_epoch=turn // 3, now_ms=NOW_MS)
            else:
                view = memoryview(bytearray(whole))
                log.append(view, leader_epoch=turn // 3, now_ms=NOW_MS, from_client=False)
            if turn % 2:
                log.commit()
    assert len(own.segments) > 1
    assert [each.log.read(0, 1 << 20) for each in own.segments] == [
        each.log.read(0, 1 << 20) for each in sealed.segments
    ]
    assert own.epochs.entries == sealed.epochs.entries


@pytest.mark.parametrize(
    ("config", "code"),
    [
        (LogConfig(max_message_bytes=100), ErrorCode.MESSAGE_TOO_LARGE),
        (LogConfig(segment_bytes=100), ErrorCode.RECORD_LIST_TOO_LARGE),
    ],
)
def test_what_a_coordinator_made_may_be_too_large(config: LogConfig, code: ErrorCode) -> None:
    log = new_log(config)
    with pytest.raises(KafkaError) as refusal:
        log.append_own(bytes(40), 1, leader_epoch=0, now_ms=NOW_MS)
    assert refusal.value.code is code
    assert log.next_offset == 0


def test_the_broker_s_time_replaces_the_producer_s() -> None:
    log = new_log(LogConfig(timestamp_policy=TimestampPolicy.LOG_APPEND_TIME))
    appended = log.append(batch(b"x", timestamp=5), leader_epoch=0, now_ms=NOW_MS)
    assert appended.log_append_time == NOW_MS
    assert log.find_timestamp(6) == (NOW_MS, 0)


def test_a_topic_s_codec_replaces_the_producer_s() -> None:
    log = new_log(LogConfig(compression_type="zstd"))
    append(log, b"x" * 1000)
    assert log.size_bytes < 200
    assert contents(log) == [(0, b"x" * 1000)]


@pytest.mark.parametrize("magic", [0, 1])
def test_a_topic_in_an_old_format_takes_what_new_producers_send(magic: int) -> None:
    log = new_log(LogConfig(message_magic=magic))
    append(log, b"a", b"b")
    found = log.read(0, max_bytes=1000, up_to=2)
    assert found is not None
    assert [batch.magic for batch in read_batches(found.read())] == [magic, magic]
    assert contents(log) == [(0, b"a"), (1, b"b")]
    assert log.epochs.entries == ()  # its batches have no place for them


def test_a_segment_without_timestamps_has_no_entry_in_its_time_index() -> None:
    for config in (LogConfig(), LogConfig(message_magic=0)):
        log = new_log(config)
        if config.message_magic == 0:
            append(log, b"a")
        close(log)
        assert log.active.time_index.entries() == []
        assert log.disk.read(log.active.path(".timeindex")) == b""


def test_a_slice_tells_whether_it_is_cold_and_can_be_warmed() -> None:
    log = new_log()
    append(log, b"a")
    found = log.read(0, max_bytes=1000, up_to=1)
    assert found is not None
    assert found.is_cached()
    found.read_ahead()
    assert len(found.read()) == found.length
