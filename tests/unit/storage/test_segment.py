"""One segment: when it is old, what its indexes hold, what a cut leaves."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from ottla.simulation.disk import SimulatedDisk
from ottla.storage.config import LogConfig
from ottla.storage.disk import RealDisk
from ottla.storage.files import DiskFailed, Room
from ottla.storage.recovery import Found, open_log
from ottla.storage.segment import Append, Segment
from tests.unit.storage.logs import NOW_MS, append, batch, new_log


def segment_of(config: LogConfig, *timestamps: int) -> Segment:
    disk = SimulatedDisk(random.Random(0))
    disk.make_folder("/data/t-0")
    segment = Segment.create(disk, "/data/t-0", 0, config, now_ms=NOW_MS)
    for number, timestamp in enumerate(timestamps):
        segment.write([Append(batch(b"x"), number, number, timestamp, number)], now_ms=NOW_MS)
    return segment


def test_a_segment_is_old_when_its_first_batch_is_older_than_segment_ms() -> None:
    segment = segment_of(LogConfig(segment_ms=1_000), NOW_MS)
    assert not segment.is_old(NOW_MS + 1_000, now_ms=NOW_MS)
    assert segment.is_old(NOW_MS + 1_001, now_ms=NOW_MS)
    segment.jitter_ms = 100
    assert segment.is_old(NOW_MS + 901, now_ms=NOW_MS)


def test_an_empty_segment_is_never_old() -> None:
    assert not segment_of(LogConfig(segment_ms=1)).is_old(NOW_MS * 2, now_ms=NOW_MS * 2)


def test_without_timestamps_the_segment_s_own_age_counts() -> None:
    segment = segment_of(LogConfig(segment_ms=1_000), -1)
    assert not segment.is_old(-1, now_ms=NOW_MS + 1_000)
    assert segment.is_old(-1, now_ms=NOW_MS + 1_001)


def test_a_compacted_log_closes_segments_in_time_for_max_compaction_lag() -> None:
    config = LogConfig(segment_ms=1_000, compacts=True, max_compaction_lag_ms=10)
    assert segment_of(config, NOW_MS).is_old(NOW_MS + 11, now_ms=NOW_MS)


def test_an_entry_is_added_before_the_append_that_follows_the_interval() -> None:
    segment = segment_of(LogConfig(index_interval_bytes=100), *range(NOW_MS, NOW_MS + 6))
    size = len(batch(b"x"))  # 69 bytes: two of them exceed the interval
    assert segment.offset_index.entries() == [(2, 2 * size), (4, 4 * size)]
    assert segment.time_index.entries() == [(NOW_MS + 2, 2), (NOW_MS + 4, 4)]


def test_a_full_index_asks_for_the_next_segment() -> None:
    segment = segment_of(LogConfig(index_interval_bytes=1, segment_index_bytes=36))
    for number in range(3):
        assert segment.has_room_for(number, 69)
        segment.write([Append(batch(b"x"), number, number, NOW_MS + number, number)], now_ms=NOW_MS)
    assert not segment.has_room_for(3, 69)


def test_an_offset_too_far_from_the_base_needs_another_segment() -> None:
    segment = segment_of(LogConfig())
    assert segment.has_room_for(2**31 - 1, 69)
    assert not segment.has_room_for(2**31, 69)


@pytest.mark.parametrize("offset", range(1, 10))
def test_after_a_cut_the_indexes_speak_only_of_what_is_left(offset: int) -> None:
    log = new_log(LogConfig(index_interval_bytes=100))
    for number in range(10):
        append(log, b"x" * 20, timestamp=NOW_MS + number)
    log.active.truncate(offset)
    assert all(entry < offset for entry, _ in log.active.offset_index.entries())
    assert all(entry < offset for _, entry in log.active.time_index.entries())
    assert log.active.max_timestamp == NOW_MS + offset - 1


def test_reserved_blocks_do_not_make_the_file_longer() -> None:
    segment = segment_of(LogConfig(preallocate=True, segment_bytes=10_000), NOW_MS)
    assert segment.log.size() == segment.size_bytes
    segment.seal()
    assert segment.log.size() == segment.size_bytes


def test_nothing_to_write_changes_nothing() -> None:
    segment = segment_of(LogConfig())
    segment.write([], now_ms=NOW_MS)
    assert (segment.size_bytes, segment.first_timestamp) == (0, None)


def grow(segment: Segment, *, megabytes: int) -> None:
    piece = bytes(1_000_000)
    for _ in range(megabytes):
        number = segment.size_bytes // len(piece)
        append = Append(piece, number, number, NOW_MS, number)
        segment.write([append], now_ms=NOW_MS + number * 1_000)


def test_a_segment_that_grows_has_blocks_set_aside_until_it_is_sealed(tmp_path: Path) -> None:
    segment = Segment.create(RealDisk(), str(tmp_path), 0, LogConfig(), now_ms=NOW_MS)
    segment.log.reserve(1_000_000)
    if os.stat(segment.log.path).st_blocks * 512 < 1_000_000:
        pytest.skip("this file system reserves nothing")
    segment.log.truncate(0)
    grow(segment, megabytes=20)
    found = os.stat(segment.log.path)
    assert found.st_size == 20_000_000
    assert found.st_blocks * 512 > 30_000_000
    segment.seal()
    found = os.stat(segment.log.path)
    assert found.st_size == 20_000_000
    assert found.st_blocks * 512 < 21_000_000


def test_a_small_segment_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    segment = segment_of(LogConfig())
    reserved: list[int] = []
    monkeypatch.setattr(type(segment.log), "reserve", lambda file, length: reserved.append(length))
    grow(segment, megabytes=15)
    assert reserved == []
    grow(segment, megabytes=10)
    assert len(reserved) == 1


def test_what_is_set_aside_ends_with_the_segment(monkeypatch: pytest.MonkeyPatch) -> None:
    segment = segment_of(LogConfig(segment_bytes=60_000_000))
    reserved: list[int] = []
    given_back: list[int] = []
    kind = type(segment.log)
    monkeypatch.setattr(kind, "reserve", lambda file, length: reserved.append(length))
    monkeypatch.setattr(kind, "truncate", lambda file, size: given_back.append(size))
    grow(segment, megabytes=60)
    segment.seal()
    assert len(reserved) == 1
    assert given_back == []  # the roll would wait for a busy disk


def test_a_full_disk_is_not_asked_for_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    segment = segment_of(LogConfig())
    reserved: list[int] = []
    monkeypatch.setattr(type(segment.log), "reserve", lambda file, length: reserved.append(length))
    monkeypatch.setattr(type(segment._disk), "room", lambda disk, path: Room(1 << 40, 15))
    grow(segment, megabytes=40)
    assert reserved == []


@pytest.mark.parametrize("error", [OSError(28, "full"), DiskFailed("/data", OSError(5, "EIO"))])
def test_a_write_has_succeeded_even_if_no_blocks_can_be_set_aside(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    segment = segment_of(LogConfig())

    def refuse(file: object, length: int) -> None:
        raise error

    monkeypatch.setattr(type(segment.log), "reserve", refuse)
    grow(segment, megabytes=40)
    assert segment.size_bytes == segment.log.size() == 40_000_000


def test_what_a_crash_left_set_aside_is_given_back_at_the_roll(tmp_path: Path) -> None:
    config, folder = LogConfig(max_message_bytes=2_000_000), f"{tmp_path}/t-0"
    log = open_log(RealDisk(), folder, config, Found(was_clean=True), now_ms=NOW_MS)
    log.active.log.append([bytes(batch(b"x"))])
    log.active.log.reserve(10_000_000)
    path = log.active.log.path
    if os.stat(path).st_blocks * 512 < 10_000_000:
        pytest.skip("this file system reserves nothing")
    again = open_log(RealDisk(), folder, config, Found(was_clean=False), now_ms=NOW_MS)
    assert again.next_offset == 1
    again.roll(now_ms=NOW_MS)
    assert os.stat(path).st_blocks * 512 < 100_000
