"""What a member of a group is started with, whatever its language; its words are `name=value`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path

RANGE, ROUND_ROBIN, COOPERATIVE = "range", "roundrobin", "cooperative-sticky"
EACH, NEVER = "each", "never"


@dataclass(frozen=True, kw_only=True)
class Options:
    journal: Path  # where it tells what happens to it: a line of JSON for each event
    group: str
    topics: str = ""  # between commas
    pattern: str = ""
    assign: str = ""  # topic:partition between commas: no member of the group, but it may commit
    assignor: str = RANGE
    instance: str = ""
    session_ms: int = 10_000
    max_poll_ms: int = 60_000
    commit: str = EACH  # what was read, after each poll

    def words(self) -> list[str]:
        return [f"{each.name}={getattr(self, each.name)}" for each in fields(self)]

    def partitions(self) -> list[tuple[str, int]]:
        pairs = [each.rpartition(":") for each in self.assign.split(",") if each]
        return [(topic, int(partition)) for topic, _, partition in pairs]

    @classmethod
    def of(cls, words: Sequence[str]) -> Options:
        given = dict(word.split("=", 1) for word in words)
        numbers = {name: int(given.pop(name)) for name in ("session_ms", "max_poll_ms")}
        return cls(journal=Path(given.pop("journal")), **given, **numbers)  # type: ignore[arg-type]
