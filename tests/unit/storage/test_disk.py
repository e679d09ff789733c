"""What only the real disk has: descriptors, blocks, and a kernel that refuses."""

from __future__ import annotations

import errno
import os
import resource
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path

import pytest

from ottla.storage.disk import RealDisk, RealFile, raise_descriptor_limit
from ottla.storage.files import DiskFailed
from ottla.storage.threads import FileThreads

ONLY_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="the files of Linux's kernel")


def create(disk: RealDisk, path: str, data: bytes = b"") -> RealFile:
    file = disk.open(path, create=True)
    file.append([data])
    return file


def test_two_thousand_files_share_sixty_four_descriptors(tmp_path: Path) -> None:
    disk = RealDisk(max_open_files=64)
    files = [create(disk, f"{tmp_path}/{number}", b"a") for number in range(2_000)]
    assert disk.open_descriptor_count() <= 64
    for number, file in enumerate(files):
        file.append([str(number).encode()])
    assert [file.read(0, 9) for file in files] == [b"a%d" % number for number in range(2_000)]
    assert disk.open_descriptor_count() <= 64
    for file in files:
        file.close()
    assert disk.open_descriptor_count() == 0


def test_a_file_has_no_descriptor_before_it_is_used(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"abc")
    disk = RealDisk()
    file = disk.open(f"{tmp_path}/a")
    assert (file.size(), disk.open_descriptor_count()) == (3, 0)
    assert file.read(1, 1) == b"b"
    assert disk.open_descriptor_count() == 1
    file.close()


def test_the_descriptor_used_last_is_kept(tmp_path: Path) -> None:
    disk = RealDisk(max_open_files=2)
    hot, *others = [create(disk, f"{tmp_path}/{number}", b"a") for number in range(10)]
    hot.append([b"a"])
    before = hot.pin()
    hot.unpin()
    for file in others:
        file.read(0, 1)
        hot.append([b"a"])
        assert hot.fileno() == before


def test_a_pinned_descriptor_is_never_closed(tmp_path: Path) -> None:
    disk = RealDisk(max_open_files=2)
    pinned = [create(disk, f"{tmp_path}/pinned-{number}", b"abc") for number in range(4)]
    numbers = [file.pin() for file in pinned]
    for number in range(20):
        create(disk, f"{tmp_path}/{number}", b"x")
    assert [os.pread(number, 9, 0) for number in numbers] == [b"abc"] * 4
    for file in pinned:
        file.unpin()
    create(disk, f"{tmp_path}/last", b"x")
    assert disk.open_descriptor_count() <= 2


def test_more_may_be_pinned_than_open_and_later_ones_make_up_for_it(tmp_path: Path) -> None:
    disk = RealDisk(max_open_files=10)
    files = [create(disk, f"{tmp_path}/{number}", b"x") for number in range(200)]
    for file in files:
        file.pin()
    assert disk.open_descriptor_count() == len(files)
    for file in files:
        file.unpin()
    for number in range(10):
        create(disk, f"{tmp_path}/later-{number}")
    assert disk.open_descriptor_count() <= 10


def test_threads_that_open_read_and_sync_do_not_disturb_appends(tmp_path: Path) -> None:
    disk = RealDisk(max_open_files=3)
    files = [create(disk, f"{tmp_path}/{number}", bytes([number]) * 8) for number in range(12)]
    threads = FileThreads(3)
    stop = threading.Event()

    def disturb(first: int) -> int:
        rounds = 0
        while not stop.is_set():
            for file in files[first:] + files[:first]:
                assert file.read(0, 8) == bytes([int(Path(file.path).name)]) * 8
                file.sync()
            rounds += 1
        return rounds

    running = [threads.submit(partial(disturb, first)) for first in (0, 4, 8)]
    for _ in range(200):
        for number, file in enumerate(files):
            file.append([bytes([number])] * 3)
    stop.set()
    for future in running:
        future.result(timeout=60)
    threads.close()
    for number, file in enumerate(files):
        assert disk.read(file.path) == bytes([number]) * 608
        file.close()


def test_a_renamed_file_is_found_again_by_threads_that_open_it(tmp_path: Path) -> None:
    disk = RealDisk(max_open_files=1)
    file, other = (create(disk, f"{tmp_path}/{name}", name.encode()) for name in ("a", "b"))
    threads = FileThreads(1)
    stop = threading.Event()

    def read_both() -> None:
        while not stop.is_set():
            assert (file.read(0, 9), other.read(0, 9)) == (b"a", b"b")

    running = threads.submit(read_both)
    for _ in range(500):
        disk.rename(f"{tmp_path}/a", f"{tmp_path}/c")
        disk.rename(f"{tmp_path}/b", f"{tmp_path}/a")
        disk.rename(f"{tmp_path}/a", f"{tmp_path}/b")
        disk.rename(f"{tmp_path}/c", f"{tmp_path}/a")
    stop.set()
    running.result(timeout=60)
    threads.close()


@ONLY_LINUX
def test_reserved_blocks_are_released_at_close_and_by_truncate(tmp_path: Path) -> None:
    disk = RealDisk()
    file = create(disk, f"{tmp_path}/a", b"abc")
    file.reserve(1 << 20)
    if os.stat(file.path).st_blocks < (1 << 20) // 512:
        pytest.skip("this file system reserves nothing")
    file.truncate(2)
    assert os.stat(file.path).st_blocks < 100
    file.reserve(1 << 20)
    create(disk, f"{tmp_path}/b")
    file.close()
    assert os.stat(file.path).st_blocks < 100
    assert disk.read(file.path) == b"ab"


