"""Damaged files, failing and full disks: a clear refusal or the right records, never others."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

import pytest

from ottla.protocol.errors import KafkaError, ProtocolError
from ottla.protocol.records.record_set import read_batches
from ottla.simulation.disk import SimulatedDisk
from ottla.storage.files import CorruptLog, DiskFailed
from ottla.storage.flushing import close, flush
from ottla.storage.log import Log
from ottla.storage.recovery import Found, open_log
from tests.simulation.agreement import check_agreement
from tests.simulation.entry import Entry
from tests.simulation.seeds import given_seeds, repetitions
from tests.simulation.world import World
from tests.unit.storage.logs import FOLDER, append, new_log

KINDS = (".log", ".index", ".timeindex", ".txnindex", ".snapshot", "leader-epoch-checkpoint")
# The data is not in them: whatever becomes of them, the log is all there.
BESIDE_THE_LOG = (".index", ".timeindex", ".snapshot")


def damage(disk: SimulatedDisk, path: str, chance: random.Random) -> None:
    """One bit flipped, an end cut off, or something added."""
    data = disk.read(path)
    how = chance.randrange(4) if data else 3
    file = disk.open(path)
    if how == 0:
        disk.flip_bit(path, chance.randrange(len(data)))
    elif how == 1:
        file.truncate(chance.randrange(len(data)))
    elif how == 2:
        file.append([bytes(chance.randint(1, 100))])
    else:
        file.append([chance.randbytes(chance.randint(1, 100))])
    file.close()


def all_batches(log: Log) -> Iterator[Entry]:
    """Read as a consumer does, which checks the checksums and stops at what is wrong."""
    offset = log.log_start_offset
    while (piece := log.read(offset, max_bytes=500, up_to=log.next_offset)) is not None:
        before = offset
        for batch in read_batches(piece.read()):
            yield Entry(batch.base_offset, batch.last_offset, bytes(batch.view))
            offset = max(offset, batch.last_offset + 1)
        assert offset > before, "it never ends"


def values(entries: list[Entry]) -> set[bytes | None]:
    return {record.value for entry in entries for record in entry.records()}


def read_what_can_be_read(log: Log, times: list[int]) -> list[Entry]:
    found: list[Entry] = []
    blamed = None
    try:
        found.extend(all_batches(log))
        for time in times:
            log.find_timestamp(time)
        for segment in log.segments:
            assert segment.aborted is not None
    except CorruptLog as error:
        blamed = error
    except (KafkaError, ProtocolError):
        pass  # of a batch that was read as it is: the consumer is told by the checksum
    assert blamed is None or (FOLDER in blamed.path and blamed.position >= 0)
    return found


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("was_clean", [True, False])
@given_seeds(8, soak=200)
def test_damage_is_named_or_does_no_harm(seed: int, was_clean: bool, kind: str) -> None:
    world = World(seed)
    for _ in range(20):
        world.append()
        world.new_leader()
    if was_clean:
        world.close()
    world.save_checkpoint()
    expected = list(world.history.entries)
    times = [record.timestamp for entry in expected for record in entry.records()]
    for trial in range(repetitions(10, soak=20)):
        disk = copy_of(world.disk, seed=trial)
        names = [name for name in disk.names(FOLDER) if name.endswith(kind)]
        if not names:
            return
        damage(disk, f"{FOLDER}/{names[(seed + trial) % len(names)]}", random.Random(trial))
        state = Found(was_clean, *world.checkpoint)
        try:
            log = open_log(disk, FOLDER, world.config, state, now_ms=world.now_ms)
        except CorruptLog:
            if kind in BESIDE_THE_LOG:
                raise
            continue
        found = read_what_can_be_read(log, times)
        assert values(found) <= values(expected)
        if kind in BESIDE_THE_LOG:
            assert found == expected


def copy_of(disk: SimulatedDisk, *, seed: int) -> SimulatedDisk:
    """Another disk with the same files in the folder."""
    copy = SimulatedDisk(random.Random(seed))
    copy.make_folder(FOLDER)
    for name in disk.names(FOLDER):
        copy.replace(f"{FOLDER}/{name}", disk.read(f"{FOLDER}/{name}"))
    return copy


def test_an_index_that_leads_astray_is_made_anew_once(caplog: pytest.LogCaptureFixture) -> None:
    world = World(5)
    while len(world.log.segments) < 2 or len(world.log.segments[0].offset_index) < 2:
        world.append()
    world.close()
    segment = world.log.segments[0]
    path = segment.path(".index")
    sound = world.disk.read(path)
    # Each entry points a few bytes too far.
    wrong = b"".join(
        sound[at : at + 4] + (int.from_bytes(sound[at + 4 : at + 8], "big") + 5).to_bytes(4, "big")
        for at in range(0, len(sound), 8)
    )
    world.disk.replace(path, wrong)
    log = open_log(world.disk, FOLDER, world.config, Found(was_clean=True), now_ms=world.now_ms)
    assert list(all_batches(log)) == world.history.entries
    check_agreement(log, world.history)
    assert [r.message for r in caplog.records if "made anew" in r.message][1:] == []
    assert caplog.records
    assert len(world.disk.read(path)) <= len(sound)


FAILING: dict[str, Callable[[Log], object]] = {
    "append": lambda log: append(log, b"x"),
    "read": lambda log: list(all_batches(log)),
    "flush": flush,
    "roll": lambda log: log.roll(now_ms=0),
    "close": close,
}


@pytest.mark.parametrize("doing", FAILING)
def test_a_failing_disk_is_told_from_all_else(doing: str) -> None:
    disk = SimulatedDisk(random.Random(0))
    log = new_log(disk=disk)
    append(log, b"a")
    disk.break_file(FOLDER)
    with pytest.raises(DiskFailed):
        FAILING[doing](log)


@given_seeds(10, soak=200)
def test_a_disk_that_fills_up_anywhere_leaves_the_log_as_it_was(seed: int) -> None:
    for room in range(0, 1500, repetitions(100, soak=13)):
        world = World(seed)
        for _ in range(5):
            world.append()
        world.disk.fill_up()
        assert world.disk.faults.capacity_bytes is not None
        world.disk.faults.capacity_bytes += room
        for _ in range(6):
            world.append()
            world.try_roll()
        check_agreement(world.log, world.history)
        world.disk.make_room()
        end = world.log.next_offset
        for _ in range(10):  # of a log with tiny segments most batches are refused for their size
            world.append()
        assert world.log.next_offset > end
        check_agreement(world.log, world.history)
        world.kill()
        check_agreement(world.log, world.history)
