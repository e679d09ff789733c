"""`ottla groups lag`: how far behind a group is in records and in time, and if it keeps up."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Annotated

import typer
from rich.console import Console

from ottla.admin.cluster import Cluster
from ottla.admin.group_lag import GroupLag, LagWatch, PartitionLag
from ottla.admin.lag import Status
from ottla.cli.connecting import DEFAULT_BOOTSTRAP, AsJson, Bootstrap, on_cluster
from ottla.cli.durations import show_duration
from ottla.cli.group_names import OneGroup
from ottla.cli.group_output import known, partition_to_json
from ottla.cli.outcomes import count
from ottla.cli.output import print_table, visible
from ottla.timing.clock import SystemClock

_COLUMNS = (
    "topic", "partition", "committed", "end", "lag", "age", "read/s", "written/s", "done in",
    "owner", "verdict",
)  # fmt: skip
_SAMPLES = 3  # in six seconds: a consumer commits every five if nothing else is said
_NOTHING = "-"
_ONE_SAMPLE = "ok (one sample)"  # nothing can be said against it yet
Watch = Annotated[bool, typer.Option("--watch", "-w", help="Look again and again; Ctrl-C ends it.")]
Samples = Annotated[
    int | None,
    typer.Option("--samples", "-n", min=1, help="Look so often.", show_default="3"),
]
Every = Annotated[float, typer.Option(min=0, metavar="SECONDS", help="How long between two looks.")]


def lag(
    group: OneGroup,
    *,
    watch: Watch = False,
    samples: Samples = None,
    every: Every = 3.0,
    bootstrap: Bootstrap = DEFAULT_BOOTSTRAP,
    as_json: AsJson = False,
) -> None:
    """Show how far behind a group is: in records, in time, and whether it gets better.

    The age is that of the next unread record. Rates and verdicts need several looks, over a longer
    time than the consumers take between two commits (5 seconds by default). A verdict after
    Burrow's rules is `ok`; `warning` (it reads, but the lag never shrinks); `stalled` (a member
    holds the partition and does not come forward); `stopped` (nobody commits any more);
    `rewinding` (it went back). The group's own is `ok`, `warning` or `error`.

    The object of `--json`, with `--watch` one a line, has the keys `group`, `state`, `status`,
    `samples`, `at_ms`, `lag`, `age_ms` (of the oldest) and `partitions`, whose objects have
    `topic`, `partition`, `committed`, `end`, `lag`, `age_ms`, `read_per_s`, `written_per_s`,
    `caught_up_in_s`, `status`, `member_id`, `client_id` and `host`; null is what is not known.

    Exit code: 0 shown, whatever the verdict; 1 there is no such group; 2 wrong call.

    Examples:

    - `ottla groups lag billing`
    - `ottla groups lag billing --watch --every 10`
    - `ottla groups lag billing --samples 1 --json`
    """

    async def look(cluster: Cluster) -> None:
        view = LagWatch(cluster, group, SystemClock())
        wanted = samples or (None if watch else _SAMPLES)
        if not watch and wanted != 1 and sys.stderr.isatty():
            typer.echo(f"Looking {wanted} times, every {every:g} seconds …", err=True)
        number = 0
        while wanted is None or number < wanted:
            if number:
                await asyncio.sleep(every)
            number += 1
            found = await view.look()
            if watch or number == wanted:
                _show(found, watch=watch, as_json=as_json)

    try:
        on_cluster(bootstrap, look)
    except KeyboardInterrupt:
        if not watch:
            raise


def _show(found: GroupLag, *, watch: bool, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(_to_json(found), indent=None if watch else 2))
        return
    if watch and sys.stdout.isatty():
        Console().clear()
    typer.echo(visible(_summary(found)))
    if found.partitions:
        print_table(_COLUMNS, [_row(each) for each in found.partitions])


def _summary(found: GroupLag) -> str:
    lags = [each.lag for each in found.partitions if each.lag is not None]
    behind = f"{count(sum(lags), 'record')} behind in {count(len(lags), 'partition')}"
    ages = [each.age_ms for each in found.partitions if each.age_ms]
    oldest = f", the oldest {show_duration(max(ages))} old" if ages else ""
    return f"{found.group.id}: {_verdict(found)}; {found.group.state}, {behind}{oldest}"


def _verdict(found: GroupLag) -> str:
    if found.samples == 1:
        return _ONE_SAMPLE
    bad = [each.status for each in found.partitions if each.status is not Status.OK]
    kinds = [f"{bad.count(status)} {status.word}" for status in Status if status in bad]
    why = f": {', '.join(kinds)}" if kinds else ""
    return f"{found.status.word}{why} ({found.samples} samples)"


def _row(each: PartitionLag) -> tuple[str, ...]:
    window = each.window
    return (
        visible(each.partition.topic),
        str(each.partition.partition),
        known(each.offset),
        known(each.end_offset),
        known(each.lag),
        _NOTHING if each.age_ms is None else show_duration(each.age_ms),
        _rate(window.read_per_s() if window else None),
        _rate(window.written_per_s() if window else None),
        _until(window.caught_up_in_s() if window else None),
        visible(each.owner.client_id) if each.owner else _NOTHING,
        _word(each),
    )


def _word(each: PartitionLag) -> str:
    if each.end_offset is None:
        return "the topic is gone, or has no leader"
    if each.window is None:
        return "nothing committed yet"
    if len(each.window.observations) == 1:
        return _ONE_SAMPLE
    return each.status.word


def _rate(per_s: float | None) -> str:
    return _NOTHING if per_s is None else f"{per_s:.1f}"


def _until(seconds: float | None) -> str:
    return _NOTHING if seconds is None else show_duration(seconds * 1000)


def _to_json(found: GroupLag) -> dict[str, object]:
    lags = [each.lag for each in found.partitions if each.lag is not None]
    ages = [each.age_ms for each in found.partitions if each.age_ms is not None]
    return {
        "group": found.group.id,
        "state": found.group.state,
        "status": found.status.word,
        "samples": found.samples,
        "at_ms": found.at_ms,
        "lag": sum(lags),
        "age_ms": max(ages, default=None),
        "partitions": [_partition_to_json(each) for each in found.partitions],
    }


def _partition_to_json(each: PartitionLag) -> dict[str, object]:
    window = each.window
    return {
        **partition_to_json(each),
        "age_ms": each.age_ms,
        "read_per_s": window.read_per_s() if window else None,
        "written_per_s": window.written_per_s() if window else None,
        "caught_up_in_s": window.caught_up_in_s() if window else None,
        "status": each.status.word,
    }
