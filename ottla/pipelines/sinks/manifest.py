"""What a Parquet folder holds: the truth about it, of which there is one version at a time.

A version is never changed, only followed by the next. What it does not name is not there: the half
of a batch that was never finished, or folders that were put together into another one.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace


@dataclass(frozen=True, slots=True)
class Part:
    """A folder of whole batches."""

    path: str
    rows: int
    level: int  # how often its rows were put together; 0: one batch as it was written
    since: int  # the version that named it first


@dataclass(frozen=True, slots=True)
class Manifest:
    version: int = 0  # 0: nothing was ever written
    parts: tuple[Part, ...] = ()
    batches: dict[str, int] = field(default_factory=dict)  # the last of each app
    retired: tuple[str, ...] = ()  # replaced, and kept until the next time, for those who read them
    schema: str = ""  # Spark's, as JSON

    def with_batch(self, path: str, *, rows: int, app: str, batch: int, schema: str) -> Manifest:
        version = self.version + 1
        added = (Part(path, rows, 0, version),) if rows else ()
        return replace(
            self,
            version=version,
            parts=(*self.parts, *added),
            batches={**self.batches, app: batch},
            schema=schema,
        )

    def crowded(self, at_least: int) -> tuple[Part, ...]:
        """The parts to put together next, of the lowest level that has too many of them."""
        for level in sorted({part.level for part in self.parts}):
            found = tuple(part for part in self.parts if part.level == level)
            if len(found) >= at_least:
                return found
        return ()

    def with_together(self, old: Sequence[Part], *, path: str) -> Manifest:
        version = self.version + 1
        new = Part(path, sum(part.rows for part in old), old[0].level + 1, version)
        kept = [part for part in self.parts if part not in old]
        retired = tuple(part.path for part in old)
        return replace(self, version=version, parts=(new, *kept), retired=retired)

    def to_json(self) -> bytes:
        return json.dumps(asdict(self), indent=1).encode()


def from_json(text: bytes) -> Manifest:
    told = json.loads(text)
    parts = tuple(Part(**part) for part in told.pop("parts"))
    return Manifest(**{**told, "parts": parts, "retired": tuple(told["retired"])})


def together_path(old: Sequence[Part]) -> str:
    """The same if it is tried again, so that what was left half done is overwritten."""
    return f"together/level={old[0].level + 1}/since={old[0].since}"
