"""The command line's root: the version, and the commands below it."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from ottla import __version__
from ottla.cli.on_demand import CommandsOnDemand

app = typer.Typer(
    cls=CommandsOnDemand,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    *,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the version as JSON.")] = False,
) -> None:
    """A broker that speaks Kafka's protocol and keeps Kafka's files, and tools for both.

    Examples:

    - `ottla up` starts a broker; then, in another terminal:
    - `ottla topics create orders --partitions 3`
    - `ottla --version`
    - `ottla --version --json`
    """
    if version:
        typer.echo(json.dumps({"version": __version__}) if as_json else f"ottla {__version__}")
        raise typer.Exit
    if as_json:
        raise typer.BadParameter("goes with --version here; give it after a command's name.")
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
