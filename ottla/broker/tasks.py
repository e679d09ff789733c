"""Every task of a broker that is not a request of its own; they end with it."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from ottla.timing.survival import survived


class Tasks:
    """An owner: none is started elsewhere, and all are cancelled when it is left."""

    async def __aenter__(self) -> Tasks:
        self._group = asyncio.TaskGroup()
        await self._group.__aenter__()
        self._tasks: dict[asyncio.Task[None], None] = {}
        return self

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = self._group.create_task(work)
        self._tasks[task] = None
        task.add_done_callback(lambda done: self._tasks.pop(done, None))

    def spawn_for_client(self, work: Coroutine[Any, Any, None], name: str) -> None:
        """Its failure is no reason for the others to end: nobody may stop a broker from outside."""

        async def guarded() -> None:
            await survived(work, name)

        self.spawn(guarded())

    async def __aexit__(self, *failure: Any) -> None:
        for task in list(self._tasks):
            task.cancel()
        await self._group.__aexit__(None, None, None)
