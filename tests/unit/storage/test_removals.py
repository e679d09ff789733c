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
    assert removals.take_due(now_ms=99, most=10) == []
    due = removals.take_due(now_ms=100, most=10)
    assert due == ["/data/early", "/data/orders-0.delete"]
    removals.remove(due)
    assert disk.names("/data") == ["late"]
    assert removals.next_due_ms() == 200


def test_what_is_gone_already_is_no_error() -> None:
    disk = SimulatedDisk(random.Random(0))
    removals = Removals(disk)
    removals.remove(["/data/nothing"])


def test_no_more_are_taken_than_asked_for() -> None:
    removals = Removals(SimulatedDisk(random.Random(0)))
    removals.add([f"/data/{number}" for number in range(5)], due_ms=0)
    assert len(removals.take_due(now_ms=0, most=3)) == 3
    assert len(removals) == 2
