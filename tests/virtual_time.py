"""Runs a test on virtual time: an hour of waiting costs nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, ParamSpec

from ottla.simulation.loop import VirtualTimeLoop

P = ParamSpec("P")


def on_virtual_time(test: Callable[P, Coroutine[Any, Any, None]]) -> Callable[P, None]:
    @wraps(test)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        loop = VirtualTimeLoop()
        with asyncio.Runner(loop_factory=lambda: loop) as runner:
            runner.run(test(*args, **kwargs))
            loop.check()

    return run


def virtual_loop() -> VirtualTimeLoop:
    """The loop of the test that is running."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualTimeLoop), "use @on_virtual_time"
    return loop
