"""When an index entry is due, and what a rebuilt index changes."""

from __future__ import annotations

import pytest

from ottla.logtools.index import IndexBuilder, changes, rebuild, write
from ottla.storage.files import CorruptLog
from ottla.storage.names import FileName, Kind
from tests.unit.logtools.partitions import INDEX, LOG, TIME_INDEX, data, partition, put

NAME = FileName(0, Kind.LOG)


def built(
    batches: list[tuple[int, int, int]], *, interval_bytes: int
) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Entries for batches of (position, last offset, largest timestamp)."""
    builder = IndexBuilder(0, interval_bytes=interval_bytes)
    for position, last_offset, timestamp in batches:
        builder.add(position=position, last_offset=last_offset, max_timestamp=timestamp)
    builder.close()
    return builder.offsets, builder.times


def test_an_entry_needs_more_bytes_than_the_interval_before_it() -> None:
    batches = [(0, 0, 10), (100, 1, 11), (201, 2, 12), (301, 3, 13), (402, 4, 14)]
    offsets, times = built(batches, interval_bytes=200)
    assert offsets == [(2, 201), (4, 402)]
    assert times == [(12, 2), (14, 4)]


def test_the_first_batch_never_has_an_entry() -> None:
    assert built([(0, 0, 10)], interval_bytes=0) == ([], [(10, 0)])


def test_a_time_entry_names_the_largest_timestamp_so_far() -> None:
    batches = [(0, 0, 50), (100, 1, 20), (200, 2, 30)]
    assert built(batches, interval_bytes=99) == ([(1, 100), (2, 200)], [(50, 0)])


def test_records_without_a_time_have_no_time_entries() -> None:
    assert built([(0, 0, -1), (100, 1, -1)], interval_bytes=0) == ([(1, 100)], [])


def test_an_index_that_is_right_is_left_alone() -> None:
    disk = partition([data(offset) for offset in range(9)])
    found = changes(disk, LOG, NAME, rebuild(disk, LOG, NAME, interval_bytes=100))
    assert [change.is_same for change in found] == [True, True]


def test_what_would_change_is_told_entry_by_entry() -> None:
    disk = partition([data(offset) for offset in range(4)], interval_bytes=100)
    put(disk, INDEX, bytes(8))
    disk.remove(TIME_INDEX)
    rebuilt = rebuild(disk, LOG, NAME, interval_bytes=100)
    offsets, times = changes(disk, LOG, NAME, rebuilt)
    assert (offsets.removed(), offsets.added()) == ([(0, 0)], rebuilt.offsets)
    assert (times.present, times.added()) == (None, rebuilt.times)
    write(disk, offsets)
    write(disk, times)
    assert all(change.is_same for change in changes(disk, LOG, NAME, rebuilt))


@pytest.mark.parametrize(
    ("content", "position"),
    [
        (data(0) + data(1)[:-1], len(data(0))),
        (data(0) + data(1)[:-1] + b"\1", len(data(0))),
        (data(1 << 32), 0),
    ],
)
def test_a_damaged_log_is_refused_at_its_place(content: bytes, position: int) -> None:
    disk = partition([])
    put(disk, LOG, content)
    with pytest.raises(CorruptLog) as refused:
        rebuild(disk, LOG, NAME)
    assert (refused.value.path, refused.value.position) == (LOG, position)
