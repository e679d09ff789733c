"""A pipeline run again over a time that is past, as a pipeline of its own."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from pyspark.sql import SparkSession

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
from ottla.pipelines.folder import Folder, open_folder
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
    begin: Callable[[Sequence[Pipeline]], SparkSession],
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
    sink = pipeline.sink if into is None else _sink(into, pipeline.sink)
    again = replace(pipeline, sink=sink, trigger=Trigger(once=True))
    spark = begin([again])
    folder = open_folder(root, spark)
    name = _named(folder, pipeline.name, {"from_ms": from_ms, "to_ms": to_ms, "into": into})
    places = _places(cluster, pipeline)
    own = open_folder(f"{folder.path}/{name}/generation-0", spark)
    kept_start(own, lambda: cluster.offsets_at(places, from_ms))
    return Replay(replace(again, name=name), cluster.offsets_at(places, to_ms))


def _named(folder: Folder, name: str, wanted: dict[str, object]) -> str:
    number = 1
    while (data := folder.read(f"{name}.replay-{number}/{_REPLAY}")) is not None:
        if json.loads(data) == wanted:
            break
        number += 1
    folder.write(f"{name}.replay-{number}/{_REPLAY}", json.dumps(wanted).encode())
    return f"{name}.replay-{number}"


def _places(cluster: Cluster, pipeline: Pipeline) -> list[Place]:
    found = cluster.topics(pipeline.topics)
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
