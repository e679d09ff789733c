"""What every disk does, the real one and the simulated one."""

from __future__ import annotations

import errno
import random
import resource
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from ottla.simulation.disk import SimulatedDisk
from ottla.storage.disk import MOST_PIECES, RealDisk
from ottla.storage.files import Disk, DiskFailed, Status


@pytest.fixture(params=["real", "simulated"])
def disk(request: pytest.FixtureRequest) -> Disk:
    if request.param == "real":
        return RealDisk()
    return SimulatedDisk(random.Random(1), now_ms=lambda: 1_700_000_000_000)


@pytest.fixture
def folder(disk: Disk, tmp_path: Path) -> str:
    """An empty folder."""
    path = f"{tmp_path}/log"
    disk.make_folder(path)
    return path


NO_ROOM = "No space left|File too large"
Full = Callable[[int], AbstractContextManager[None]]


@pytest.fixture
def full_after(disk: Disk) -> Full:
    """Within it, no file of the test finds room beyond so many bytes."""

    @contextmanager
    def full(size: int) -> Iterator[None]:
        if isinstance(disk, SimulatedDisk):
            disk.faults.capacity_bytes = size
            yield
            disk.faults.capacity_bytes = None
            return
        # EFBIG stands for ENOSPC: a write beyond the limit lands in part, then fails.
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    return full


def put(disk: Disk, path: str, data: bytes) -> None:
    file = disk.open(path, create=True)
    file.append([data])
    file.close()


def test_a_file_that_is_not_there_is_opened_only_to_be_created(disk: Disk, folder: str) -> None:
    with pytest.raises(FileNotFoundError):
        disk.open(f"{folder}/a")
    assert disk.names(folder) == []
    file = disk.open(f"{folder}/a", create=True)
    assert (file.path, file.size()) == (f"{folder}/a", 0)
    assert disk.names(folder) == ["a"]


def test_an_existing_file_keeps_its_bytes_when_opened_to_be_created(
    disk: Disk, folder: str
) -> None:
    put(disk, f"{folder}/a", b"old")
    file = disk.open(f"{folder}/a", create=True)
    assert file.size() == 3
    file.append([b"new"])
    assert file.read(0, 100) == b"oldnew"


def test_a_file_is_not_created_in_a_folder_that_is_not_there(disk: Disk, folder: str) -> None:
    with pytest.raises(FileNotFoundError):
        disk.open(f"{folder}/none/a", create=True)


def test_a_folder_is_no_file(disk: Disk, folder: str) -> None:
    with pytest.raises(IsADirectoryError):
        disk.open(folder)
    with pytest.raises(IsADirectoryError):
        disk.read(folder)
    with pytest.raises(IsADirectoryError):
        disk.remove(folder)


def test_pieces_of_any_kind_are_appended_in_order(disk: Disk, folder: str) -> None:
    file = disk.open(f"{folder}/a", create=True)
    file.append([b"one", bytearray(b"two"), b"", memoryview(b"-three-")[1:-1]])
    file.append([])
    file.append([b""])
    file.append([memoryview(b"four")])
    assert file.size() == 15
    assert file.read(0, 15) == disk.read(f"{folder}/a") == b"onetwothreefour"


@pytest.mark.parametrize("count", [MOST_PIECES - 1, MOST_PIECES, MOST_PIECES + 1, 5 * MOST_PIECES])
def test_more_pieces_than_the_kernel_takes_at_once_are_appended(
    disk: Disk, folder: str, count: int
) -> None:
    pieces = [bytes([index % 251]) * (index % 3) for index in range(count)]
    file = disk.open(f"{folder}/a", create=True)
    file.append([b"before"])
    file.append(pieces)
    assert disk.read(f"{folder}/a") == b"before" + b"".join(pieces)
    assert file.size() == len(disk.read(f"{folder}/a"))


@pytest.mark.parametrize("pieces", [[b"x" * 100], [b"x" * 10] * 10, [b"x"] * 3 * MOST_PIECES])
def test_an_append_that_fails_halfway_leaves_nothing(
    disk: Disk, folder: str, full_after: Full, pieces: list[bytes]
) -> None:
    file = disk.open(f"{folder}/a", create=True)
    file.append([b"kept"])
    with full_after(44), pytest.raises(OSError, match=NO_ROOM):
        file.append(pieces)
    assert (file.size(), disk.read(f"{folder}/a")) == (4, b"kept")
    file.append([b" on"])
    assert disk.read(f"{folder}/a") == b"kept on"


