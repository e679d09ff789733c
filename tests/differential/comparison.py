"""Two outcomes side by side: where they differ, in a path that a reader can follow."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from tests.differential.normal import key_of

_LONGEST_SHOWN = 300
ABSENT = "(absent)"


class Difference(NamedTuple):
    path: str
    kafka: Any
    other: Any

    def __str__(self) -> str:
        where = self.path or "outcome"
        return f"{where}\n      kafka {_show(self.kafka)}\n      other {_show(self.other)}"


def differences(kafka: Any, other: Any, path: str = "") -> Iterator[Difference]:
    if isinstance(kafka, dict) and isinstance(other, dict):
        for key in dict.fromkeys((*kafka, *other)):
            inner = f"{path}.{key}" if path else key
            yield from differences(kafka.get(key, ABSENT), other.get(key, ABSENT), inner)
    elif isinstance(kafka, list) and isinstance(other, list):
        yield from differences(_by_key(kafka), _by_key(other), path)
    elif kafka != other:
        yield Difference(path, kafka, other)


def _by_key(items: list[Any]) -> dict[str, Any]:
    """Elements under what names them; under their number where nothing does, or it repeats."""
    found: dict[str, Any] = {}
    for number, item in enumerate(items):
        name = f"[{key_of(item)}]"
        found[f"[#{number}]" if name in found or name == "[None]" else name] = item
    return found


def _show(value: Any) -> str:
    if value == ABSENT:
        return ABSENT
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}... ({len(text)})"
