"""What a simulated power cut, a kill and other faults may leave, and what they may not."""

from __future__ import annotations

import errno
import random
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.simulation.disk import SimulatedDisk, SimulatedFile
from ottla.simulation.disk_faults import Crashed
from ottla.storage.files import DiskFailed

SEEDS = st.integers(0, 2**32)
Step = tuple[str, int, bytes]
# Never zero, so that what was written is told from what was only made room for.
DATA = st.binary(min_size=1, max_size=6).map(lambda data: data.replace(b"\0", b"\1"))
STEPS = st.lists(
    st.tuples(st.sampled_from(["append", "write", "truncate", "sync"]), st.integers(0, 12), DATA),
    max_size=8,
)


def take(file: SimulatedFile, step: Step) -> None:
    match step:
        case ("append", _, data):
            file.append([data])
        case ("write", position, data):
            file.write(position, data)
        case ("truncate", size, _):
            file.truncate(size)
        case _:
            file.sync()


def states_after(steps: list[Step]) -> set[bytes]:
    """Every content the file had since its last sync, writes seen byte by byte."""
    content = bytearray()
    states = {b""}
    for kind, number, data in steps:
        if kind == "sync":
            states = set()
        elif kind == "truncate":
            content = content[:number] + bytes(max(0, number - len(content)))
        else:
            position = len(content) if kind == "append" else number
            for index, byte in enumerate(data, position):
                content += bytes(max(0, index + 1 - len(content)))
                content[index] = byte
                states.add(bytes(content))
        states.add(bytes(content))
    return states


def lasting_file(disk: SimulatedDisk, path: str = "/a") -> SimulatedFile:
    file = disk.open(path, create=True)
    disk.sync_folder("/")
    return file


@given(SEEDS, STEPS)
def test_a_power_cut_leaves_what_was_synced_and_a_prefix_of_the_rest(
    seed: int, steps: list[Step]
) -> None:
    disk = SimulatedDisk(random.Random(seed))
    file = lasting_file(disk)
    for step in steps:
        take(file, step)
    size = file.size()
    left = disk.crash().read("/a")
    states = states_after(steps)
    # Where the size came before the data, zeros follow, and never beyond the size it had.
    without_zeros = [left[:end] for end in range(len(left) + 1) if not left[end:].strip(b"\0")]
    assert left in states or (
        len(left) <= size and any(shorter in states for shorter in without_zeros)
    )


@given(SEEDS, st.binary(max_size=20), st.lists(DATA, max_size=5))
def test_synced_bytes_survive_whatever_is_appended(
    seed: int, synced: bytes, unsynced: list[bytes]
) -> None:
    disk = SimulatedDisk(random.Random(seed), garbage=True)
    file = lasting_file(disk)
    file.append([synced])
    file.sync()
    for data in unsynced:
        file.append([data])
    left = disk.crash().read("/a")
    assert left.startswith(synced)
    assert len(left) <= file_size(synced, unsynced)


def file_size(synced: bytes, unsynced: list[bytes]) -> int:
    return len(synced) + sum(map(len, unsynced))


def outcomes(prepare: Callable[[SimulatedDisk], None], *, garbage: bool = False) -> set[bytes]:
    """What many power cuts at the same moment leave of /a."""
    disk = SimulatedDisk(random.Random(7), garbage=garbage)
    prepare(disk)
    return {disk.crash().read("/a") for _ in range(500)}


def test_an_unsynced_append_is_lost_torn_or_whole_and_its_size_may_come_first() -> None:
    def prepare(disk: SimulatedDisk) -> None:
        file = lasting_file(disk)
        file.append([b"01"])
        file.sync()
        file.append([b"23"])

    assert outcomes(prepare) == {b"01", b"012", b"0123", b"01\0", b"01\0\0", b"012\0"}


def test_an_unsynced_truncation_may_not_have_happened() -> None:
    def prepare(disk: SimulatedDisk) -> None:
        file = lasting_file(disk)
        file.append([b"0123"])
        file.sync()
        file.truncate(1)

    assert outcomes(prepare) == {b"0123", b"0"}


