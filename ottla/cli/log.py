"""`ottla log`: what lies in log files, whether it is sound, what compaction would do with it."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from ottla.cli.dump import dump
from ottla.cli.explain_compaction import HELP, explain_compaction
from ottla.cli.failure import fail
from ottla.cli.log_verify import verify_command
from ottla.cli.output import print_table
from ottla.cli.reading import explained
from ottla.cli.recover import recover_command
from ottla.logtools.index import DEFAULT_INTERVAL_BYTES, Change, changes, rebuild, write
from ottla.logtools.paths import sibling, split_path
from ottla.storage.disk import RealDisk
from ottla.storage.names import BadName, Kind, parse_file_name

log = typer.Typer(
    add_completion=False,
    help="Look into log files, check them, explain compaction, and rebuild indexes.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)
log.command("dump")(dump)
log.command("verify")(verify_command)
log.command("recover")(recover_command)
log.command("explain-compaction", help=HELP)(explain_compaction)
_SHOWN_ENTRIES = 10


@log.command()
@explained
def index(
    file: Annotated[str, typer.Argument(help="A segment's .log file.", metavar="FILE")],
    *,
    interval_bytes: Annotated[
        int,
        typer.Option(help="The topic's index.interval.bytes: so far apart are entries.", min=0),
    ] = DEFAULT_INTERVAL_BYTES,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what would change; 1 if anything.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Rebuild the .index and .timeindex of a segment from its .log.

    As Kafka does after a crash. Each file is written aside and then renamed; a broker must not
    be running on the directory. A log that is damaged is left as it is: the broker has to cut it.

    Exit code: 0 done (or, with `--dry-run`, nothing to change); 1 not possible (or something would
    change); 2 wrong call.

    Examples:

    - `ottla log index data/orders-0/00000000000000000000.log --dry-run`
    - `ottla log index data/orders-0/00000000000000000000.log`
    """
    disk = RealDisk()
    path = _log_of(file)
    name = parse_file_name(split_path(path)[1])
    if not dry_run:
        _refuse_if_in_use(disk, split_path(split_path(path)[0])[0])
    rebuilt = rebuild(disk, path, name, interval_bytes=interval_bytes)
    found = changes(disk, path, name, rebuilt)
    if as_json:
        typer.echo(json.dumps([_to_json(change) for change in found]))
    else:
        _print_changes(found)
    if dry_run:
        raise typer.Exit(0 if all(change.is_same for change in found) else 1)
    for change in found:
        if not change.is_same:
            write(disk, change)


def _log_of(file: str) -> str:
    """The .log file that is meant, by any file of its segment."""
    try:
        return sibling(file, parse_file_name(split_path(file)[1]), Kind.LOG)
    except BadName as cause:
        raise typer.BadParameter(
            f"{file} is not named like a file of a segment ({cause.reason}), "
            "as 00000000000000000000.log is."
        ) from cause


def _refuse_if_in_use(disk: RealDisk, directory: str) -> None:
    path = f"{directory}/.lock"
    if disk.status(path) is None:
        return
    try:
        disk.lock(path).release()
    except BlockingIOError:
        fail(f"a broker is running on {directory}. Stop it first; it would not see the new files.")


def _to_json(change: Change) -> dict[str, object]:
    return {
        "file": change.path,
        "same": change.is_same,
        "present": None if change.present is None else len(change.present),
        "rebuilt": len(change.wanted),
        "added": change.added(),
        "removed": change.removed(),
    }


def _print_changes(found: tuple[Change, ...]) -> None:
    rows = []
    for change in found:
        present = "none" if change.present is None else str(len(change.present))
        rows.append((change.path, present, str(len(change.wanted)), _difference(change)))
    print_table(("file", "entries", "rebuilt", "difference"), rows)


def _difference(change: Change) -> str:
    if change.is_same:
        return "the same"
    words = []
    for sign, entries in (("+", change.added()), ("-", change.removed())):
        words += [f"{sign}{first}:{second}" for first, second in entries[:_SHOWN_ENTRIES]]
        if len(entries) > _SHOWN_ENTRIES:
            words.append(f"{sign}{len(entries) - _SHOWN_ENTRIES} more")
    return " ".join(words) or "the unused tail goes"