def test_a_write_beyond_the_end_that_fails_does_not_move_the_end(
    disk: Disk, folder: str, full_after: Full
) -> None:
    file = disk.open(f"{folder}/a", create=True)
    file.append([b"kept"])
    with full_after(8), pytest.raises(OSError, match=NO_ROOM):
        file.write(4, b"123456")
    assert (file.size(), disk.read(f"{folder}/a")) == (4, b"kept")


def test_a_replacement_that_fails_leaves_what_was_there(
    disk: Disk, folder: str, full_after: Full
) -> None:
    disk.replace(f"{folder}/a", b"old")
    with full_after(8), pytest.raises(OSError, match=NO_ROOM):
        disk.replace(f"{folder}/a", b"x" * 100)
    assert disk.read(f"{folder}/a") == b"old"
    assert disk.names(folder) == ["a"]


def test_a_read_ends_where_the_file_ends(disk: Disk, folder: str) -> None:
    put(disk, f"{folder}/a", b"0123456789")
    file = disk.open(f"{folder}/a")
    assert file.read(2, 3) == b"234"
    assert file.read(8, 10) == b"89"
    assert file.read(10, 1) == b""
    assert file.read(1_000_000, 1) == b""
    assert file.read(3, 0) == b""


def test_a_negative_position_is_refused(disk: Disk, folder: str) -> None:
    put(disk, f"{folder}/a", b"0123456789")
    file = disk.open(f"{folder}/a")
    with pytest.raises(OSError, match="Invalid argument"):
        file.read(-1, 3)
    with pytest.raises(OSError, match="Invalid argument"):
        file.write(-1, b"x")
    with pytest.raises(OSError, match="Invalid argument"):
        file.truncate(-1)
    assert file.size() == 10


def test_a_write_overwrites_extends_and_fills_with_zeros(disk: Disk, folder: str) -> None:
    file = disk.open(f"{folder}/a", create=True)
    file.append([b"01234"])
    file.write(1, bytearray(b"ab"))
    assert (file.size(), file.read(0, 9)) == (5, b"0ab34")
    file.write(4, memoryview(b"xyz"))
    assert (file.size(), file.read(0, 9)) == (7, b"0ab3xyz")
    file.write(9, b"!")
    assert disk.read(f"{folder}/a") == b"0ab3xyz\0\0!"
    assert file.size() == 10


def test_a_file_is_cut_and_extended(disk: Disk, folder: str) -> None:
    file = disk.open(f"{folder}/a", create=True)
    file.append([b"01234"])
    file.truncate(3)
    assert (file.size(), disk.read(f"{folder}/a")) == (3, b"012")
    file.append([b"x"])
    file.truncate(6)
    assert (file.size(), disk.read(f"{folder}/a")) == (6, b"012x\0\0")


def test_reserved_blocks_do_not_change_the_size(disk: Disk, folder: str) -> None:
    file = disk.open(f"{folder}/a", create=True)
    file.append([b"01"])
    file.reserve(1_000_000)
    assert file.size() == 2
    assert disk.status(f"{folder}/a") == Status(2, _modified(disk, f"{folder}/a"), is_folder=False)
    assert file.read(0, 100) == b"01"
    file.append([b"2"])
    file.close()
    assert disk.read(f"{folder}/a") == b"012"


def test_what_was_opened_for_reading_is_not_written(disk: Disk, folder: str) -> None:
    put(disk, f"{folder}/a", b"01")
    file = disk.open(f"{folder}/a", writable=False)
    changes: list[Callable[[], None]] = [
        lambda: file.append([b"x"]),
        lambda: file.write(0, b"x"),
        lambda: file.truncate(0),
    ]
    for change in changes:
        with pytest.raises(OSError, match=r"Bad file|Invalid argument|for reading"):
            change()
    assert (file.size(), file.read(0, 5)) == (2, b"01")
    file.sync()
    file.close()


def test_a_file_is_synced_and_its_pages_are_spoken_of(disk: Disk, folder: str) -> None:
    file = disk.open(f"{folder}/a", create=True)
    file.append([bytes(100_000)])
    file.start_write_back(0, 100_000)
    file.sync()
    file.read_ahead(0, 100_000)
    file.read_ahead(99_999, 100_000)
    assert file.is_cached(0, 100_000)
    assert file.is_cached(0, 0)


