"""`ottla log verify`: checks log files, with a bar while it takes long."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from ottla.cli.output import print_json_lines, print_table
from ottla.cli.reading import explained
from ottla.logtools.finding import Finding
from ottla.logtools.verify import NoLogs, Report, verify
from ottla.storage.disk import RealDisk

_PATIENCE_S = 2


class Bar:
    """Appears on a terminal once the work has taken two seconds, and goes when it is done."""

    def __init__(
        self, console: Console, clock: Callable[[], float] | None = None, doing: str = "checking"
    ) -> None:
        self._progress = Progress(
            TextColumn(doing),
            BarColumn(),
            DownloadColumn(),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            get_time=clock,
            disable=not console.is_terminal,
        )
        self._task = self._progress.add_task(doing, total=None)
        self._began = self._progress.get_time()
        self._stopped = False

    def __enter__(self) -> Bar:
        return self

    def show(self, done: int, total: int) -> None:
        if not self._stopped and self._progress.get_time() - self._began > _PATIENCE_S:
            self._progress.start()
        self._progress.update(self._task, completed=done, total=total)

    def stop(self) -> None:
        """For good, so that what is printed next does not end up in it."""
        self._stopped = True
        self._progress.stop()

    def __exit__(
        self, kind: object, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()


@explained
def verify_command(
    folder: Annotated[
        str, typer.Argument(help="A log directory, or a partition's folder.", metavar="DIR")
    ],
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Check everything in a log directory, or in one partition's folder.

    Every batch (checksum, offsets, records), the indexes against the log, transaction indexes and
    producer snapshots against a replay of it, leader epochs, checkpoints, names, leftovers. Nothing
    is changed. A `note` is harmless; a `warning` is worth a look; an `error` is damage.

    With `--json` the object has the keys `partitions`, `size_bytes`, `sound` and `findings`: a
    list of objects with `severity`, `file`, `position`, `what` and `fix`.

    Exit code: 0 sound (notes at most); 1 findings; 2 wrong call.

    Examples:

    - `ottla log verify data`
    - `ottla log verify data/orders-0 --json`
    """
    with Bar(Console(stderr=True)) as bar:
        try:
            report = verify(RealDisk(), folder, bar.show)
        except NoLogs as cause:
            raise typer.BadParameter(
                f"{folder} is neither a log directory (no meta.properties, no folders like "
                "orders-0) nor a partition's folder (no .log files)."
            ) from cause
    if as_json:
        print_json_lines([_to_json(report)])
    else:
        _print(report)
    if not report.is_sound:
        raise typer.Exit(1)


def _to_json(report: Report) -> dict[str, object]:
    return {
        "partitions": report.partitions,
        "size_bytes": report.size_bytes,
        "sound": report.is_sound,
        "findings": [finding.to_json() for finding in report.findings],
    }


def _print(report: Report) -> None:
    if report.findings:
        columns = ("severity", "file", "at", "what is wrong, and what to do")
        print_table(columns, [_row(finding) for finding in report.findings])
    partitions = "1 partition" if report.partitions == 1 else f"{report.partitions} partitions"
    verdict = "sound" if report.is_sound else "not sound"
    typer.echo(f"Checked {partitions}, {report.size_bytes:,} bytes of logs: {verdict}.")


def _row(finding: Finding) -> tuple[str, ...]:
    position = "-" if finding.position is None else str(finding.position)
    words = f"{finding.what}. {finding.fix}"
    return finding.severity.value, finding.file, position, words
