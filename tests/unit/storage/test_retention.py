"""Which segments go, for which reason, and which never do."""

from __future__ import annotations

from ottla.storage.config import LogConfig
from ottla.storage.retention import Breach, Expiry, SegmentFacts, expired_segments

DAY = 24 * 60 * 60 * 1000
NOW = 100 * DAY
FOREVER = LogConfig(retention_ms=-1, retention_bytes=-1)


def segment(base_offset: int, size_bytes: int = 100, *, days_old: float = 0) -> SegmentFacts:
    written = int(NOW - days_old * DAY)
    return SegmentFacts(base_offset, size_bytes, modified_ms=written, max_timestamp=written)


def expired(
    segments: list[SegmentFacts],
    config: LogConfig,
    *,
    high_watermark: int = 40,
    log_start_offset: int = 0,
) -> Expiry:
    return expired_segments(
        segments,
        config,
        now_ms=NOW,
        high_watermark=high_watermark,
        log_start_offset=log_start_offset,
        log_end_offset=40,
    )


OLD_LOG = [segment(0, days_old=9), segment(10, days_old=8), segment(20, days_old=1), segment(30)]


def test_segments_older_than_retention_ms_go() -> None:
    assert expired(OLD_LOG, LogConfig()) == Expiry((Breach.TIME, Breach.TIME), False)


def test_a_segment_of_exactly_the_limit_stays() -> None:
    assert expired([segment(0, days_old=7), segment(30)], LogConfig()).breaches == ()


def test_an_old_segment_behind_a_young_one_waits_for_it() -> None:
    log = [segment(0, days_old=1), segment(10, days_old=9), segment(30)]
    assert expired(log, LogConfig()).breaches == ()


def test_without_timestamps_the_files_age_counts() -> None:
    old = SegmentFacts(0, 100, modified_ms=NOW - 8 * DAY, max_timestamp=-1)
    assert expired([old, segment(30)], LogConfig()).breaches == (Breach.TIME,)


def test_no_limit_means_none() -> None:
    assert expired(OLD_LOG, FOREVER).breaches == ()


def test_the_oldest_go_while_the_rest_is_still_as_large_as_retention_bytes() -> None:
    for limit, count in ((401, 0), (400, 0), (300, 1), (201, 1), (200, 2), (1, 3), (0, 4)):
        config = LogConfig(retention_ms=-1, retention_bytes=limit)
        assert expired(OLD_LOG, config).breaches == (Breach.SIZE,) * count


def test_segments_before_the_log_start_offset_go_under_any_policy() -> None:
    config = LogConfig(deletes=False, compacts=True, retention_bytes=0)
    for start, count in ((9, 0), (10, 1), (29, 2), (30, 3), (40, 3)):
        found = expired(OLD_LOG, config, log_start_offset=start)
        assert found == Expiry((Breach.LOG_START,) * count, False)


def test_the_limits_are_applied_in_kafkas_order_each_to_what_is_left() -> None:
    log = [segment(0), segment(10), segment(20, days_old=8), segment(30)]
    config = LogConfig(retention_bytes=200)
    found = expired(log, config, log_start_offset=10)
    assert found.breaches == (Breach.LOG_START, Breach.SIZE, Breach.TIME)


def test_nothing_at_or_beyond_the_high_watermark_goes() -> None:
    config = LogConfig(retention_bytes=0)
    for high_watermark, count in ((9, 0), (10, 1), (25, 2), (39, 3), (40, 4)):
        found = expired(OLD_LOG, config, high_watermark=high_watermark)
        assert len(found.breaches) == count


def test_the_active_segment_goes_only_after_a_roll() -> None:
    log = [segment(0, days_old=9), segment(30, days_old=8)]
    assert expired(log, LogConfig()) == Expiry((Breach.TIME, Breach.TIME), rolls_first=True)


def test_an_empty_active_segment_stays() -> None:
    log = [segment(0, days_old=9), segment(40, 0, days_old=9)]
    assert expired(log, LogConfig()) == Expiry((Breach.TIME,), rolls_first=False)
    assert expired([segment(40, 0, days_old=9)], LogConfig()) == Expiry((), rolls_first=False)
