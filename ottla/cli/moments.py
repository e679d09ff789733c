"""Times on the command line: milliseconds, or a date as people write it."""

from __future__ import annotations

from datetime import UTC, datetime

import typer


def parse_moment(text: str) -> int:
    """In ms since 1970. A date without a zone is UTC."""
    if text.isdecimal():
        return int(text)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as cause:
        raise typer.BadParameter(
            f"{text!r} is no time: give milliseconds since 1970, or a date as 2026-01-31T12:00:00Z."
        ) from cause
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return round(moment.timestamp() * 1000)


def show_moment(timestamp_ms: int) -> str:
    moment = datetime.fromtimestamp(timestamp_ms / 1000, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