def test_a_closed_file_is_of_no_use_and_may_be_closed_again(disk: Disk, folder: str) -> None:
    file = disk.open(f"{folder}/a", create=True)
    file.append([b"01"])
    file.close()
    file.close()
    for use in (lambda: file.append([b"x"]), lambda: file.read(0, 1), file.sync, file.pin):
        with pytest.raises(OSError, match="closed"):
            use()
    assert disk.read(f"{folder}/a") == b"01"


def test_a_pinned_file_is_read_after_it_was_closed_and_removed(disk: Disk, folder: str) -> None:
    file = disk.open(f"{folder}/a", create=True)
    file.append([b"01"])
    assert file.pin() == file.pin() == file.fileno()
    file.close()
    disk.remove(f"{folder}/a")
    file.unpin()
    assert file.read(0, 5) == b"01"
    file.unpin()
    with pytest.raises(OSError, match="closed"):
        file.read(0, 5)


def test_a_file_follows_its_renames(disk: Disk, folder: str) -> None:
    file = disk.open(f"{folder}/a", create=True)
    file.append([b"a"])
    untouched = disk.open(f"{folder}/a")
    disk.rename(f"{folder}/a", f"{folder}/b")
    put(disk, f"{folder}/a", b"another")
    file.append([b"b"])
    assert file.path == untouched.path == f"{folder}/b"
    assert untouched.read(0, 5) == b"ab"
    assert disk.read(f"{folder}/a") == b"another"


def test_a_file_follows_the_renames_of_its_folders(disk: Disk, folder: str) -> None:
    disk.make_folder(f"{folder}/t-0/inner")
    put(disk, f"{folder}/t-0/a", b"a")
    put(disk, f"{folder}/t-0/inner/b", b"b")
    first = disk.open(f"{folder}/t-0/a")
    second = disk.open(f"{folder}/t-0/inner/b")
    disk.rename(f"{folder}/t-0", f"{folder}/t-0-delete")
    assert first.path == f"{folder}/t-0-delete/a"
    assert (first.read(0, 5), second.read(0, 5)) == (b"a", b"b")


def test_a_removed_file_is_not_mistaken_for_the_next_of_its_name(disk: Disk, folder: str) -> None:
    put(disk, f"{folder}/a", b"old")
    put(disk, f"{folder}/b", b"old")
    removed = disk.open(f"{folder}/a")
    replaced = disk.open(f"{folder}/b")
    disk.remove(f"{folder}/a")
    put(disk, f"{folder}/a", b"new")
    disk.replace(f"{folder}/b", b"new")
    for file in (removed, replaced):
        with pytest.raises(FileNotFoundError):
            file.read(0, 5)
        file.close()
    assert disk.read(f"{folder}/a") == disk.read(f"{folder}/b") == b"new"


def test_a_rename_replaces_a_file(disk: Disk, folder: str) -> None:
    put(disk, f"{folder}/a", b"a")
    put(disk, f"{folder}/b", b"b")
    disk.rename(f"{folder}/a", f"{folder}/b")
    disk.sync_folder(folder)
    assert disk.names(folder) == ["b"]
    assert disk.read(f"{folder}/b") == b"a"
    disk.rename(f"{folder}/b", f"{folder}/b")
    assert disk.read(f"{folder}/b") == b"a"


def test_a_rename_replaces_neither_a_folder_nor_a_file_by_a_folder(disk: Disk, folder: str) -> None:
    disk.make_folder(f"{folder}/full/inner")
    disk.make_folder(f"{folder}/other/inner")
    put(disk, f"{folder}/a", b"a")
    with pytest.raises(FileNotFoundError):
        disk.rename(f"{folder}/none", f"{folder}/b")
    with pytest.raises(IsADirectoryError):
        disk.rename(f"{folder}/a", f"{folder}/full")
    with pytest.raises(NotADirectoryError):
        disk.rename(f"{folder}/full", f"{folder}/a")
    with pytest.raises(OSError, match="not empty"):
        disk.rename(f"{folder}/other", f"{folder}/full")
    assert disk.names(folder) == ["a", "full", "other"]


