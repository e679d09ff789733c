"""What a running pipeline shows: a line each on a terminal, a bar if its end is known, or JSON."""

from __future__ import annotations

import json
from dataclasses import asdict
from types import TracebackType

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn

from ottla.cli.durations import show_duration
from ottla.pipelines.running.status import Status


class Live:
    """On stderr, and only on a terminal; with `as_json` each batch is a line on stdout."""

    def __init__(self, *, as_json: bool, console: Console | None = None) -> None:
        console = console or Console(stderr=True)
        self._as_json = as_json
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=20),
            TextColumn("{task.fields[words]}"),
            console=console,
            disable=not console.is_terminal,
        )
        self._tasks: dict[str, TaskID] = {}

    def __enter__(self) -> Live:
        self._progress.start()
        return self

    def __exit__(
        self, kind: object, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._progress.stop()

    def begin(self, name: str) -> None:
        self._tasks[name] = self._progress.add_task(name, total=None, words="starting")

    def expect(self, name: str, records: int | None) -> None:
        """How many it is to read, if that is known."""
        self._progress.update(self._tasks[name], total=records)

    def show(self, status: Status) -> None:
        if self._as_json:
            typer.echo(json.dumps(asdict(status), separators=(",", ":")))
        task = self._tasks[status.pipeline]
        self._progress.update(task, completed=status.rows_in, words=in_words(status))


def in_words(status: Status) -> str:
    words = [
        f"batch {status.batch} in {show_duration(status.batch_ms)}",
        f"{status.rows_in:,} in, {status.rows_out:,} out",
        f"{status.in_per_s:,.0f}/s",
    ]
    if status.dead_letters:
        words.append(f"{status.dead_letters:,} dead letters")
    if dropped := sum(status.dropped.values()):
        words.append(f"{dropped:,} dropped")
    return " · ".join(words)
