"""How many blocks are set aside for a segment, and when."""

from __future__ import annotations

from ottla.storage.reserve import LEAST_BYTES, Reserve, within

MB = 1_000_000
SEGMENT_BYTES = 1 << 30


def grown(reserve: Reserve, *, size_bytes: int, now_ms: int) -> int:
    assert size_bytes >= reserve.due_bytes
    return reserve.next_bytes(size_bytes, SEGMENT_BYTES, now_ms=now_ms)


def begun() -> Reserve:
    reserve = Reserve()
    assert grown(reserve, size_bytes=1, now_ms=0) == 0
    return reserve


def test_a_slow_writer_gets_the_least() -> None:
    reserve = begun()
    assert grown(reserve, size_bytes=20 * MB, now_ms=3_600_000) == LEAST_BYTES
    assert reserve.end == reserve.due_bytes == 20 * MB + LEAST_BYTES


def test_a_fast_writer_gets_what_the_next_five_seconds_need() -> None:
    reserve = begun()
    assert grown(reserve, size_bytes=20 * MB + 1, now_ms=1_000) == 100 * MB
    # It has become slower since: what counts is the time from then to now.
    assert grown(reserve, size_bytes=120 * MB + 1, now_ms=11_000) == 50 * MB


def test_the_fastest_gets_all_but_the_segments_last_part() -> None:
    reserve = begun()
    wanted = grown(reserve, size_bytes=20 * MB, now_ms=10)
    assert reserve.end == 20 * MB + wanted == SEGMENT_BYTES - LEAST_BYTES
    assert grown(reserve, size_bytes=reserve.due_bytes, now_ms=20) == 0


def test_a_clock_that_was_set_back_asks_for_no_more_than_the_segment() -> None:
    reserve = begun()
    assert 0 < grown(reserve, size_bytes=20 * MB, now_ms=-1_000) < SEGMENT_BYTES


def test_a_disk_that_is_nearly_full_keeps_its_blocks_for_all() -> None:
    assert within(160 * MB, 20 * MB) == 10 * MB
    assert within(1_000 * MB, 20 * MB) == 20 * MB
    assert within(0, 20 * MB) == 0
