"""A pipeline run again over a time that is past, as a pipeline of its own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace

from ottla.pipelines.declaration import (
    Console,
    DeltaTable,
    Json,
    Noop,
    ParquetFolder,
    Pipeline,
    SinkPlace,
    Topic,
    Trigger,
)
from ottla.pipelines.folder import open_folder
from ottla.pipelines.kafka import Cluster, Place
from ottla.pipelines.running.positions import kept_start

_REPLAY = "replay.json"


class BadReplay(Exception):
    """It cannot be done; the message says why."""


@dataclass(frozen=True, slots=True)
class Replay:
    pipeline: Pipeline  # called NAME.replay-N
    ends: Mapping[Place, int]  # offsets from which nothing is read


def replay_of(
    pipeline: Pipeline,
    cluster: Cluster,
    root: str,
    *,
    from_ms: int,
    to_ms: int,
    into: str | None,
) -> Replay:
    """The one of the same times and sink, if it was begun before; else the next one."""
    if not all(isinstance(source, Topic) for source in pipeline.sources):
        raise BadReplay(f"{pipeline.name} reads not only topics: only those keep what was before")
    if from_ms >= to_ms:
        raise BadReplay("--from is not before --to: there is nothing to replay")
    wanted = {"from_ms": from_ms, "to_ms": to_ms, "into": into}
    folder = open_folder(root)
    number = 1
    while (data := folder.read(f"{pipeline.name}.replay-{number}/{_REPLAY}")) is not None:
        if json.loads(data) == wanted:
            break
        number += 1
    name = f"{pipeline.name}.replay-{number}"
    folder.write(f"{name}/{_REPLAY}", json.dumps(wanted).encode())
    places = _places(cluster, pipeline)
    own = open_folder(f"{folder.path}/{name}/generation-0")
    kept_start(own, lambda: cluster.offsets_at(places, from_ms))
    return Replay(
        replace(
            pipeline,
            name=name,
            sink=pipeline.sink if into is None else _sink(into, pipeline.sink),
            trigger=Trigger(once=True),
        ),
        cluster.offsets_at(places, to_ms),
    )


def _places(cluster: Cluster, pipeline: Pipeline) -> list[Place]:
    names = [
        name for source in pipeline.sources if isinstance(source, Topic) for name in source.names
    ]
    found = cluster.topics(names)
    return [(name, part) for name, topic in found.items() for part in range(topic.partitions)]


def _sink(text: str, declared: SinkPlace) -> SinkPlace:
    kind, _, where = text.partition(":")
    match kind, where:
        case "console", "":
            return Console()
        case "noop", "":
            return Noop()
        case "topic", name if name:
            if isinstance(declared, Topic):
                return replace(declared, names=(name,))
            return Topic((name,), Json())
        case "parquet", path if path:
            return ParquetFolder(path)
        case "delta", path if path:
            return DeltaTable(path)
    raise BadReplay(
        f"{text!r} is no sink: give topic:NAME, parquet:FOLDER, delta:FOLDER, console or noop"
    )
