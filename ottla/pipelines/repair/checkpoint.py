"""Spark's checkpoint, as far as it says which batches there were and where in topics they ended.

`offsets/N` is written before batch N, `commits/N` after it. Of `offsets/N` the first line is the
version, the second Spark's own settings, and then there is one for each source. Only while no
query runs on it may it be changed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ottla.pipelines.folder import Folder
from ottla.pipelines.kafka import Place

_VERSION = "v1"
_LINES_BEFORE_SOURCES = 2


class UnreadableCheckpoint(Exception):
    """A file of it is missing or is not what Spark writes; the message says which and why."""


class Checkpoint:
    def __init__(self, folder: Folder) -> None:
        self._folder = folder

    def last_planned(self) -> int | None:
        return max(self._batches("offsets"), default=None)

    def last_committed(self) -> int | None:
        return max(self._batches("commits"), default=None)

    def offsets(self, batch: int) -> dict[Place, int]:
        """Where the next batch begins; the earlier, if two sources read one place."""
        found: dict[Place, int] = {}
        for source in self._lines(batch)[_LINES_BEFORE_SOURCES:]:
            for topic, partitions in (_places(source) or {}).items():
                for partition, offset in partitions.items():
                    place = (topic, int(partition))
                    found[place] = min(offset, found.get(place, offset))
        return found

    def replace_offsets(
        self, batch: int, places: Mapping[Place, int | None], *, only_forwards: bool = False
    ) -> None:
        """In every source that reads the topic; None takes the partition out."""
        lines = self._lines(batch)
        sources = [
            _replaced(source, places, only_forwards=only_forwards)
            for source in lines[_LINES_BEFORE_SOURCES:]
        ]
        text = "\n".join([*lines[:_LINES_BEFORE_SOURCES], *sources])
        self._folder.write(f"offsets/{batch}", text.encode())

    def _batches(self, log: str) -> list[int]:
        return [int(name) for name in self._folder.names(log) if name.isdecimal()]

    def _lines(self, batch: int) -> list[str]:
        name = f"offsets/{batch}"
        data = self._folder.read(name)
        if data is None:
            raise UnreadableCheckpoint(f"{self._folder.path}: there is no {name}")
        lines = data.decode(errors="replace").split("\n")
        if lines[0] != _VERSION or len(lines) <= _LINES_BEFORE_SOURCES:
            raise UnreadableCheckpoint(
                f"{self._folder.path}/{name} begins with {lines[0][:20]!r} and has {len(lines)} "
                f"lines; expected were {_VERSION!r}, settings, and one line for each source"
            )
        return lines


def _places(source: str) -> dict[str, dict[str, int]] | None:
    """None where the source is no topic; a dash says that it has nothing yet."""
    try:
        found: Any = json.loads(source)
    except ValueError:
        return None
    if not isinstance(found, dict) or not all(map(_is_offsets, found.values())):
        return None
    return found


def _is_offsets(value: Any) -> bool:
    return isinstance(value, dict) and all(
        partition.isdecimal() and isinstance(offset, int) for partition, offset in value.items()
    )


def _replaced(source: str, places: Mapping[Place, int | None], *, only_forwards: bool) -> str:
    found = _places(source)
    if found is None:
        return source
    for (topic, partition), offset in places.items():
        partitions = found.get(topic)
        if partitions is None:
            continue
        if offset is None:
            partitions.pop(str(partition), None)
        else:
            least = partitions.get(str(partition), 0) if only_forwards else 0
            partitions[str(partition)] = max(offset, least)
    return json.dumps(found, separators=(",", ":"))
