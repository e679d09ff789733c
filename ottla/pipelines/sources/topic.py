"""Topics as a stream: by Spark's connector, or by our source without jars; both give its columns.

Where a pipeline begins is told to Spark as exact offsets, so that a first batch which is repeated
is the same one.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from pyspark.sql import DataFrame, SparkSession

from ottla.pipelines.datasource.offsets import to_json
from ottla.pipelines.datasource.options import SOURCE_OPTIONS
from ottla.pipelines.datasource.source import register
from ottla.pipelines.declaration import Topic
from ottla.pipelines.kafka import Cluster, Place

GROUP = "group:"
_LIMIT = "maxOffsetsPerTrigger"


class BadStart(Exception):
    """It cannot begin there; the message says where and why."""


def stream(
    spark: SparkSession,
    source: Topic,
    *,
    bootstrap: str,
    connector: bool,
    start: Mapping[Place, int] | None,
    in_batches: bool = True,
) -> DataFrame:
    """`start` counts for the first batch of a checkpoint; None if there is a checkpoint."""
    if not connector:
        register(spark)
    reader = spark.readStream.format("kafka" if connector else "ottla")
    options = stream_options(source, bootstrap=bootstrap, start=start)
    if not in_batches:  # real time refuses a limit
        options.pop(_LIMIT, None)
    elif connector:
        # A task that begins elsewhere than the one before it waits until that one's fetch is back.
        options.setdefault("kafka.fetch.max.wait.ms", "50")
    return reader.options(**options).load()


def stream_options(
    source: Topic, *, bootstrap: str, start: Mapping[Place, int] | None
) -> dict[str, str]:
    limit = {} if source.at_once is None else {_LIMIT: str(source.at_once)}
    return {
        **limit,
        "kafka.isolation.level": "read_committed",
        **{_prefixed(name): value for name, value in source.options.items()},
        "kafka.bootstrap.servers": bootstrap,
        "subscribe": ",".join(source.names),
        "startingOffsets": "earliest" if start is None else to_json(start),
        "includeHeaders": "true",
        "failOnDataLoss": "true",
    }


def _prefixed(name: str) -> str:
    """A client's setting has a prefix in Spark; the source's own options have none."""
    is_sources = name.lower() in SOURCE_OPTIONS or name.startswith("kafka.")
    return name if is_sources else f"kafka.{name}"


def first_positions(cluster: Cluster, source: Topic) -> dict[Place, int]:
    """The offset to begin at, of every partition there is now."""
    known = cluster.topics(source.names)
    if missing := [name for name in source.names if name not in known]:
        raise BadStart(f"no such topic: {', '.join(missing)}; create it first")
    places = [(name, number) for name in source.names for number in range(known[name].partitions)]
    if source.start == "earliest":
        return cluster.starts(places)
    if source.start.startswith(GROUP):
        return _committed(cluster, source.start.removeprefix(GROUP), places)
    # No further than the source will be shown: it would take what lies beyond for lost.
    ends = cluster.stable_ends(places)
    if source.start == "latest":
        return ends
    wanted = cluster.offsets_at(places, start_ms(source.start))
    return {place: min(wanted[place], ends[place]) for place in places}


def _committed(cluster: Cluster, group: str, places: list[Place]) -> dict[Place, int]:
    """What the group has never committed is new to it, and is read from its beginning."""
    committed = cluster.committed(group)
    if not any(place in committed for place in places):
        raise BadStart(f"{GROUP}{group}: this group has committed nothing of the topics to read")
    found = {place: committed[place].offset for place in places if place in committed}
    return found | cluster.starts(place for place in places if place not in found)


def start_ms(text: str) -> int:
    """A time without a zone is in UTC."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError as cause:
        raise BadStart(
            f"start={text}: must be earliest, latest, group:NAME or a time as 2026-01-31T08:00:00Z"
        ) from cause
    return int((time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp() * 1000)
