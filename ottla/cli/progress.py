"""A count that appears on a terminal once the work has taken two seconds."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

_PATIENCE_S = 2


class Counter:
    """On stderr, so that what is piped stays clean; it goes when the work is done.

    With a `total` there is a bar, too.
    """

    def __init__(
        self,
        what: str,
        console: Console | None = None,
        clock: Callable[[], float] | None = None,
        *,
        total: int | None = None,
    ) -> None:
        console = console or Console(stderr=True)
        self._progress = Progress(
            SpinnerColumn(),
            *([] if total is None else [BarColumn()]),
            TextColumn(f"{{task.completed:,}} {what}"),
            TimeElapsedColumn(),
            console=console,
            transient=True,
            get_time=clock,
            disable=not console.is_terminal,
        )
        self._task = self._progress.add_task(what, total=total)
        self._began = self._progress.get_time()
        self._is_shown = False

    def __enter__(self) -> Counter:
        return self

    def show(self, count: int) -> None:
        if not self._is_shown and self._progress.get_time() - self._began > _PATIENCE_S:
            self._is_shown = True
            self._progress.start()
        if self._is_shown:
            self._progress.update(self._task, completed=count)

    def __exit__(
        self, kind: object, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._progress.stop()
