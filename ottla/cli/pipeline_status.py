"""`ottla pipeline status`: how pipelines fare, from what they wrote down and from their groups."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Annotated

import typer
from rich.console import Console

from ottla.admin.addresses import BadAddress
from ottla.admin.cluster import Cluster
from ottla.admin.group_lag import GroupLag, LagWatch
from ottla.cli.connecting import AsJson
from ottla.cli.durations import show_duration
from ottla.cli.failure import fail
from ottla.cli.output import print_table, visible
from ottla.cli.pipeline_names import StateRoot, reaching, state_of
from ottla.pipelines.running.state import DEFAULT_ROOT, StateFolder, pipelines_of
from ottla.pipelines.running.status import State, Status
from ottla.protocol.errors import KafkaError
from ottla.timing.clock import SystemClock

_SILENT_AFTER_MS = 30_000
_EVERY_S = 2.0
_NOTHING = "-"
_COLUMNS = (
    "pipeline", "state", "batch", "took", "in/s", "out/s", "lag", "age", "done in", "dead", "error",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Seen:
    """One pipeline at one moment. None is what nobody can tell: the cluster does not answer."""

    status: Status
    state: str
    lag: int | None
    age_ms: int | None

    @property
    def caught_up_in_s(self) -> float | None:
        if self.lag is None or self.state != State.RUNNING:
            return None
        if not self.lag:
            return 0.0
        return self.lag / self.status.in_per_s if self.status.in_per_s else None


def status(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]…", help="Only these; all without.")
    ] = None,
    *,
    watch: Annotated[
        bool, typer.Option("--watch", "-w", help="Look again and again; Ctrl-C ends it.")
    ] = False,
    prometheus: Annotated[
        bool, typer.Option("--prometheus", help="Print metrics for a text-file collector.")
    ] = False,
    state: StateRoot = None,
    as_json: AsJson = False,
) -> None:
    """Show how pipelines fare: state, rates, lag in records and in time, dead letters, last error.

    `silent` is one that says it runs, but has not been heard of for half a minute: its process is
    gone, or its machine. The age is that of the oldest record that is not read yet.

    The objects of `--json`, with `--watch` one a line, have what the runner writes down
    (`pipeline`, `state`, `batch`, `rows_in`, `in_per_s`, `dead_letters`, `last_error` …) and
    `lag`, `age_ms` and `caught_up_in_s`; null is what is not known.

    Examples:

    - `ottla pipeline status --watch`
    - `ottla pipeline status page-views --json`
    """
    root = state or DEFAULT_ROOT
    wanted = names or pipelines_of(root, reaching(root))
    if not wanted:
        typer.echo(f"No pipeline has run with its state in {root}; --state says where else.")
        return
    folders = [state_of(root, name) for name in wanted]
    try:
        asyncio.run(_look(folders, watch=watch, as_json=as_json, prometheus=prometheus))
    except KeyboardInterrupt:
        if not watch:
            raise


async def _look(
    folders: Sequence[StateFolder], *, watch: bool, as_json: bool, prometheus: bool
) -> None:
    while True:
        seen = [await _seen(folder) for folder in folders]
        if prometheus:
            typer.echo(to_prometheus(seen), nl=False)
        elif as_json:
            indent = None if watch else 2
            typer.echo(json.dumps([to_json(each) for each in seen], indent=indent))
        else:
            if watch and sys.stdout.isatty():
                Console().clear()
            print_table(_COLUMNS, [_row(each) for each in seen])
        if not watch:
            return
        await asyncio.sleep(_EVERY_S)


async def _seen(folder: StateFolder) -> Seen:
    found = folder.status()
    if found is None:
        fail(f"no pipeline {folder.name} has run with its state in {folder.path}.")
    now_ms = SystemClock().now_ms()
    says_it_runs = found.state in (State.STARTING, State.RUNNING)
    is_silent = says_it_runs and now_ms - found.updated_ms > _SILENT_AFTER_MS
    lag = await _lag(found) if found.topics else None
    known = [each for each in lag.partitions if each.lag is not None] if lag else []
    return Seen(
        status=found,
        state="silent" if is_silent else found.state,
        lag=sum(each.lag or 0 for each in known) if known else None,
        age_ms=max((each.age_ms or 0 for each in known), default=None),
    )


async def _lag(status: Status) -> GroupLag | None:
    try:
        async with Cluster(status.bootstrap, timeout_ms=5_000) as cluster:
            return await LagWatch(cluster, status.group, SystemClock()).look()
    except (BadAddress, KafkaError, OSError):
        return None


def to_json(seen: Seen) -> dict[str, object]:
    return {
        **asdict(seen.status),
        "state": seen.state,
        "lag": seen.lag,
        "age_ms": seen.age_ms,
        "caught_up_in_s": seen.caught_up_in_s,
    }


def _row(seen: Seen) -> tuple[str, ...]:
    status = seen.status
    left = seen.caught_up_in_s
    return (
        visible(status.pipeline),
        seen.state,
        _NOTHING if status.batch is None else str(status.batch),
        show_duration(status.batch_ms),
        f"{status.in_per_s:,.0f}",
        f"{status.out_per_s:,.0f}",
        _NOTHING if seen.lag is None else f"{seen.lag:,}",
        _NOTHING if seen.age_ms is None else show_duration(seen.age_ms),
        _NOTHING if left is None else show_duration(left * 1000),
        f"{status.dead_letters:,}",
        visible((status.last_error or _NOTHING).splitlines()[0]),
    )


_METRICS: dict[str, tuple[str, Callable[[Seen], float | None]]] = {
    "up": ("1 while it runs", lambda seen: int(seen.state == State.RUNNING)),
    "rows_in_total": ("records read by this run", lambda seen: seen.status.rows_in),
    "rows_out_total": ("rows written by this run", lambda seen: seen.status.rows_out),
    "dead_letters_total": ("of this run", lambda seen: seen.status.dead_letters),
    "dropped_total": ("records dropped by rules", lambda seen: sum(seen.status.dropped.values())),
    "batch_seconds": ("the last batch took", lambda seen: seen.status.batch_ms / 1000),
    "in_per_second": ("of the last batch", lambda seen: seen.status.in_per_s),
    "lag_records": ("not read yet", lambda seen: seen.lag),
    "lag_seconds": (
        "age of the oldest record not read yet",
        lambda seen: None if seen.age_ms is None else seen.age_ms / 1000,
    ),
}


def to_prometheus(seen: Sequence[Seen]) -> str:
    lines = []
    for name, (text, value_of) in _METRICS.items():
        kind = "counter" if name.endswith("_total") else "gauge"
        lines += [f"# HELP ottla_pipeline_{name} {text}", f"# TYPE ottla_pipeline_{name} {kind}"]
        for each in seen:
            if (value := value_of(each)) is not None:
                label = json.dumps(each.status.pipeline)
                lines.append(f"ottla_pipeline_{name}{{pipeline={label}}} {value}")
    return "".join(f"{line}\n" for line in lines)
