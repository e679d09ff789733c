"""A machine with a broker for one test, on virtual time and from one seed."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Coroutine
from typing import Any

from ottla.simulation.broker import SimulatedMachine
from ottla.simulation.loop import VirtualTimeLoop
from ottla.simulation.network import SimulatedNetwork
from ottla.simulation.store import MemoryTree

Test = Callable[[SimulatedMachine], Coroutine[Any, Any, None]]


def on_a_broker(
    *, seed: int = 0, latency_ms: tuple[int, int] = (0, 0), **properties: str
) -> Callable[[Test], Callable[[], None]]:
    """Options in Python's spelling: `max_connections="2"` is max.connections=2."""

    def decorate(test: Test) -> Callable[[], None]:
        def run() -> None:
            run_on_a_broker(test, seed=seed, latency_ms=latency_ms, properties=properties)

        run.__name__, run.__doc__, run.__module__ = test.__name__, test.__doc__, test.__module__
        return run

    return decorate


def run_on_a_broker(
    test: Test,
    *,
    seed: int,
    latency_ms: tuple[int, int] = (0, 0),
    properties: dict[str, str] | None = None,
) -> SimulatedMachine:
    """The broker runs when the test begins; the test may leave it in any state."""
    loop = VirtualTimeLoop()
    chance = random.Random(seed)
    options = {name.replace("_", "."): value for name, value in (properties or {}).items()}
    machine = SimulatedMachine(
        SimulatedNetwork(loop, chance, latency_ms=latency_ms),
        MemoryTree(),
        chance,
        properties=options,
    )

    async def main() -> None:
        await machine.start()
        await test(machine)
        if machine.is_running:
            await machine.stop()

    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.run(main())
        loop.check()
    return machine
