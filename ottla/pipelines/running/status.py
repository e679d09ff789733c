"""How a pipeline fares, as its runner last wrote it down for whoever asks."""

from __future__ import annotations

import json
import os
import socket
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import Any

from ottla.pipelines.declaration import Pipeline, place_name


class State(StrEnum):
    STARTING = "starting"
    RUNNING = "running"
    STOPPED = "stopped"  # on request
    FINISHED = "finished"  # it was to run once, to the end
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Status:
    pipeline: str
    state: State
    group: str
    bootstrap: str
    sink: str
    guarantee: str
    topics: tuple[str, ...]
    pid: int
    host: str
    started_ms: int
    updated_ms: int
    generation: int = 0
    batch: int | None = None  # the last that is done
    batch_ms: int = 0
    rows_in: int = 0  # since the start of this run, as all counts below
    rows_out: int = 0
    in_per_s: float = 0.0  # of the last batch
    out_per_s: float = 0.0
    dead_letters: int = 0
    dropped: dict[str, int] = field(default_factory=dict)  # by rule
    warned: dict[str, int] = field(default_factory=dict)
    last_error: str | None = None

    def to_json(self) -> bytes:
        return json.dumps(asdict(self), indent=1).encode()

    @staticmethod
    def from_json(data: bytes) -> Status:
        return Status.from_dict(json.loads(data))

    @staticmethod
    def from_dict(found: dict[str, Any]) -> Status:
        own = {"state": State(found["state"]), "topics": tuple(found["topics"])}
        return Status(**{**found, **own})


@dataclass(frozen=True, slots=True)
class BatchDone:
    """What the runner knows when a batch is done."""

    batch: int
    duration_ms: int
    rows_in: int
    rows_out: int
    dead_letters: int
    dropped: dict[str, int]
    warned: dict[str, int]


def first_status(
    pipeline: Pipeline, *, bootstrap: str, guarantee: str, generation: int, now_ms: int
) -> Status:
    """Of a run in this process that begins now."""
    return Status(
        pipeline=pipeline.name,
        state=State.STARTING,
        group=pipeline.group,
        bootstrap=bootstrap,
        sink=place_name(pipeline.sink),
        guarantee=guarantee,
        topics=pipeline.topics,
        pid=os.getpid(),
        host=socket.gethostname(),
        started_ms=now_ms,
        updated_ms=now_ms,
        generation=generation,
    )


def after_batch(status: Status, done: BatchDone, *, now_ms: int) -> Status:
    seconds = max(done.duration_ms, 1) / 1000
    return replace(
        status,
        state=State.RUNNING,
        updated_ms=now_ms,
        batch=done.batch,
        batch_ms=done.duration_ms,
        rows_in=status.rows_in + done.rows_in,
        rows_out=status.rows_out + done.rows_out,
        in_per_s=done.rows_in / seconds,
        out_per_s=done.rows_out / seconds,
        dead_letters=status.dead_letters + done.dead_letters,
        dropped=_added(status.dropped, done.dropped),
        warned=_added(status.warned, done.warned),
    )


def _added(before: dict[str, int], new: dict[str, int]) -> dict[str, int]:
    return {name: before.get(name, 0) + new.get(name, 0) for name in (*before, *new)}
