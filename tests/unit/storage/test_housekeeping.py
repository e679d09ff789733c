"""Retention, idle producers and flushes as a log has them applied."""

from __future__ import annotations

from ottla.storage.config import LogConfig
from ottla.storage.flushing import begin_flush, end_flush
from ottla.storage.housekeeping import apply_retention, flush_is_due, forget_idle_producers
from ottla.storage.log import Log
from ottla.storage.retention import Breach
from tests.unit.storage.logs import NOW_MS, append, batch, contents, new_log


def filled(config: LogConfig, count: int = 20) -> Log:
    log = new_log(config)
    for number in range(count):
        append(log, b"x" * 20, timestamp=NOW_MS + number)
    log.advance_high_watermark(log.next_offset)
    return log


def test_old_segments_go_and_the_log_starts_later() -> None:
    log = filled(LogConfig(segment_bytes=400, retention_ms=1000))
    breaches, renamed = apply_retention(log, now_ms=NOW_MS + 1010)
    assert set(breaches) == {Breach.TIME}
    assert 0 < log.log_start_offset <= 10
    assert contents(log)[0][0] == log.log_start_offset
    assert renamed


def test_a_log_whose_records_are_all_old_becomes_empty_but_keeps_its_place() -> None:
    log = filled(LogConfig(segment_bytes=400, retention_ms=1000))
    apply_retention(log, now_ms=NOW_MS + 1_000_000)
    assert contents(log) == []
    assert log.log_start_offset == log.next_offset == 20
    assert append(log, b"new") == 20


def test_what_is_above_the_high_watermark_stays() -> None:
    log = new_log(LogConfig(segment_bytes=400, retention_ms=1000))
    for _ in range(20):
        append(log, b"x" * 20)
    assert apply_retention(log, now_ms=NOW_MS + 1_000_000) == ((), [])


def test_the_oldest_segments_go_until_the_log_is_small_enough() -> None:
    log = filled(LogConfig(segment_bytes=400, retention_bytes=900, retention_ms=-1))
    apply_retention(log, now_ms=NOW_MS)
    assert 900 <= log.size_bytes < 900 + 400


def test_an_idle_producer_is_forgotten() -> None:
    log = new_log(LogConfig(producer_id_expiration_ms=1000))
    sent = batch(b"x", producer_id=7, producer_epoch=0, base_sequence=0)
    log.append(sent, leader_epoch=0, now_ms=NOW_MS)
    assert forget_idle_producers(log, now_ms=NOW_MS + 999) == 0
    assert forget_idle_producers(log, now_ms=NOW_MS + 1000) == 1


def test_a_flush_is_due_by_the_number_of_records_and_by_time() -> None:
    log = new_log(LogConfig(flush_messages=3, flush_ms=1000))
    log.flushed_ms = NOW_MS
    append(log, b"a", b"b")
    assert not flush_is_due(log, now_ms=NOW_MS)
    assert flush_is_due(log, now_ms=NOW_MS + 1000)
    append(log, b"c")
    assert flush_is_due(log, now_ms=NOW_MS)
    begun = begin_flush(log)
    assert begun is not None
    begun.run()
    end_flush(log, begun, now_ms=NOW_MS)
    assert not flush_is_due(log, now_ms=NOW_MS)
