"""Timers by key: the last time that was set counts, and renewing costs no entry in the wheel."""

from __future__ import annotations

import asyncio

from ottla.coordinators.timers import Timers
from ottla.timing.timer import Timer
from tests.virtual_time import on_virtual_time, virtual_loop

SESSION = ("session", "m")
WALL_MS = 5_000_000


class Heard:
    def __init__(self) -> None:
        self.timer = Timer(asyncio.get_running_loop())
        self.timers = Timers(self.timer, self._due)
        self.due: list[tuple[int, tuple[str, ...], int]] = []

    def _due(self, key: tuple[str, ...], now_ms: int) -> None:
        self.due.append((round(virtual_loop().now * 1000), key, now_ms - WALL_MS))

    def set(self, key: tuple[str, ...], delay_ms: int) -> None:
        now_ms = WALL_MS + round(virtual_loop().now * 1000)
        self.timers.set(key, due_ms=now_ms + delay_ms, now_ms=now_ms)


@on_virtual_time
async def test_a_timer_tells_its_key_and_the_time_it_was_due() -> None:
    heard = Heard()
    heard.set(SESSION, 100)
    heard.set(("join",), 50)
    await asyncio.sleep(1)
    assert heard.due == [(50, ("join",), 50), (100, SESSION, 100)]
    assert len(heard.timers) == 0


@on_virtual_time
async def test_a_renewed_timer_is_due_at_its_new_time_and_stays_one_entry_in_the_wheel() -> None:
    heard = Heard()
    for _ in range(10):
        heard.set(SESSION, 100)
        assert heard.timer.size == 1
        await asyncio.sleep(0.030)
    await asyncio.sleep(1)
    assert heard.due == [(370, SESSION, 370)]


@on_virtual_time
async def test_a_timer_can_also_be_set_to_an_earlier_time() -> None:
    heard = Heard()
    heard.set(SESSION, 100)
    heard.set(SESSION, 20)
    await asyncio.sleep(1)
    assert heard.due == [(20, SESSION, 20)]


@on_virtual_time
async def test_a_cancelled_timer_is_never_due_and_can_be_set_again() -> None:
    heard = Heard()
    heard.set(SESSION, 100)
    heard.timers.cancel(SESSION)
    heard.timers.cancel(("never", "set"))
    assert heard.timer.size == 0
    heard.set(SESSION, 200)
    heard.set(("join",), 10)
    await asyncio.sleep(0.150)
    assert [key for _, key, _ in heard.due] == [("join",)]
    heard.timers.cancel_all()
    await asyncio.sleep(1)
    assert len(heard.due) == 1


@on_virtual_time
async def test_timers_that_wait_are_known_by_their_key_and_counted_by_their_kind() -> None:
    heard = Heard()
    heard.set(SESSION, 100)
    heard.set(("session", "n"), 200)
    heard.set(("join",), 50)
    assert SESSION in heard.timers
    assert heard.timers.count("session") == 2
    await asyncio.sleep(0.1)
    assert SESSION not in heard.timers
    assert [heard.timers.count(kind) for kind in ("session", "join", "sync")] == [1, 0, 0]
