"""Delayed removal of files and folders."""

from __future__ import annotations

import random

from ottla.simulation.disk import SimulatedDisk
from ottla.storage.removals import Removals


def test_what_is_due_goes_and_the_rest_stays() -> None:
    disk = SimulatedDisk(random.Random(0))
    for name in ("early", "late"):
        disk.make_folder("/data")
        disk.open(f"/data/{name}", create=True).close()
    disk.make_folder("/data/orders-0.delete")
    disk.open("/data/orders-0.delete/x.log", create=True).close()
    removals = Removals(disk)
    removals.add(["/data/late"], due_ms=200)
    removals.add(["/data/early", "/data/orders-0.delete"], due_ms=100)
    assert removals.next_due_ms() == 100
    assert removals.run(now_ms=99) == 0
    assert removals.run(now_ms=100) == 2
    assert disk.names("/data") == ["late"]
    assert removals.next_due_ms() == 200


def test_what_is_gone_already_is_no_error() -> None:
    disk = SimulatedDisk(random.Random(0))
    removals = Removals(disk)
    removals.add(["/data/nothing"], due_ms=0)
    assert removals.run(now_ms=0) == 1
    assert len(removals) == 0
