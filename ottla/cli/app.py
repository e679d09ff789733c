"""The command line's root: the options every command shares, and the list of command groups."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from ottla import __version__
from ottla.cli.broker import broker
from ottla.cli.debug import debug
from ottla.cli.log import log
from ottla.cli.protocol import protocol

app = typer.Typer(
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)
app.command("broker")(broker)
app.add_typer(debug, name="debug")
app.add_typer(log, name="log")
app.add_typer(protocol, name="protocol")


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    *,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the version as JSON.")] = False,
) -> None:
    """Ottla, a broker cluster that any Kafka client takes for Apache Kafka.

    Examples:

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
