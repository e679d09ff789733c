"""How many records make a batch of a topic whose pipeline does not say, and a piece of a batch.

Rows into a topic and all dead letters pass through the driver, whose memory has an end. How large
records are is known from a look at the newest ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ottla.pipelines.declaration import Pipeline, Source, Topic
from ottla.pipelines.kafka import Cluster
from ottla.pipelines.topic_records import Record, read_records

BATCH_BYTES = 64 * 1024 * 1024
MOST, LEAST = 200_000, 500
_UNSEEN_BYTES = 4096  # what a record is taken for where there is none yet
_PLACES, _OF_EACH = 8, 5  # looked at

# A piece is what goes to Python at a time. So small that records may grow a hundredfold.
PIECE_BYTES = 2 * 1024 * 1024
MOST_OF_A_PIECE = 10_000  # as Spark has it
_PIECE = "spark.sql.execution.arrow.maxRecordsPerBatch"
_PIECE_BYTES = "spark.sql.execution.arrow.maxBytesPerBatch"
_NO_LIMIT = str(2**31 - 1)


def sized(pipeline: Pipeline, cluster: Cluster) -> Pipeline:
    """The same, with `at_once` said for every topic that it reads, and the size of a piece."""
    found = [_averages(cluster, source) for source in pipeline.sources]
    sources = tuple(map(_sized, pipeline.sources, found))
    return replace(pipeline, sources=sources, settings={**_pieces(found), **pipeline.settings})


def _sized(source: Source, averages: Sequence[float | None]) -> Source:
    if not isinstance(source, Topic) or source.at_once is not None:
        return source
    # One limit holds for all topics of a source together.
    at_once = int(BATCH_BYTES / max(average or _UNSEEN_BYTES for average in averages))
    return replace(source, at_once=min(MOST, max(LEAST, at_once)))


def _pieces(found: Sequence[Sequence[float | None]]) -> dict[str, str]:
    """By number. Spark would ask after every record how large all columns are by now, which takes a
    tenth of the time; where sizes are not known it shall."""
    averages = [average for some in found for average in some]
    known = [average for average in averages if average is not None]
    if not known or len(known) < len(averages):
        return {}
    records = min(MOST_OF_A_PIECE, max(1, int(PIECE_BYTES / max(known))))
    return {_PIECE: str(records), _PIECE_BYTES: _NO_LIMIT}


def _averages(cluster: Cluster, source: Source) -> list[float | None]:
    """Bytes of a record, by topic; None where nobody knows."""
    if not isinstance(source, Topic):
        return [None]
    return [_average_of(cluster, name) for name in source.names]


def _average_of(cluster: Cluster, topic: str) -> float | None:
    known = cluster.topics([topic]).get(topic)
    if known is None:  # who guards the run says what became of it
        return None
    places = [(topic, partition) for partition in range(min(known.partitions, _PLACES))]
    starts, ends = cluster.starts(places), cluster.stable_ends(places)
    newest = {each: (max(starts[each], ends[each] - _OF_EACH), ends[each]) for each in places}
    sizes = [_size(record) for record in read_records(cluster, newest)]
    return max(1.0, sum(sizes) / len(sizes)) if sizes else None


def _size(record: Record) -> int:
    headers = sum(len(name) + len(value or b"") for name, value in record.headers)
    return len(record.key or b"") + len(record.value or b"") + headers
