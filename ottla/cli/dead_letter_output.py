"""Dead letters as people and programs read them."""

from __future__ import annotations

from collections.abc import Sequence

import typer

from ottla.admin.json_records import readable
from ottla.cli.moments import show_moment
from ottla.cli.output import print_table, visible
from ottla.pipelines.repair.dead_letters import FoundLetter
from ottla.pipelines.repair.markers import origin_of

_COLUMNS = ("letter", "laid aside", "state", "origin", "attempts", "rule", "error")
_HEX_LINE = 32  # bytes


def print_letters(letters: Sequence[FoundLetter]) -> None:
    print_table(_COLUMNS, [_row(letter) for letter in letters])


def _row(found: FoundLetter) -> tuple[str, ...]:
    letter = found.stored.letter
    return (
        f"{found.partition}:{found.offset}",
        show_moment(found.laid_aside_ms),
        found.state.value,
        visible(origin_of(letter)),
        str(found.stored.attempts),
        visible(letter.rule),
        visible(letter.error),
    )


def print_letter(topic: str, found: FoundLetter, *, in_hex: bool) -> None:
    letter, marker = found.stored.letter, found.marker
    decided = ""
    if marker is not None:
        to = f" to {marker.to}" if marker.to else ""
        times = f", {marker.times} times in all" if marker.times > 1 else ""
        decided = f"{to} at {show_moment(marker.at_ms)}{times}"
    lines = {
        "letter": f"{topic}:{found.partition}:{found.offset}",
        "laid aside": show_moment(found.laid_aside_ms),
        "state": f"{found.state}{decided}",
        "pipeline": found.stored.pipeline,
        "rule": letter.rule,
        "error": letter.error,
        "attempts": str(found.stored.attempts),
        "origin": origin_of(letter),
        "timestamp": show_moment(letter.timestamp_ms) if letter.timestamp_ms >= 0 else "none",
    }
    for name, text in lines.items():
        typer.echo(f"{name:<12}{visible(text)}")
    _print_bytes("key", letter.key, in_hex=in_hex)
    for name, value in letter.headers:
        _print_bytes(f"header {visible(name)}", value, in_hex=in_hex)
    _print_bytes("value", letter.value, in_hex=in_hex)


def _print_bytes(name: str, data: bytes | None, *, in_hex: bool) -> None:
    if data is None:
        typer.echo(f"{name:<11} none")
        return
    text = None if in_hex else _text(data)
    if text is not None and "\n" not in text:
        typer.echo(f"{name:<11} {text}")
        return
    typer.echo(f"{name}, {len(data):,} bytes{'' if text is not None else ' in hexadecimal'}:")
    parts = text.split("\n") if text is not None else _hex_lines(data)
    for part in parts:
        typer.echo(f"    {part}")


def _text(data: bytes) -> str | None:
    """None if it is no text that can be shown as it is."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    return text if all(each.isprintable() or each in "\n\t" for each in text) else None


def _hex_lines(data: bytes) -> list[str]:
    return [data[at : at + _HEX_LINE].hex(" ", 4) for at in range(0, len(data), _HEX_LINE)]


def letter_to_json(found: FoundLetter, *, whole: bool = False) -> dict[str, object]:
    letter, marker = found.stored.letter, found.marker
    told: dict[str, object] = {
        "partition": found.partition,
        "offset": found.offset,
        "laid_aside_ms": found.laid_aside_ms,
        "state": found.state.value,
        "pipeline": found.stored.pipeline,
        "rule": letter.rule,
        "error": letter.error,
        "attempts": found.stored.attempts,
        "origin": {
            "topic": letter.topic,
            "partition": letter.partition,
            "offset": letter.offset,
            "timestamp_ms": letter.timestamp_ms,
        },
        "decided_ms": None if marker is None else marker.at_ms,
        "redriven_to": None if marker is None else marker.to or None,
        "redriven_times": 0 if marker is None else marker.times,
    }
    if whole:
        told["key"], told["value"] = readable(letter.key), readable(letter.value)
        told["headers"] = [
            {"name": name, "value": readable(value)} for name, value in letter.headers
        ]
    return told
