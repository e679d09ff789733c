"""The types of Kafka's options: how each is read from text and written back.

The texts are those of Java, as they stand in server.properties and in DescribeConfigs.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

T_co = TypeVar("T_co", covariant=True)

_WHOLE = re.compile(r"[+-]?[0-9]+")
_DECIMAL = re.compile(r"[+-]?(?:NaN|Infinity|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)")
_COMMA = re.compile(r"\s*,\s*")


@dataclass(frozen=True, slots=True)
class Password:
    """A secret that does not show itself in logs or errors."""

    value: str = field(repr=False)

    def __str__(self) -> str:
        return "[hidden]"


@dataclass(frozen=True, slots=True)
class Kind(Generic[T_co]):
    """One type of option; `code` is its number in DescribeConfigs."""

    name: str
    code: int
    read: Callable[[str], T_co]
    """Raises ValueError with what was expected."""


def _boolean(text: str) -> bool:
    word = text.strip().lower()
    if word not in ("true", "false"):
        raise ValueError("true or false")
    return word == "true"


def _whole(bits: int) -> Callable[[str], int]:
    limit = 1 << bits - 1

    def read(text: str) -> int:
        number = text.strip()
        if not _WHOLE.fullmatch(number) or not -limit <= int(number) < limit:
            raise ValueError(f"a whole number of {bits} bits ({-limit} to {limit - 1})")
        return int(number)

    return read


def _double(text: str) -> float:
    number = text.strip()
    if not _DECIMAL.fullmatch(number):
        raise ValueError("a number")
    return float(number)


def _strings(text: str) -> tuple[str, ...]:
    trimmed = text.strip()
    return tuple(_COMMA.split(trimmed)) if trimmed else ()


BOOLEAN = Kind("BOOLEAN", 1, _boolean)
STRING = Kind("STRING", 2, str.strip)
INT = Kind("INT", 3, _whole(32))
SHORT = Kind("SHORT", 4, _whole(16))
LONG = Kind("LONG", 5, _whole(64))
DOUBLE = Kind("DOUBLE", 6, _double)
LIST = Kind("LIST", 7, _strings)
CLASS = Kind("CLASS", 8, str.strip)
PASSWORD = Kind("PASSWORD", 9, lambda text: Password(text.strip()))


def to_text(value: object) -> str | None:
    """A value as Kafka writes it; a password in the clear."""
    match value:
        case None:
            return None
        case bool():
            return "true" if value else "false"
        case float():
            return _java_double(value)
        case tuple():
            return ",".join(value)
        case Password():
            return value.value
        case _:
            return str(value)


def _java_double(value: float) -> str:
    """Java's Double.toString: the shortest digits, as Python's, in another notation."""
    if not math.isfinite(value):
        return str(value).replace("nan", "NaN").replace("inf", "Infinity")
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return str(value)
    mantissa, _, exponent = f"{value!r}".partition("e")
    if not exponent:
        mantissa, _, exponent = _scientific(value).partition("e")
    point = mantissa if "." in mantissa else f"{mantissa}.0"
    return f"{point}E{int(exponent)}"


def _scientific(value: float) -> str:
    """As few digits as tell this number from every other, with an exponent."""
    return next(text for digits in range(17) if float(text := f"{value:.{digits}e}") == value)
