"""`ottla log explain-compaction`: what compaction would do with a partition, key by key."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Annotated

import typer
from rich.console import Console

from ottla.cli.compaction_output import print_history, print_summary, text_of_keys
from ottla.cli.compaction_settings import read_settings
from ottla.cli.failure import fail
from ottla.cli.log_verify import Bar
from ottla.cli.reading import explained
from ottla.logtools.compaction_report import CompactionReport
from ottla.logtools.finding import Severity
from ottla.logtools.key_choice import KeyChoice
from ottla.logtools.partition_state import read_state
from ottla.logtools.verify import NoLogs, log_bytes
from ottla.storage.config import LogConfig
from ottla.storage.disk import RealDisk
from ottla.timing.clock import SystemClock

_SHOW_EVERY_BYTES = 1024 * 1024
_PASSES = 3  # the facts, the map, the fates: a first guess

Folder = Annotated[str, typer.Argument(help="A partition's folder.", metavar="DIR")]
Keys = Annotated[
    list[str] | None,
    typer.Option("--key", help="Tell the history of this key. Again for more keys."),
]
KeyHex = Annotated[bool, typer.Option("--key-hex", help="The keys are given in hexadecimal.")]
Top = Annotated[int, typer.Option("--top", help="So many keys, those with most bytes.", min=1)]
All = Annotated[bool, typer.Option("--all", help="Tell the fate of every record.")]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="An option of the topic, if not the default."),
]
Now = Annotated[
    int | None, typer.Option("--now", metavar="MS", help="As if this were the time, in ms.", min=0)
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


HELP = """Show what compaction would keep and drop in a partition, and why a record is still there.

Only the files are read and nothing is changed, so the broker, Kafka or Ottla, may run or not.
A topic's options are not in its files: tell those that differ from Kafka's defaults with
`--set`: min.compaction.lag.ms, max.compaction.lag.ms, delete.retention.ms,
min.cleanable.dirty.ratio, segment.bytes. Bytes of a key are those of its keys, values and
headers before compression. In an internal topic a group or a transactional id is key enough.

With `--json`: one object for the log, with `keys`, a list; with `--key` or `--all` one object
a record and line. Of a record: `offset`, `timestamp`, `key` (text, decoded, or null),
`key_hex`, `value_bytes` (null: a tombstone), `size_bytes`, `marker`, `kept`, `verdict`,
`detail` (an offset or a time in ms), `why`. Of a key: `key`, `key_hex`, `records`,
`size_bytes`, `kept`, `dropped`, `kept_bytes`, `oldest_kept` (a record). Of the log, besides:
`partition`, `now`, offsets (`log_start_offset`, `first_dirty_offset`,
`first_uncleanable_offset`, `last_stable_offset`, `high_watermark`, `log_end_offset`), `bound`,
`clean_bytes`, `cleanable_bytes`, `dirty_ratio`, `would_compact`, `reason`, `bytes_now`,
`bytes_after`, `segments_now`, `segments_after`, `records_kept`, `records_dropped`,
`verdicts`, `key_count` (null if there are too many), `keys_cut`, `findings`.

Exit code: 0 explained; 1 a batch is corrupt, a key is not there, or a file cannot be read;
2 wrong call.

Examples:

- `ottla log explain-compaction data/orders-0`
- `ottla log explain-compaction data/orders-0 --key customer-17`
- `ottla log explain-compaction data/__consumer_offsets-7 --key my-group`
- `ottla log explain-compaction data/orders-0 --set min.compaction.lag.ms=3600000 --json`
"""


@explained
def explain_compaction(
    folder: Folder,
    *,
    keys: Keys = None,
    key_hex: KeyHex = False,
    top: Top = 20,
    all_: All = False,
    settings: Settings = None,
    now: Now = None,
    as_json: AsJson = False,
) -> None:
    config = read_settings(settings or [])
    choice = _choice(keys or [], is_hex=key_hex, all_=all_)
    now_ms = SystemClock().now_ms() if now is None else now
    try:
        with Bar(Console(stderr=True), doing="reading") as bar:
            report = _open(folder, config, now_ms=now_ms, bar=bar)
            if choice is None:
                print_summary(report, top=top, as_json=as_json, bar=bar)
            else:
                print_history(report, choice, as_json=as_json, bar=bar)
    except FileNotFoundError as cause:
        if not os.path.isdir(folder):
            raise
        fail(f"{cause.filename} went while it was read: a broker is at work there. Try again.")
    for finding in report.findings:
        typer.echo(f"{finding.severity.value}: {finding}", err=True)
    if choice is not None and (missing := choice.missing(text_of_keys(report))):
        fail(" ".join(missing))
    if any(finding.severity is Severity.ERROR for finding in report.findings):
        raise typer.Exit(1)


def _choice(keys: Sequence[str], *, is_hex: bool, all_: bool) -> KeyChoice | None:
    """Whose records to tell one by one; None for a summary."""
    if keys and all_:
        raise typer.BadParameter("give keys or --all, not both.")
    if is_hex and not keys:
        raise typer.BadParameter("goes with --key.", param_hint="--key-hex")
    if not keys and not all_:
        return None
    try:
        wanted = [bytes.fromhex(key.removeprefix("0x")) for key in keys] if is_hex else []
    except ValueError as cause:
        raise typer.BadParameter(f"{', '.join(keys)}: not hexadecimal.") from cause
    return KeyChoice(names=[] if is_hex else keys, keys=wanted)


def _open(folder: str, config: LogConfig, *, now_ms: int, bar: Bar) -> CompactionReport:
    disk = RealDisk()
    path = os.path.abspath(folder) if os.path.basename(folder) in ("", ".", "..") else folder
    status = disk.status(path)
    if status is None:
        raise FileNotFoundError(2, "No such file or directory", folder)
    if not status.is_folder:
        raise typer.BadParameter(f"{folder} is a file. Give the partition's folder that holds it.")
    steps = _Steps(bar, log_bytes(disk, path))
    try:
        state = read_state(disk, path, config, now_ms=now_ms, advance=steps.advance)
    except NoLogs as cause:
        raise typer.BadParameter(
            f"{folder} is not a partition's folder: it holds no .log files. Give one, as orders-0 "
            "is in a log directory."
        ) from cause
    report = CompactionReport(disk, state, now_ms=now_ms, advance=steps.advance)
    steps.total = steps.done + report.pass_bytes
    return report


class _Steps:
    """Tells the bar how far the reading is, not more often than it matters."""

    def __init__(self, bar: Bar, size_bytes: int) -> None:
        self._bar = bar
        self._shown = 0
        self.done = 0
        self.total = size_bytes * _PASSES

    def advance(self, size_bytes: int) -> None:
        self.done += size_bytes
        if self.done - self._shown >= _SHOW_EVERY_BYTES:
            self._shown = self.done
            self._bar.show(self.done, self.total)
