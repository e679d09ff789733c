"""What waiting costs: deadlines set and cancelled, requests parked and idle, parked and woken."""

from __future__ import annotations

import asyncio
import time
import tracemalloc
from collections.abc import Callable
from functools import partial

from ottla.simulation.loop import VirtualTimeLoop
from ottla.timing.purgatory import Purgatory
from ottla.timing.timer import Timer

MILLION = 1_000_000
PARKED = 100_000
ROUNDS = 5
MOST_SECONDS = 1.5
HOUR_MS = 3_600_000


class Fetch:
    """Waits until it is told that there is data."""

    def __init__(self) -> None:
        self.completed = False
        self.has_data = False

    def try_complete(self) -> bool:
        self.completed = self.has_data
        return self.completed

    def expire(self) -> None:
        self.completed = True


def nothing() -> None: ...


def seconds(run: Callable[[], object]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


def set_and_cancel(timer: Timer, count: int) -> None:
    for number in range(count):
        timer.call_after(500 + number % 30_000, nothing).cancel()


def park_idle(purgatory: Purgatory) -> None:
    for number in range(PARKED):
        purgatory.park(Fetch(), watch=(number,), timeout_ms=HOUR_MS + number % 1000)


def park_and_wake(purgatory: Purgatory) -> None:
    for number in range(PARKED):
        fetch = Fetch()
        purgatory.park(fetch, watch=(number % 100, -1), timeout_ms=500)
        fetch.has_data = True
        purgatory.recheck(number % 100)


def show(what: str, result: str, *, met: bool | None = None) -> None:
    verdict = "" if met is None else "  met" if met else "  MISSED"
    print(f"{what:<44} {result}{verdict}")


def measure_setting() -> None:
    loop = VirtualTimeLoop()
    timer = Timer(loop)
    cpu = min(seconds(lambda: set_and_cancel(timer, MILLION)) for _ in range(ROUNDS))
    show(
        "a million deadlines set and cancelled",
        f"{cpu:.2f} s of cpu, at most {MOST_SECONDS:g}:",
        met=cpu <= MOST_SECONDS,
    )
    tracemalloc.start()
    set_and_cancel(timer, 1)
    before, _ = tracemalloc.get_traced_memory()
    set_and_cancel(timer, PARKED)
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    show("memory they leave behind", f"{after - before:,} bytes", met=after - before < 100_000)
    show("busy buckets on the heap", str(timer.describe()["busy_buckets"]))
    loop.close()


def measure_parking() -> None:
    loop = VirtualTimeLoop()
    purgatory = Purgatory("Fetch", Timer(loop))
    cpu = seconds(lambda: park_idle(purgatory))
    show(f"{PARKED:,} fetches parked", f"{cpu / PARKED * 1e6:.2f} us each")
    cpu = seconds(lambda: loop.run_until_complete(asyncio.sleep(HOUR_MS / 1000 - 1)))
    show(
        "  an hour of virtual time with them",
        f"{cpu * 1000:.1f} ms of cpu, {loop.jumps} wakings, {purgatory.delayed:,} wait on:",
        met=purgatory.delayed == PARKED and loop.jumps <= 3,
    )
    cpu = seconds(lambda: loop.run_until_complete(asyncio.sleep(2)))
    show("  their deadlines", f"{cpu / PARKED * 1e6:.2f} us each, {purgatory.delayed} wait on")
    woken = Purgatory("Fetch", Timer(loop))
    cpu = min(seconds(partial(park_and_wake, woken)) for _ in range(ROUNDS))
    show("a fetch parked under two keys and woken", f"{cpu / PARKED * 1e6:.2f} us")
    cpu = min(seconds(lambda: [woken.recheck("x") for _ in range(PARKED)]) for _ in range(ROUNDS))
    show("an event that nobody waits for", f"{cpu / PARKED * 1e6:.2f} us")
    loop.close()


def main() -> None:
    measure_setting()
    measure_parking()


if __name__ == "__main__":
    main()