def test_a_small_file_is_replaced_as_a_whole(disk: Disk, folder: str) -> None:
    disk.replace(f"{folder}/a", b"a long first version")
    put(disk, f"{folder}/a.tmp", b"what a crash has left, and it is longer still")
    disk.replace(f"{folder}/a", b"second")
    assert disk.read(f"{folder}/a") == b"second"
    assert disk.names(folder) == ["a"]


def test_names_are_sorted(disk: Disk, folder: str) -> None:
    for name in ("b", "a.log", "C", "a"):
        put(disk, f"{folder}/{name}", b"")
    disk.make_folder(f"{folder}/aa")
    assert disk.names(folder) == ["C", "a", "a.log", "aa", "b"]


def test_names_are_those_of_a_folder(disk: Disk, folder: str) -> None:
    put(disk, f"{folder}/a", b"")
    with pytest.raises(FileNotFoundError):
        disk.names(f"{folder}/none")
    with pytest.raises(NotADirectoryError):
        disk.names(f"{folder}/a")


def test_status_knows_files_folders_and_nothing(disk: Disk, folder: str) -> None:
    put(disk, f"{folder}/a", b"0123")
    status = disk.status(f"{folder}/a")
    assert status is not None
    assert (status.size_bytes, status.is_folder) == (4, False)
    assert status.modified_ms > 1_600_000_000_000
    of_folder = disk.status(folder)
    assert of_folder is not None
    assert (of_folder.size_bytes, of_folder.is_folder) == (0, True)
    assert disk.status(f"{folder}/none") is None
    assert disk.status(f"{folder}/a/below") is None


def test_the_time_of_change_can_be_set(disk: Disk, folder: str) -> None:
    put(disk, f"{folder}/a", b"")
    disk.set_modified(f"{folder}/a", 1_234_567_890_123)
    assert disk.status(f"{folder}/a") == Status(0, 1_234_567_890_123, is_folder=False)
    with pytest.raises(FileNotFoundError):
        disk.set_modified(f"{folder}/none", 1)


def test_folders_are_made_with_their_parents_and_again(disk: Disk, folder: str) -> None:
    disk.make_folder(f"{folder}/a/b/c")
    disk.make_folder(f"{folder}/a/b/c")
    assert disk.names(f"{folder}/a/b") == ["c"]
    put(disk, f"{folder}/file", b"")
    with pytest.raises(FileExistsError):
        disk.make_folder(f"{folder}/file")
    with pytest.raises(NotADirectoryError):
        disk.make_folder(f"{folder}/file/below")


def test_files_and_folders_are_removed_and_again(disk: Disk, folder: str) -> None:
    disk.make_folder(f"{folder}/a/b")
    put(disk, f"{folder}/a/b/c", b"x")
    put(disk, f"{folder}/d", b"x")
    for _ in range(2):
        disk.remove(f"{folder}/d")
        disk.remove_folder(f"{folder}/a")
    assert disk.names(folder) == []
    put(disk, f"{folder}/d", b"x")
    with pytest.raises(NotADirectoryError):
        disk.remove_folder(f"{folder}/d")


def test_a_folder_that_is_not_there_cannot_be_synced(disk: Disk, folder: str) -> None:
    with pytest.raises(FileNotFoundError):
        disk.sync_folder(f"{folder}/none")


def test_a_lock_has_one_holder(disk: Disk, folder: str) -> None:
    lock = disk.lock(f"{folder}/.lock")
    with pytest.raises(BlockingIOError):
        disk.lock(f"{folder}/.lock")
    disk.lock(f"{folder}/other")
    lock.release()
    lock.release()
    disk.lock(f"{folder}/.lock").release()
    assert disk.names(folder) == [".lock", "other"]


def test_a_failure_names_its_file() -> None:
    failure = DiskFailed("/log/a", OSError(errno.EIO, "Input/output error"))
    assert (str(failure), failure.path) == ("/log/a: Input/output error", "/log/a")


def _modified(disk: Disk, path: str) -> int:
    status = disk.status(path)
    assert status is not None
    return status.modified_ms


def test_a_disk_says_how_much_room_it_has(disk: Disk, folder: str) -> None:
    room = disk.room(folder)
    assert 0 < room.usable_bytes <= room.total_bytes
    put(disk, f"{folder}/a", b"x" * 4096)
    assert disk.room(f"{folder}/a").total_bytes == room.total_bytes
    with pytest.raises(FileNotFoundError):
        disk.room(f"{folder}/nothing")
