"""How long: as people write it (`90m`, `1d12h`), as Kafka's tools do (`P1DT12H`), and shown."""

from __future__ import annotations

import re

import typer

_UNITS_MS = {"d": 86_400_000, "h": 3_600_000, "m": 60_000, "s": 1_000, "ms": 1}
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|[dhms])")
_WHOLE = re.compile(rf"(?:{_PART.pattern})+")


def parse_duration(text: str) -> int:
    """In ms."""
    # ISO 8601 differs only in its letters P and T, and in being written large.
    plain = text.lower().removeprefix("p").replace("t", "", 1) if text[:1] in "pP" else text
    if not plain or not _WHOLE.fullmatch(plain):
        raise typer.BadParameter(f"{text!r} is no duration, as 90s, 15m, 1d12h or PT15M are.")
    return round(sum(float(number) * _UNITS_MS[unit] for number, unit in _PART.findall(plain)))


def show_duration(duration_ms: float) -> str:
    """The two largest units that say something: `3m 12s`."""
    left = round(duration_ms)
    if left < _UNITS_MS["s"]:
        return f"{left}ms"
    words = []
    for unit in ("d", "h", "m", "s"):
        number, left = divmod(left, _UNITS_MS[unit])
        if number:
            words.append(f"{number}{unit}")
        elif words:
            break
    return " ".join(words[:2])
