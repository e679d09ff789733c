"""Prints what became of several things at once: a line or an object each, and 1 if any failed."""

from __future__ import annotations

import json
from collections.abc import Mapping

import typer

from ottla.cli.output import visible
from ottla.protocol.errors import KafkaError


class Outcomes:
    """Collects, then prints: what was done on stdout, what was refused on stderr."""

    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json
        self._objects: list[dict[str, object]] = []
        self._lines: list[tuple[str, bool]] = []
        self._failed = False

    def done(self, what: Mapping[str, object], line: str) -> None:
        self._objects.append({**what, "error": None})
        self._lines.append((line, False))

    def refused(self, what: Mapping[str, object], about: str, refusal: KafkaError) -> None:
        self._objects.append({**what, "error": error_to_json(refusal)})
        self._lines.append((f"ottla: {about}: {sentence(refusal)}", True))
        self._failed = True

    def finish(self) -> None:
        if self._as_json:
            typer.echo(json.dumps(self._objects, indent=2))
        else:
            for line, is_error in self._lines:
                typer.echo(visible(line), err=is_error)
        if self._failed:
            raise typer.Exit(1)


def sentence(refused: KafkaError) -> str:
    text = str(refused)
    return text if text.endswith((".", "?", "!")) else f"{text}."


def error_to_json(refused: KafkaError) -> dict[str, object]:
    return {"code": refused.code.value, "name": refused.code.name, "message": refused.detail}


def count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
