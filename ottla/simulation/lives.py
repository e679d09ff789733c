"""Which tasks belong to whom, so that all of one broker's can end when it dies."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextvars import Context, ContextVar, copy_context
from typing import Any

Task = asyncio.Task[Any]
_LIFE: ContextVar[Life | None] = ContextVar("life", default=None)


class Life:
    """A task and all that it starts, and what those start."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._tasks: dict[Task, None] = {}  # in the order they began
        loop.set_task_factory(_new_task)  # type: ignore[arg-type]  # typeshed's is too narrow

    def begin(self, work: Coroutine[Any, Any, None]) -> Task:
        context = copy_context()
        context.run(_LIFE.set, self)
        return self._loop.create_task(work, context=context)

    def add(self, task: Task) -> None:
        self._tasks[task] = None
        task.add_done_callback(lambda done: self._tasks.pop(done, None))

    def end(self) -> list[Task]:
        """Cancels them all; returns those that have yet to see it."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        return tasks


def _new_task(
    loop: asyncio.AbstractEventLoop,
    work: Coroutine[Any, Any, Any],
    *,
    context: Context | None = None,
    **options: Any,
) -> Task:
    task = asyncio.Task(work, loop=loop, context=context, **options)
    life = _LIFE.get() if context is None else context.get(_LIFE)
    if life is not None:
        life.add(task)
    return task