def test_reserved_blocks_are_released_when_the_descriptor_was_lost(tmp_path: Path) -> None:
    disk = RealDisk(max_open_files=1)
    file = create(disk, f"{tmp_path}/a", b"abc")
    file.reserve(1 << 20)
    for number in range(3):
        create(disk, f"{tmp_path}/{number}", b"x")
    file.close()
    assert os.stat(file.path).st_blocks < 100
    assert disk.read(file.path) == b"abc"


@ONLY_LINUX
def test_an_error_of_the_device_is_a_failed_disk() -> None:
    # No address 0 is mapped, and the kernel says so with EIO.
    file = RealDisk().open("/proc/self/mem")
    with pytest.raises(DiskFailed, match="/proc/self/mem: Input/output error") as failure:
        file.read(0, 10)
    assert isinstance(failure.value.__cause__, OSError)
    assert failure.value.__cause__.errno == errno.EIO
    with pytest.raises(DiskFailed):
        file.append([b"x"])
    with pytest.raises(DiskFailed):
        file.append([b"x", b"y"])
    with pytest.raises(DiskFailed):
        file.write(0, b"x")
    with pytest.raises(DiskFailed):
        file.read_ahead(0, 10)
    file.close()


@ONLY_LINUX
def test_a_full_device_is_an_ordinary_error() -> None:
    file = RealDisk().open("/dev/full")
    with pytest.raises(OSError, match="No space left") as failure:
        file.append([b"x"])
    assert failure.value.errno == errno.ENOSPC
    assert file.size() == 0
    file.close()


@ONLY_LINUX
def test_any_failure_to_sync_is_a_failed_disk(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")  # which cannot be synced
    file = RealDisk().open(f"{tmp_path}/pipe")
    with pytest.raises(DiskFailed, match="Invalid argument"):
        file.sync()
    file.close()


@ONLY_LINUX
def test_pages_that_were_dropped_are_not_cached_until_read_ahead(tmp_path: Path) -> None:
    disk = RealDisk()
    file = create(disk, f"{tmp_path}/a", bytes(4 << 20))
    file.sync()
    number = file.pin()
    os.posix_fadvise(number, 0, 0, os.POSIX_FADV_DONTNEED)
    if file.is_cached(0, 4 << 20):
        pytest.skip("this file system keeps its pages")
    file.read_ahead(0, 4 << 20)
    assert file.is_cached(0, 4 << 20)
    file.unpin()
    file.close()


def test_a_lock_is_free_again_when_its_process_ends(tmp_path: Path) -> None:
    program = f"""
import os
from ottla.storage.disk import RealDisk
lock = RealDisk().lock({str(tmp_path / ".lock")!r})
print("locked", flush=True)
os.abort()
"""
    child = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert child.stdout == b"locked\n"
    RealDisk().lock(f"{tmp_path}/.lock").release()


@ONLY_LINUX
def test_a_lock_holds_against_java_after_a_second_opener_came_and_went(tmp_path: Path) -> None:
    disk, path = RealDisk(), str(tmp_path / ".lock")
    lock = disk.lock(path)
    with pytest.raises(BlockingIOError):
        disk.lock(path)
    assert disk.read(path) == b""
    # As Java locks a file.
    program = f"import fcntl; fcntl.lockf(open({path!r}, 'wb'), fcntl.LOCK_EX | fcntl.LOCK_NB)"
    command = [sys.executable, "-c", program]
    assert b"BlockingIOError" in subprocess.run(command, capture_output=True, check=False).stderr
    lock.release()
    subprocess.run(command, check=True)


def test_the_descriptor_limit_is_raised_to_what_is_allowed() -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(256, before[1]), before[1]))
    try:
        limit = raise_descriptor_limit()
        assert limit == resource.getrlimit(resource.RLIMIT_NOFILE)[0] > 256
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_an_empty_file_is_not_emptied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = create(RealDisk(), f"{tmp_path}/a")
    emptied: list[int] = []
    monkeypatch.setattr(os, "ftruncate", lambda number, size: emptied.append(size))
    file.truncate(0)
    assert emptied == []  # ext4 would write it at its close, and the loop wait for the disk
    file.append([b"abc"])
    file.truncate(0)
    assert emptied == [0]


def test_nobody_waits_for_the_blocks_of_a_removed_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = RealDisk()
    create(disk, f"{tmp_path}/old").append([b"abc"])
    close, made = os.close, f"{tmp_path}/new"

    def close_slowly(number: int) -> None:
        if not os.path.exists(made):
            create(disk, made).append([b"xyz"])  # would wait for ever, if it had to
        close(number)

    monkeypatch.setattr(os, "close", close_slowly)
    disk.remove(f"{tmp_path}/old")
    assert disk.read(made) == b"xyz"
    assert disk.status(f"{tmp_path}/old") is None


def test_who_closes_a_file_that_goes_does_not_wait_for_its_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut: list[int] = []
    for name in ("stays", "goes"):
        file = create(RealDisk(), f"{tmp_path}/{name}", b"abc")
        file.reserve(1 << 20)
        if file._reserve_end == 0:
            pytest.skip("this file system sets no blocks aside")
        with monkeypatch.context() as patched:
            patched.setattr(os, "ftruncate", lambda number, size: cut.append(size))
            file.close(keeps_reserve=name == "goes")
    assert cut == [3]  # of the one that stays
