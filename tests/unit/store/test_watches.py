"""Watches of a store in this process: once for many changes, in the order of watching."""

from __future__ import annotations

import asyncio

from ottla.store.tree import Changed
from ottla.store.watches import Watches


def test_changes_that_come_together_are_told_once() -> None:
    async def run() -> list[str]:
        told: list[str] = []
        watches = Watches(asyncio.get_running_loop())
        watches.watch("/a", lambda: told.append("data"))
        watches.watch_children("/", lambda: told.append("children"))
        for _ in range(3):
            changed = Changed()
            changed.came_or_went("/a")
            watches.tell(changed)
        watches.tell_all()
        assert told == []
        await asyncio.sleep(0)
        first = [*told]
        watches.tell(Changed(data={"/a": None}))
        await asyncio.sleep(0)
        assert told == [*first, "data"]
        return first

    assert asyncio.run(run()) == ["data", "children"]


def test_a_watch_may_be_cancelled_by_one_that_was_told_before_it() -> None:
    async def run() -> None:
        told: list[str] = []
        watches = Watches(asyncio.get_running_loop())

        def cancel_second() -> None:
            second.cancel()

        watches.watch("/a", cancel_second)
        second = watches.watch("/a", lambda: told.append("second"))
        watches.tell(Changed(data={"/a": None}))
        await asyncio.sleep(0)
        assert told == []

    asyncio.run(run())
