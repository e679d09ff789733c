"""`ottla pipeline run`, `resume` and `replay`: pipelines on Spark, live, until they end."""

from __future__ import annotations

import signal
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated

import typer

from ottla.cli.connecting import DEFAULT_BOOTSTRAP, Bootstrap
from ottla.cli.failure import fail
from ottla.cli.interruption import Interruption
from ottla.cli.moments import parse_moment
from ottla.cli.pipeline_live import Live
from ottla.cli.pipeline_names import (
    File,
    Jars,
    Names,
    OneName,
    StateRoot,
    checked,
    pairs,
    pipelines_in,
)
from ottla.pipelines.declaration import Pipeline, Trigger
from ottla.pipelines.jars import JarsMissing
from ottla.pipelines.kafka import Place, Unreachable
from ottla.pipelines.reading.formats import FormatRefused
from ottla.pipelines.repair.guard import CannotAccept
from ottla.pipelines.repair.losses import DataLoss
from ottla.pipelines.running.launch import Launch
from ottla.pipelines.running.replay import BadReplay, replay_of
from ottla.pipelines.running.run import RunFailed
from ottla.pipelines.running.state import DEFAULT_ROOT, NewerState
from ottla.pipelines.running.together import run_together
from ottla.pipelines.sinks.port import SinkRefused
from ottla.pipelines.sources.postgres_table import TableRefused
from ottla.pipelines.sources.topic import BadStart
from ottla.timing.clock import SystemClock

_REFUSALS = (
    RunFailed, DataLoss, CannotAccept, SinkRefused, NewerState, Unreachable, BadReplay, BadStart,
    FormatRefused, JarsMissing, TableRefused,
)  # fmt: skip

