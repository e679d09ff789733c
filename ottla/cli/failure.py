"""How a command ends that was called rightly and could not do its work."""

from __future__ import annotations

from typing import NoReturn

import typer


def fail(sentence: str) -> NoReturn:
    typer.echo(f"ottla: {sentence}", err=True)
    raise typer.Exit(1)
