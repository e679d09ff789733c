"""Whatever happened before it, a crash leaves what was promised, and nothing that never was."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ottla.protocol.records.batch import patch_batch, read_header
from ottla.simulation.disk_faults import Crashed
from ottla.storage.log import Log
from tests.simulation.agreement import check_agreement
from tests.simulation.history import batches_on_disk
from tests.simulation.seeds import given_seeds, repetitions
from tests.simulation.world import World


# The rare ones: a refused append that a power cut brings back in place of what came after it; a
# log whose only segment was not yet on the disk when the others went.
@given_seeds(60, soak=1000, also=(1196, 1254, 1321, 1468, 2288))
def test_a_log_survives_any_number_of_crashes(seed: int) -> None:
    world = World(seed)
    for _ in range(4):
        world.live_until_a_crash()
        check_agreement(world.log, world.history)
        check_duplicates_are_known(world)
        world.append()
        check_agreement(world.log, world.history)
        check_opening_again_changes_nothing(world)


def check_duplicates_are_known(world: World) -> None:
    """The last batch of each producer, sent again, gets the offset it has."""
    for entry in world.history.everything():
        header = read_header(entry.data)
        state = world.log.producers.get(header.producer_id)
        if state is None or not state.batches or state.batches[-1].last_offset != entry.last:
            continue
        if header.record_count <= header.last_offset_delta:
            continue  # compacted: nobody has sent it like this
        sequences = [batch.first_sequence for batch in state.batches]
        if sequences.count(header.base_sequence) > 1:
            continue  # it was forgotten, began again, and then a crash brought the first one back
        again = memoryview(bytearray(entry.data))
        patch_batch(again, header, base_offset=0, leader_epoch=-1)
        world.log.start_epoch(world.leader_epoch)
        appended = world.log.append(again, leader_epoch=world.leader_epoch, now_ms=world.now_ms)
        assert (appended.first_offset, appended.group) == (entry.first, None)


def said(log: Log) -> dict[str, object]:
    """What a log says of itself, to be compared with what it says later."""
    return {
        "offsets": (log.log_start_offset, log.next_offset),
        "batches": batches_on_disk(log),
        "bases": [segment.base_offset for segment in log.segments],
        "aborted": [list(segment.aborted) for segment in log.segments],
        # One without records is forgotten: its leader will begin it again.
        "epochs": [e for e in log.epochs.entries if e.start_offset < log.next_offset],
        "producers": {
            state.producer_id: (state.epoch, state.last_sequence, state.transaction_start)
            for state in log.producers.active_producers()
        },
    }


def check_opening_again_changes_nothing(world: World) -> None:
    world.save_checkpoint()
    before = said(world.log)
    world.end_with(world.disk.kill(), must_reach=world.history.end, dies_again=0)
    assert said(world.log) == before
    world.reopen_cleanly()
    assert said(world.log) == before
    check_agreement(world.log, world.history)


def prepared(seed: int, danger: str) -> World:
    """A log with several segments, transactions and epochs, and some of it flushed."""
    world = World(seed, compacts=danger == "compact")
    for doing in (world.append, world.flush, world.append):
        for _ in range(6):
            doing()
            world.new_leader()
        world.save_checkpoint()
    return world


def compact_all(world: World) -> None:
    """Everything but the newest batch."""
    world.roll()
    world.append()
    world.flush()
    world.compact()


DANGERS: dict[str, Callable[[World], None]] = {
    "append": World.append,
    "roll": World.roll,
    "truncate": World.truncate,
    "restart": World.restart,
    "flush": World.flush,
    "drop_oldest": World.drop_oldest,
    "retain": World.retain_and_finish,
    "compact": compact_all,
    "close": World.close,
}


@pytest.mark.parametrize("danger", DANGERS)
@given_seeds(2, soak=12)
def test_a_crash_at_any_operation_of_the_disk_does_no_harm(seed: int, danger: str) -> None:
    world = prepared(seed, danger)
    before = world.disk.faults.operation_count
    DANGERS[danger](world)
    count = world.disk.faults.operation_count - before
    assert count or danger in ("truncate", "retain")
    for number in range(1, count + 1):
        for outcome in range(repetitions(3, soak=8)):
            world = prepared(seed, danger)
            world.disk.fail_at(world.disk.faults.operation_count + number)
            with pytest.raises(Crashed):
                DANGERS[danger](world)
            world.chance.seed(outcome)
            if outcome == 0:
                world.kill()
            else:
                world.cut_power()
            check_agreement(world.log, world.history)
            check_opening_again_changes_nothing(world)