Master = Annotated[
    str, typer.Option(help="Where Spark runs: local[*], spark://HOST:PORT, yarn, k8s://…")
]
Once = Annotated[bool, typer.Option("--once", help="To the end of what there is now, then stop.")]
Configs = Annotated[
    list[str] | None, typer.Option("--conf", metavar="KEY=VALUE", help="Of Spark; repeat it.")
]
AcceptUpgrade = Annotated[
    bool, typer.Option("--accept-upgrade", help="Go on though it no longer fits its checkpoint.")
]
AcceptLoss = Annotated[
    bool,
    typer.Option("--accept-loss", help="Go on behind records that are gone; noted for audits."),
]
AcceptRepeat = Annotated[
    bool,
    typer.Option("--accept-repeat", help="Write a batch of which nobody knows if it was written."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one object for each batch.")]


def run(
    file: File,
    names: Names = None,
    *,
    once: Once = False,
    master: Master = "local[*]",
    state: StateRoot = None,
    jars: Jars = None,
    conf: Configs = None,
    accept_loss: AcceptLoss = False,
    accept_repeat: AcceptRepeat = False,
    accept_upgrade: AcceptUpgrade = False,
    bootstrap: Bootstrap = DEFAULT_BOOTSTRAP,
    as_json: AsJson = False,
) -> None:
    """Run the pipelines of a file, all or those that are named, until Ctrl-C.

    What they have read, and what became of it, is kept in the folder of `--state`: the next run
    goes on from there, each record once. See them with `ottla pipeline status`, and their lag
    with `ottla groups lag pipeline.NAME`.

    Exit code: 0 ended or stopped; 1 one of them failed, or could not start; 2 wrong call.

    Examples:

    - `ottla pipeline run page_views.py`
    - `ottla pipeline run page_views.py page-views --once`
    - `ottla pipeline run pipelines.yaml --master spark://head:7077 --state hdfs:///pipelines`
    """
    pipelines = pipelines_in(file, names)
    launch = _launch(bootstrap, state, master=master, jars=jars, conf=conf)
    checked(pipelines, launch.cluster)
    _run(
        launch,
        pipelines,
        once=once,
        as_json=as_json,
        accept_loss=accept_loss,
        accept_repeat=accept_repeat,
        accept_upgrade=accept_upgrade,
    )


def resume(
    file: File,
    names: Names = None,
    *,
    once: Once = False,
    master: Master = "local[*]",
    state: StateRoot = None,
    jars: Jars = None,
    conf: Configs = None,
    bootstrap: Bootstrap = DEFAULT_BOOTSTRAP,
    as_json: AsJson = False,
) -> None:
    """Let pipelines that were stopped go on from where they were, and run them.

    Example:

    - `ottla pipeline resume page_views.py page-views`
    """
    pipelines = pipelines_in(file, names)
    launch = _launch(bootstrap, state, master=master, jars=jars, conf=conf)
    checked(pipelines, launch.cluster)
    _run(launch, pipelines, once=once, as_json=as_json, resume=True)


def replay(
    file: File,
    name: OneName,
    *,
    since: Annotated[str, typer.Option("--from", metavar="TIME", help="Records from then on.")],
    until: Annotated[
        str | None, typer.Option("--to", metavar="TIME", help="Up to then; without, up to now.")
    ] = None,
    into: Annotated[
        str | None,
        typer.Option(
            metavar="KIND:WHERE",
            help="Another sink: topic:NAME, parquet:FOLDER, delta:FOLDER, console or noop.",
        ),
    ] = None,
    master: Master = "local[*]",
    state: StateRoot = None,
    jars: Jars = None,
    conf: Configs = None,
    bootstrap: Bootstrap = DEFAULT_BOOTSTRAP,
    as_json: AsJson = False,
) -> None:
    """Run a pipeline again over records of a time that is past.

    It is a pipeline of its own, called NAME.replay-N, with its own checkpoint, ledger and group:
    the one that runs is not touched, and a replay that was cut short goes on when it is called
    again with the same times. Into the same sink, rows of an append come a second time.

    Examples:

    - `ottla pipeline replay page_views.py page-views --from 2026-01-31T12:00:00Z`
    - `ottla pipeline replay page_views.py page-views --from … --to … --into parquet:again`
    """
    (pipeline,) = pipelines_in(file, [name])
    launch = _launch(bootstrap, state, master=master, jars=jars, conf=conf)
    checked([pipeline], launch.cluster)
    try:
        again = replay_of(
            pipeline,
            launch.cluster,
            launch.root_of(pipeline),
            launch.begin,
            from_ms=parse_moment(since),
            to_ms=launch.clock.now_ms() if until is None else parse_moment(until),
            into=into,
        )
    except _REFUSALS as cause:
        fail(f"{cause}.")
    _run(launch, [again.pipeline], once=True, as_json=as_json, ends=again.ends)


def _launch(
    bootstrap: str, state: str | None, *, master: str, jars: str | None, conf: list[str] | None
) -> Launch:
    return Launch(
        bootstrap,
        state or DEFAULT_ROOT,
        SystemClock(),
        master=master,
        jars=jars,
        conf=pairs(conf),
        say=lambda sentence: typer.echo(f"note: {sentence}.", err=True),
    )


def _run(
    launch: Launch,
    pipelines: list[Pipeline],
    *,
    once: bool,
    as_json: bool,
    ends: Mapping[Place, int] | None = None,
    **start: bool,
) -> None:
    """`start`: what a run is told at its start."""
    # A file may say it, too.
    pipelines = (
        [replace(each, trigger=Trigger(once=True)) for each in pipelines] if once else pipelines
    )
    with Interruption(signal.SIGTERM) as interruption, Live(as_json=as_json) as live:
        try:
            runs = launch.runs(pipelines, on_batch=live.show, ends=ends)
            for each in runs:
                live.begin(each.pipeline.name)
                each.start(**start)
                live.expect(each.pipeline.name, each.expected())
            is_well = run_together(
                runs,
                stop_asked=lambda: interruption.requested,
                on_failure=lambda failure: typer.echo(f"ottla: {failure}.", err=True),
            )
        except _REFUSALS as cause:
            fail(f"{cause}.")
        finally:
            launch.close()
    if not is_well:
        raise typer.Exit(1)
