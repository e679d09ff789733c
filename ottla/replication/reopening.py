"""Partitions that had no room on this broker are tried again until they have.

A full disk is no failed one. The controller was told that they cannot be here; when they can, it
hears of it as of a failed disk, and says again what our part in each of them is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from ottla.replication.leadership import Leadership
from ottla.timing.clock import Clock

_RETRY_SECONDS = 1.0


async def reopen_refused(
    leadership: Leadership, clock: Clock, tell_controller: Callable[[], Awaitable[None]]
) -> None:
    """Until it is cancelled. It sleeps while there is nothing to try."""
    while True:
        await leadership.was_refused.wait()
        await asyncio.sleep(_RETRY_SECONDS)
        async with leadership.turn:
            has_room = await leadership.open_refused(now_ms=clock.now_ms())
            if not leadership.refused:
                leadership.was_refused.clear()
        if has_room:
            await tell_controller()
