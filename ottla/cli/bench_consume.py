"""`ottla bench consume`: how fast a cluster gives records, in the lines of Kafka's tool."""

from __future__ import annotations

import json
from contextlib import closing
from datetime import datetime
from typing import Annotated

import typer

from ottla.admin import confluent
from ottla.admin.confluent import ClientFailed, ConfluentSource, Settings
from ottla.admin.consuming import check_groups, starting_offsets
from ottla.admin.extras import MissingExtra
from ottla.admin.offsets import EARLIEST, LATEST
from ottla.admin.performance import COLUMNS, Reading
from ottla.admin.topics import partitions_of
from ottla.cli.connecting import DEFAULT_BOOTSTRAP, AsJson, Bootstrap, complete_topic, on_cluster
from ottla.cli.failure import fail
from ottla.cli.interruption import Interruption
from ottla.cli.outcomes import count
from ottla.timing.clock import Stopwatch, SystemClock

_POLL_S = 0.1
_POLLED_AT_ONCE = 10_000
Topic = Annotated[str, typer.Argument(metavar="TOPIC", autocompletion=complete_topic)]


def bench_consume(
    topic: Topic,
    *,
    records: Annotated[int, typer.Option("--records", "-n", min=1, help="How many.")] = 100_000,
    group: Annotated[
        str, typer.Option("--group", "-g", help="As a member of it.", show_default=False)
    ] = "",
    from_latest: Annotated[
        bool, typer.Option("--from-latest", help="Only what comes, not what is there.")
    ] = False,
    timeout: Annotated[
        float, typer.Option(min=0, metavar="SECONDS", help="Give up when nothing comes so long.")
    ] = 10.0,
    detailed: Annotated[bool, typer.Option("--detailed", help="A line at each interval.")] = False,
    interval: Annotated[
        float, typer.Option(min=0.01, metavar="SECONDS", help="Between two such lines.")
    ] = 5.0,
    header: Annotated[bool, typer.Option(help="A first line with the names.")] = True,
    bootstrap: Bootstrap = DEFAULT_BOOTSTRAP,
    as_json: AsJson = False,
) -> None:
    """Read records as fast as they come, and tell how fast that was.

    The line has the columns of Kafka's own tool; MB are of 1,048,576 bytes. Without `--group` all
    partitions are read and nothing is committed. The object of `--json` has the columns as its
    keys, without the times. Needs `pip install 'ottla[cli]'`.

    Exit code: 0 so many were read; 1 fewer came; 2 wrong call.

    Examples:

    - `ottla bench consume orders -n 1000000`
    """
    began_ms, run = SystemClock().now_ms(), _Run(interval if detailed else None)
    try:
        confluent.load()
        if header and not as_json:
            times = ("time", "threadId") if detailed else ("start.time", "end.time")
            typer.echo(", ".join((*times, *COLUMNS)))
        with closing(_source(bootstrap, topic, group, run, from_latest=from_latest)) as source:
            run.read(source, records, timeout)
    except (MissingExtra, ClientFailed) as cause:
        fail(f"{cause}.")
    if as_json:
        typer.echo(json.dumps(run.far.to_json(), indent=2))
    elif not detailed:
        ended_ms = began_ms + run.far.elapsed_ms
        typer.echo(", ".join((_time(began_ms), _time(ended_ms), *run.far.cells())))
    if run.far.records < records:
        fail(f"only {count(run.far.records, 'record')} of {records:,} came in time.")


class _Run:
    """One reading from its start: what came, and how long there was no partition to read."""

    def __init__(self, interval_s: float | None) -> None:
        self.far = Reading()
        self._interval_s = interval_s
        self._stopwatch = Stopwatch()
        self._told = Reading()
        self._waiting_since_ms: int | None = None

    def lose_partitions(self, partitions: object = ()) -> None:
        self._waiting_since_ms = self._now_ms()

    def get_partitions(self, partitions: object) -> None:
        if self._waiting_since_ms is not None:
            waited_ms = self._now_ms() - self._waiting_since_ms
            self.far = self.far._replace(rebalance_ms=self.far.rebalance_ms + waited_ms)
            self._waiting_since_ms = None

    def read(self, source: ConfluentSource, wanted: int, timeout_s: float) -> None:
        last_ms = self._now_ms()
        with Interruption() as interruption:
            while self.far.records < wanted and not interruption.requested:
                number, size = source.read_sizes(_POLL_S)
                now_ms = self._now_ms()
                if number:
                    last_ms = now_ms
                elif now_ms - last_ms > timeout_s * 1000:
                    break
                self.far = Reading(
                    size_bytes=self.far.size_bytes + size,
                    records=self.far.records + number,
                    elapsed_ms=now_ms,
                    rebalance_ms=self.far.rebalance_ms,
                )
                self._tell()

    def _tell(self) -> None:
        latest = self.far.since(self._told)
        if self._interval_s is not None and latest.elapsed_ms >= self._interval_s * 1000:
            self._told = self.far
            typer.echo(", ".join((_time(SystemClock().now_ms()), "0", *latest.cells())))

    def _now_ms(self) -> int:
        return round(self._stopwatch.elapsed_s() * 1000)


def _source(
    bootstrap: str, topic: str, group: str, run: _Run, *, from_latest: bool
) -> ConfluentSource:
    settings: Settings = {
        "bootstrap.servers": bootstrap,
        "group.id": group or "ottla",
        "enable.auto.commit": bool(group),
        "auto.offset.reset": "latest" if from_latest else "earliest",
    }
    partitions = on_cluster(bootstrap, lambda cluster: partitions_of(cluster, [topic]))
    if group:
        on_cluster(bootstrap, check_groups)
        source = _quiet_source(settings)
        run.lose_partitions()
        source.subscribe(topic, on_assigned=run.get_partitions, on_revoked=run.lose_partitions)
        return source
    at = LATEST if from_latest else EARLIEST
    positions = on_cluster(bootstrap, lambda cluster: starting_offsets(cluster, partitions, at))
    source = _quiet_source(settings)
    source.assign(positions)
    return source


def _quiet_source(settings: Settings) -> ConfluentSource:
    return ConfluentSource(
        settings,
        lambda trouble: typer.echo(f"ottla: {trouble}.", err=True),
        polled_at_once=_POLLED_AT_ONCE,
    )


def _time(timestamp_ms: int) -> str:
    """This machine's time, as Kafka's tool writes it."""
    moment = datetime.fromtimestamp(timestamp_ms / 1000)
    return f"{moment:%Y-%m-%d %H:%M:%S}:{timestamp_ms % 1000:03}"