def test_garbage_is_left_only_where_it_was_asked_for() -> None:
    def prepare(disk: SimulatedDisk) -> None:
        lasting_file(disk).append([b"ab"])

    assert {left.strip(b"\0") for left in outcomes(prepare)} == {b"", b"a", b"ab"}
    assert len(outcomes(prepare, garbage=True)) > 50


def test_a_new_file_may_be_gone_until_its_folder_is_synced() -> None:
    disk = SimulatedDisk(random.Random(1))
    file = disk.open("/a", create=True)
    file.append([b"x"])
    file.sync()
    assert {tuple(disk.crash().names("/")) for _ in range(100)} == {(), ("a",)}


def test_a_replaced_file_is_old_or_new_at_every_moment() -> None:
    """Crash at each operation of a replacement, by power and by kill."""
    seen = set()
    for seed in range(30):
        for number in range(1, 10):
            disk = SimulatedDisk(random.Random(seed))
            disk.replace("/a", b"old")
            disk.fail_at(disk.faults.operation_count + number)
            try:
                disk.replace("/a", b"new")
            except Crashed:
                seen |= {disk.crash().read("/a"), disk.kill().read("/a")}
            else:
                assert disk.crash().read("/a") == b"new"
    assert seen == {b"old", b"new"}


@given(SEEDS, st.data())
def test_renames_never_lose_a_file_that_lasted(seed: int, data: st.DataObject) -> None:
    disk = SimulatedDisk(random.Random(seed))
    disk.make_folder("/f")
    disk.make_folder("/g")
    disk.sync_folder("/")
    places = [f"/{folder}/{name}" for folder in "fg" for name in "abc"]
    for path in ("/f/a", "/g/a"):
        disk.replace(path, path.encode())
    for _ in range(data.draw(st.integers(0, 8))):
        there = [path for path in places if disk.status(path)]
        free = [path for path in places if not disk.status(path)]
        disk.rename(data.draw(st.sampled_from(there)), data.draw(st.sampled_from(free)))
        if data.draw(st.booleans()):
            disk.sync_folder(data.draw(st.sampled_from(["/f", "/g"])))
    after = disk.crash()
    left = [after.read(path) for path in places if after.status(path)]
    assert sorted(left) == [b"/f/a", b"/g/a"]


def test_a_removed_folder_is_whole_partly_there_or_gone() -> None:
    disk = SimulatedDisk(random.Random(1))
    disk.make_folder("/f")
    disk.sync_folder("/")
    for name in "ab":
        disk.replace(f"/f/{name}", b"x")
    disk.remove_folder("/f")
    left = set()
    for _ in range(200):
        after = disk.crash()
        left.add(tuple(after.names("/f")) if after.status("/f") else None)
    assert left == {("a", "b"), ("a",), ("b",), (), None}


def test_a_kill_keeps_all_that_was_written_but_does_not_make_it_last() -> None:
    disk = SimulatedDisk(random.Random(1))
    lasting_file(disk).append([b"01"])
    after = disk.kill()
    assert after.read("/a") == b"01"
    assert {after.crash().read("/a") for _ in range(100)} >= {b"", b"0", b"01"}


def test_the_dead_stay_dead_and_no_handler_of_errors_sees_it() -> None:
    disk = SimulatedDisk(random.Random(1))
    file = lasting_file(disk)
    file.pin()
    lock = disk.lock("/.lock")
    after = disk.kill()
    uses: list[Callable[[], object]] = [
        lambda: file.append([b"x"]), lambda: file.read(0, 1), lambda: file.write(0, b"x"),
        lambda: file.truncate(0), file.sync, file.size, file.pin, file.unpin, file.fileno,
        file.close, lock.release, lambda: disk.open("/a"), lambda: disk.read("/a"),
        lambda: disk.replace("/a", b""), lambda: disk.status("/a"), lambda: disk.names("/"),
        lambda: disk.make_folder("/f"), lambda: disk.rename("/a", "/b"), lambda: disk.remove("/a"),
        lambda: disk.remove_folder("/f"), lambda: disk.sync_folder("/"),
        lambda: disk.set_modified("/a", 1), lambda: disk.lock("/.lock"),
        lambda: file.is_cached(0, 1), lambda: file.read_ahead(0, 1),
        lambda: file.start_write_back(0, 1), lambda: file.reserve(1),
    ]  # fmt: skip
    for use in uses:
        with pytest.raises(Crashed):
            use()
    assert not issubclass(Crashed, Exception)
    after.lock("/.lock")  # the dead hold no locks


