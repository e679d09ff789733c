"""`ottla pipeline`: data through Spark, declared, run, watched and put right."""

from __future__ import annotations

from typing import Annotated

import typer

from ottla.cli.connecting import DEFAULT_BOOTSTRAP, Bootstrap, Yes, confirm
from ottla.cli.failure import fail
from ottla.cli.pipeline_audit import audit_command
from ottla.cli.pipeline_dead_letters import dead_letters
from ottla.cli.pipeline_names import (
    File,
    Names,
    OneName,
    StateRoot,
    checked,
    pipelines_in,
    state_of,
)
from ottla.cli.pipeline_new import new
from ottla.cli.pipeline_run import replay, resume, run
from ottla.cli.pipeline_status import status
from ottla.pipelines.kafka import Cluster
from ottla.pipelines.running.state import DEFAULT_ROOT, StateFolder
from ottla.pipelines.running.status import State
from ottla.timing.clock import SystemClock

pipeline = typer.Typer(
    add_completion=False,
    help="Declare, run, watch and repair data pipelines on Spark.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)
pipeline.command()(new)
pipeline.command()(run)
pipeline.command()(status)
pipeline.command()(resume)
pipeline.command()(replay)
pipeline.command("audit")(audit_command)
pipeline.add_typer(dead_letters, name="dead-letters")


@pipeline.command()
def check(
    file: File,
    names: Names = None,
    *,
    offline: Annotated[
        bool, typer.Option("--offline", help="Ask no cluster whether topics are there.")
    ] = False,
    bootstrap: Bootstrap = DEFAULT_BOOTSTRAP,
) -> None:
    """Say all that is wrong with the pipelines of a file, without starting Spark.

    Exit code: 0 nothing is wrong; 1 something is; 2 wrong call.

    Examples:

    - `ottla pipeline check page_views.py`
    - `ottla pipeline check pipelines.yaml --offline`
    """
    found = pipelines_in(file, names)
    checked(found, None if offline else Cluster(bootstrap))
    for each in found:
        typer.echo(f"{each.name}: nothing is wrong.")


@pipeline.command()
def stop(name: OneName, *, state: StateRoot = None) -> None:
    """Ask a running pipeline to finish its batch and end; it stays stopped until it is resumed.

    Example:

    - `ottla pipeline stop page-views`
    """
    folder = _known(state, name)
    folder.ask_to_stop(now_ms=SystemClock().now_ms())
    typer.echo(f"{name} ends after its batch. `ottla pipeline resume FILE {name}` lets it go on.")


@pipeline.command()
def reset(name: OneName, *, state: StateRoot = None, yes: Yes = False) -> None:
    """Forget how far a pipeline has read: its next run begins where its declaration says.

    What it wrote before stays, in its sink and in its ledger: a sink that adds rows will hold
    those twice that are read again.

    Example:

    - `ottla pipeline reset page-views`
    """
    folder = _known(state, name)
    found = folder.status()
    if found is not None and found.state is State.RUNNING:
        fail(f"{name} runs. Stop it first: `ottla pipeline stop {name}`.")
    confirm(f"Shall {name} begin anew?", yes=yes)
    generation = folder.begin_anew()
    typer.echo(f"{name} begins anew, as generation {generation}, with its next run.")


def _known(root: str | None, name: str) -> StateFolder:
    folder = state_of(root or DEFAULT_ROOT, name)
    if folder.remembered() is None:
        fail(f"no pipeline {name} has run with its state in {folder.path}.")
    return folder
