"""Runs a command of `ottla` as a shell would."""

from __future__ import annotations

from typer.testing import CliRunner, Result

from ottla.cli.app import app


def run(*arguments: str, stdin: bytes = b"") -> Result:
    return CliRunner().invoke(app, arguments, input=stdin, prog_name="ottla")


def told(result: Result) -> str:
    """What stderr says, without the frame and line ends that Rich draws around it."""
    return " ".join(result.stderr.replace("│", " ").split())