def test_a_crash_comes_at_the_operation_it_was_ordered_for() -> None:
    left = set()
    for seed in range(200):
        disk = SimulatedDisk(random.Random(seed))
        file = disk.open("/a", create=True)
        disk.fail_at(3)
        file.append([b"01"])
        with pytest.raises(Crashed):
            file.append([b"23"])
        with pytest.raises(Crashed):
            file.size()
        left.add(disk.kill().read("/a"))
        assert disk.operations == [
            ("create", "/a"),
            ("append", "/a", 0, 2),
            ("append", "/a", 2, 2),
        ]
    assert left == {b"01", b"012", b"0123"}


@given(SEEDS, STEPS)
def test_the_same_seed_gives_the_same_result(seed: int, steps: list[Step]) -> None:
    def run() -> tuple[bytes, object]:
        disk = SimulatedDisk(random.Random(seed), garbage=True)
        file = lasting_file(disk)
        for step in steps:
            take(file, step)
        return disk.crash().read("/a"), disk.operations

    assert run() == run()


def test_rot_changes_one_bit_for_good() -> None:
    disk = SimulatedDisk(random.Random(1))
    disk.replace("/a", b"\0\0\0")
    disk.flip_bit("/a", 1)
    left = disk.crash().read("/a")
    assert (left[0], left[1].bit_count(), left[2]) == (0, 1, 0)


def test_a_full_disk_takes_part_of_a_write_before_it_is_cut_back() -> None:
    disk = SimulatedDisk(random.Random(1), capacity_bytes=4)
    file = lasting_file(disk)
    file.append([b"01"])
    file.sync()
    with pytest.raises(OSError, match="No space left") as failure:
        file.append([b"2345"])
    assert failure.value.errno == errno.ENOSPC
    assert file.size() == 2
    assert {disk.crash().read("/a") for _ in range(200)} == {b"01", b"012", b"0123"}


def test_a_disk_that_was_filled_up_overwrites_but_does_not_grow_until_there_is_room() -> None:
    disk = SimulatedDisk(random.Random(1))
    file = lasting_file(disk)
    file.append([b"01"])
    disk.fill_up()
    file.write(0, b"23")
    with pytest.raises(OSError, match="No space left"):
        file.append([b"4"])
    disk.make_room()
    file.append([b"4"])
    assert file.read(0, 9) == b"234"


def test_a_broken_file_fails_for_ever_and_alone() -> None:
    disk = SimulatedDisk(random.Random(1))
    disk.make_folder("/f")
    good = lasting_file(disk, "/good")
    file = disk.open("/f/a", create=True)
    disk.break_file("/f")
    uses: list[Callable[[], object]] = [
        lambda: file.append([b"x"]), lambda: file.write(0, b"x"), lambda: file.read(0, 1),
        lambda: file.truncate(0), file.sync, lambda: disk.open("/f/a"), lambda: disk.names("/f"),
        lambda: disk.remove("/f/a"), lambda: disk.rename("/good", "/f/b"),
        lambda: disk.sync_folder("/f"),
    ]  # fmt: skip
    for use in uses:
        with pytest.raises(DiskFailed, match="/f"):
            use()
    good.append([b"x"])
    with pytest.raises(DiskFailed):
        disk.crash().open("/f/a")


def test_time_is_what_the_clock_says() -> None:
    now = [5]
    disk = SimulatedDisk(random.Random(1), now_ms=lambda: now[0])
    file = lasting_file(disk)
    now[0] = 9
    file.append([b"x"])
    status = disk.crash().status("/a")
    assert status is not None
    assert status.modified_ms == 9


def test_many_unsynced_changes_are_written_back_in_order() -> None:
    disk = SimulatedDisk(random.Random(1))
    file = lasting_file(disk)
    for number in range(3_000):
        file.append([b"%04d" % number])
        disk.rename("/a", "/b")
        disk.rename("/b", "/a")
    whole = file.read(0, 12_000)
    after = disk.crash()
    left = after.read(f"/{after.names('/')[0]}")
    assert len(left) >= 4 * 2_000
    assert whole.startswith(left.rstrip(b"\0")[:-4])
