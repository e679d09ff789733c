"""Files beside the log that are lost: what was aborted is not seen, whichever of them are gone."""

from __future__ import annotations

import pytest

from ottla.simulation.disk import SimulatedDisk
from ottla.storage.names import Kind
from tests.simulation.agreement import check_agreement
from tests.simulation.seeds import given_seeds
from tests.simulation.world import World
from tests.unit.storage.logs import FOLDER

ABORTED, PRODUCERS = Kind.TRANSACTION_INDEX.value, Kind.PRODUCERS.value
INDEXES = (Kind.OFFSET_INDEX.value, Kind.TIME_INDEX.value)
LOSSES = [
    (ABORTED,),
    (PRODUCERS,),
    (ABORTED, PRODUCERS),
    (ABORTED, *INDEXES),
    (ABORTED, PRODUCERS, *INDEXES),
]


def lose(disk: SimulatedDisk, *kinds: str) -> int:
    lost = [name for name in disk.names(FOLDER) if name.endswith(kinds)]
    for name in lost:
        disk.remove(f"{FOLDER}/{name}")
    return len(lost)


def lived(seed: int, *, compacts: bool) -> World:
    """A log of some age, with transactions of all kinds in it."""
    world = World(seed, compacts=compacts)
    for _ in range(12):
        for _ in range(4):
            world.append()
        world.try_roll()
        if compacts:
            world.compact()
    world.flush()
    world.append()
    return world


@pytest.mark.parametrize("kinds", LOSSES)
@pytest.mark.parametrize("ending", ["stop", "kill", "cut"])
@pytest.mark.parametrize("compacts", [False, True])
@given_seeds(4, soak=100)
def test_what_was_aborted_stays_hidden(
    seed: int, compacts: bool, ending: str, kinds: tuple[str, ...]
) -> None:
    world = lived(seed, compacts=compacts)
    if ending == "stop":
        world.reopen_cleanly(lambda disk: lose(disk, *kinds))
    else:
        world.save_checkpoint()
        lose(world.disk, *kinds)
        world.kill() if ending == "kill" else world.cut_power()
    check_agreement(world.log, world.history)
    world.append()
    world.compact()
    world.reopen_cleanly()
    check_agreement(world.log, world.history)
