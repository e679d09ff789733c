"""What an exactly-once loop is started with, whatever its language; its words are `name=value`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path

_NUMBERS = ("target_partitions", "session_ms", "timeout_ms", "abort_percent")


@dataclass(frozen=True, kw_only=True)
class LoopOptions:
    journal: Path  # where it tells of its transactions: a line of JSON for each event
    tag: str  # what its transactions are called, with a number: no other life of it has the same
    group: str
    source: str
    target: str
    target_partitions: int
    session_ms: int = 10_000
    timeout_ms: int = 30_000
    abort_percent: int = 25  # of its transactions, as its dice say

    def words(self) -> list[str]:
        return [f"{each.name}={getattr(self, each.name)}" for each in fields(self)]

    @classmethod
    def of(cls, words: Sequence[str]) -> LoopOptions:
        given = dict(word.split("=", 1) for word in words)
        numbers = {name: int(given.pop(name)) for name in _NUMBERS}
        return cls(journal=Path(given.pop("journal")), **given, **numbers)  # type: ignore[arg-type]
