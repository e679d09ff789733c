"""`ottla log dump`: files of a log directory, line by line or as JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from typing import Annotated

import typer

from ottla.cli.output import visible
from ottla.cli.reading import explained
from ottla.logtools.dump import Contents, Dump, DumpOptions, Release, is_dumpable
from ottla.logtools.finding import Severity
from ottla.storage.disk import RealDisk
from ottla.storage.files import Disk
from ottla.storage.names import BadName, parse_folder_name

_LINES_AT_ONCE = 200


Paths = Annotated[list[str], typer.Argument(help="Files or folders to show.", metavar="FILE|DIR…")]
PrintData = Annotated[
    bool,
    typer.Option("--print-data", "--print-data-log", help="Show records, with keys and values."),
]
Deep = Annotated[
    bool, typer.Option("--deep-iteration", help="Show records, without keys and values.")
]
Offsets = Annotated[
    bool, typer.Option("--offsets-decoder", help="Decode the records of __consumer_offsets.")
]
Transactions = Annotated[
    bool,
    typer.Option("--transaction-log-decoder", help="Decode the records of __transaction_state."),
]
AsFormat = Annotated[Release, typer.Option("--format", help="The Kafka release to speak like.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object a line.")]


@explained
def dump(
    paths: Paths,
    *,
    print_data: PrintData = False,
    deep: Deep = False,
    offsets_decoder: Offsets = False,
    transaction_log_decoder: Transactions = False,
    format_: AsFormat = Release.KAFKA_3_9,
    as_json: AsJson = False,
) -> None:
    """Show what is in files of a log directory, as kafka-dump-log does.

    Logs, both indexes (checked against the log), transaction indexes and producer snapshots come
    in the words of Kafka's tool; checkpoints, partition.metadata and meta.properties in ours. What
    is wrong with a file is said at the end, on stderr.

    Exit code: 0 all is well; 1 something is wrong or cannot be read; 2 wrong call.

    Examples:

    - `ottla log dump data/orders-0/00000000000000000000.log --print-data`
    - `ottla log dump data/orders-0 | head`
    - `ottla log dump data/__consumer_offsets-7 --offsets-decoder --json`
    """
    if offsets_decoder and transaction_log_decoder:
        raise typer.BadParameter("give one decoder, not two.")
    contents = Contents.TEXT if print_data else Contents.NONE
    if offsets_decoder:
        contents = Contents.OFFSETS
    elif transaction_log_decoder:
        contents = Contents.TRANSACTIONS
    disk = RealDisk()
    run = Dump(disk, DumpOptions(contents, records=deep, release=format_))
    files = [file for path in paths for file in _files(disk, path)]
    _print(_json_lines(run, files) if as_json else _text_lines(run, files))
    for finding in run.findings:
        typer.echo(f"{finding.severity.value}: {finding}", err=True)
    if any(finding.severity is not Severity.NOTE for finding in run.findings):
        raise typer.Exit(1)


def _files(disk: Disk, path: str) -> list[str]:
    status = disk.status(path)
    if status is None:
        raise FileNotFoundError(2, "No such file or directory", path)
    if not status.is_folder:
        if not is_dumpable(path):
            raise typer.BadParameter(
                f"{path} is not named like a file of a log directory, so nobody can tell what "
                "is in it. Give a .log, .index, .timeindex, .txnindex, .snapshot, a checkpoint, "
                "partition.metadata or meta.properties."
            )
        return [path]
    found = list(_files_in(disk, path.rstrip("/") or "/"))
    if not found:
        raise typer.BadParameter(
            f"{path} holds no files of a log. Give a log directory, or a partition's folder in it."
        )
    return found


def _files_in(disk: Disk, folder: str) -> Iterator[str]:
    for name in disk.names(folder):
        path = f"{folder}/{name}"
        status = disk.status(path)
        if status is not None and status.is_folder:
            if _is_partition(name):
                yield from (file for file in _files_in(disk, path))
        elif is_dumpable(path):
            yield path


def _is_partition(name: str) -> bool:
    try:
        parse_folder_name(name)
    except BadName:
        return False
    return True


def _text_lines(run: Dump, files: list[str]) -> Iterator[str]:
    for file in files:
        yield f"Dumping {file}"
        yield from (line.text for line in run.lines(file))


def _json_lines(run: Dump, files: list[str]) -> Iterator[str]:
    for file in files:
        for line in run.lines(file):
            yield json.dumps({"file": file, **line.to_json()}, separators=(",", ":"))


def _print(lines: Iterable[str]) -> None:
    """Many lines at once: a flush for each would take longer than the reading."""
    shows = visible if sys.stdout.isatty() else str
    pending: list[str] = []
    for line in lines:
        pending.append(shows(line))
        if len(pending) == _LINES_AT_ONCE:
            typer.echo("\n".join(pending))
            pending.clear()
    if pending:
        typer.echo("\n".join(pending))
