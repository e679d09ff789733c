"""`ottla log recover`: what a broker does at its start after a crash, without the broker."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console

from ottla.cli.failure import fail
from ottla.cli.log_verify import Bar
from ottla.cli.output import print_json_lines
from ottla.cli.reading import explained
from ottla.storage.config import LogConfig
from ottla.storage.directory import DirectoryRefused, LogDirectory
from ottla.storage.disk import RealDisk
from ottla.storage.names import Kind
from ottla.storage.properties import META_PROPERTIES, parse_meta_properties
from ottla.storage.threads import FileThreads
from ottla.timing.clock import SystemClock


@explained
def recover_command(
    folder: Annotated[str, typer.Argument(help="A log directory.", metavar="DIR")],
    *,
    threads: Annotated[int, typer.Option(help="So many partitions at a time.", min=1, max=64)] = 2,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Recover a log directory after a crash, and leave it as after a clean stop.

    Every partition is checked from its recovery point on and cut at the first bad byte; indexes and
    producer state are made anew. After a clean stop there is nothing to do. A broker does the
    same when it starts; no broker may be running on the directory.

    With `--json` the object has the keys `was_clean`, `partitions` and `checked_bytes`.

    Exit code: 0 done; 1 not possible; 2 wrong call.

    Example:

    - `ottla log recover data`
    """
    disk, now_ms = RealDisk(), SystemClock().now_ms()
    path = f"{folder}/{META_PROPERTIES}"
    if disk.status(path) is None:
        raise typer.BadParameter(f"{folder} is not a log directory: it has no {META_PROPERTIES}.")
    meta = parse_meta_properties(disk.read(path), path)
    try:
        directory = LogDirectory.open(
            disk,
            folder,
            lambda topic: LogConfig(),
            broker_id=-1 if meta.node_id is None else meta.node_id,
            cluster_id=meta.cluster_id,
            now_ms=now_ms,
        )
    except DirectoryRefused as refusal:
        fail(f"{refusal}.")
    checked = _recover(directory, FileThreads(threads), now_ms)
    if as_json:
        result = {"was_clean": directory.was_clean, "partitions": len(directory.folders)}
        print_json_lines([{**result, "checked_bytes": checked}])
    elif directory.was_clean:
        typer.echo(f"{folder} was closed cleanly: there was nothing to recover.")
    else:
        typer.echo(f"Recovered {len(directory.folders)} partitions, {checked:,} bytes checked.")


def _recover(directory: LogDirectory, threads: FileThreads, now_ms: int) -> int:
    done = [0]
    total = sum(_log_bytes(directory, str(folder)) for folder in directory.folders.values())
    with Bar(Console(stderr=True), doing="recovering") as bar:

        def advance(size_bytes: int) -> None:
            done[0] += size_bytes
            bar.show(done[0], max(total, done[0]))

        threads.run_all(directory.recoveries(now_ms=now_ms, on_progress=advance))
        directory.close(threads)
    threads.close()
    return done[0]


def _log_bytes(directory: LogDirectory, folder: str) -> int:
    path = f"{directory.path}/{folder}"
    sizes = (
        directory.disk.status(f"{path}/{name}")
        for name in directory.disk.names(path)
        if name.endswith(Kind.LOG.value)
    )
    return sum(status.size_bytes for status in sizes if status is not None)
