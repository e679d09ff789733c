"""The folder in which a pipeline keeps what outlives its runs.

pipeline.json             which generation it is in, and what it was when it last ran
generation-N/checkpoint/  Spark's; a reset begins the next generation
generation-N/ledger/      what became of every batch
generation-N/guard.json   which topics it reads, by id
status.json, stop.json    how it fares, and whether it is to stop
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any

from pyspark.sql import SparkSession

from ottla.pipelines.folder import Folder, open_folder
from ottla.pipelines.running.status import Status

DEFAULT_ROOT = "ottla-pipelines"
_MEMORY = "pipeline.json"
_STATUS = "status.json"
_STOP = "stop.json"
_FORMAT = 1


class NewerState(Exception):
    """The folder was written by a newer release; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Remembered:
    """What a pipeline was when it last started, to compare the next start with."""

    generation: int = 0
    topics: tuple[str, ...] = ()
    sink: str = ""
    schemas: dict[str, Any] = field(default_factory=dict)  # of each source, as Spark's JSON
    stateful: tuple[str, ...] = ()  # what keeps state in its plan
    declared_at: str = ""


class StateFolder:
    def __init__(self, root: str, name: str, spark: SparkSession | None = None) -> None:
        self.name = name
        self.path = f"{root.rstrip('/')}/{name}"
        self._spark = spark
        self.folder: Folder = open_folder(self.path, spark)

    def remembered(self) -> Remembered | None:
        """None: it never ran."""
        data = self.folder.read(_MEMORY)
        if data is None:
            return None
        found = json.loads(data)
        if (version := found.pop("format")) > _FORMAT:
            raise NewerState(
                f"{self.path} was written by a newer Ottla (format {version}, this one knows"
                f" {_FORMAT}). Run it with that release, or give another --state."
            )
        return Remembered(
            **found | {"topics": tuple(found["topics"]), "stateful": tuple(found["stateful"])}
        )

    def remember(self, memory: Remembered) -> None:
        data = {"format": _FORMAT, **asdict(memory)}
        self.folder.write(_MEMORY, json.dumps(data, indent=1).encode())

    def begin_anew(self) -> int:
        """The generation that the next run begins; the old one stays, to be audited."""
        before = self.remembered()
        assert before is not None, "it never ran"
        # What it was no longer matters: nothing of it is gone on with.
        self.remember(Remembered(before.generation + 1))
        return before.generation + 1

    def generation(self, number: int) -> Folder:
        return open_folder(f"{self.folder.path}/generation-{number}", self._spark)

    def folder_of(self, generation: int, name: str) -> Folder:
        return open_folder(f"{self.folder.path}/generation-{generation}/{name}", self._spark)

    def status(self) -> Status | None:
        data = self.folder.read(_STATUS)
        return None if data is None else Status.from_json(data)

    def show(self, status: Status) -> None:
        self.folder.write(_STATUS, status.to_json())

    def ask_to_stop(self, *, now_ms: int) -> None:
        self.folder.write(_STOP, json.dumps({"asked_ms": now_ms}).encode())

    def stop_asked_ms(self) -> int | None:
        data = self.folder.read(_STOP)
        return None if data is None else int(json.loads(data)["asked_ms"])

    def resume(self) -> None:
        self.folder.delete(_STOP)


def pipelines_of(root: str, spark: SparkSession | None = None) -> list[str]:
    """The names of those that have run with this root."""
    folder = open_folder(root, spark)
    return [name for name in folder.names() if folder.read(f"{name}/{_MEMORY}") is not None]
