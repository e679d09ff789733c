"""`ottla up`: a broker, now, without a file to write first."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from ottla.broker.ending import Ending
from ottla.cli.broker import AsJson, Settings, run
from ottla.cli.logs import Level, LogLevel

_DATA = "ottla-data"
_FOR_ONE_BROKER = {
    "broker.id": "0",
    # There is nowhere to put a second replica.
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "group.initial.rebalance.delay.ms": "0",
}

up = typer.Typer(add_completion=False, rich_markup_mode="markdown")

UntilStdinCloses = Annotated[
    bool,
    typer.Option(
        "--until-stdin-closes",
        help="Stop at the end of stdin, which comes when whoever started it is gone.",
    ),
]


@up.command()
def up_command(
    *,
    port: Annotated[
        int, typer.Option(help="Where clients connect; 0 takes a free port.", min=0, max=65_535)
    ] = 9092,
    data: Annotated[
        str, typer.Option(help="The folder for everything it keeps.", metavar="FOLDER")
    ] = _DATA,
    ephemeral: Annotated[
        bool, typer.Option("--ephemeral", help="Keep nothing: a folder that goes with the broker.")
    ] = False,
    testing: Annotated[
        bool, typer.Option("--testing", help="Let tests delay, fail and drop requests, by HTTP.")
    ] = False,
    until_stdin_closes: UntilStdinCloses = False,
    settings: Settings = None,
    as_json: AsJson = False,
    log_level: LogLevel = Level.WARN,
) -> None:
    """Start one broker on this machine and run it until Ctrl-C.

    It listens on 127.0.0.1 only. Topics are created when clients first use them, with one
    partition. Every option of a server.properties file can be given with `--set`, or as an
    `OTTLA_…` environment variable: `OTTLA_NUM_PARTITIONS`.

    Examples:

    - `ottla up`
    - `ottla up --ephemeral --port 0 --json`
    - `ottla up --set num.partitions=6 --set log.retention.hours=1`
    """
    ending = Ending()
    ending.take_signals()  # before there is a folder that has to go
    folder = tempfile.mkdtemp(prefix="ottla-") if ephemeral else str(Path(data).absolute())
    places = {"listeners": f"PLAINTEXT://127.0.0.1:{port}", "log.dirs": folder}
    try:
        run(
            _FOR_ONE_BROKER | places,
            settings or [],
            ending,
            as_json=as_json,
            log_level=log_level,
            testing=testing,
            until_stdin_closes=until_stdin_closes,
        )
    finally:
        if ephemeral:
            shutil.rmtree(folder, ignore_errors=True)
