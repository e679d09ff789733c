"""How many records make a batch of a topic whose pipeline does not say.

Rows into a topic and all dead letters pass through the driver, whose memory has an end. How large
records are is known from a look at the newest ones.
"""

from __future__ import annotations

from dataclasses import replace

from ottla.pipelines.declaration import Pipeline, Source, Topic
from ottla.pipelines.kafka import Cluster
from ottla.pipelines.topic_records import Record, read_records

BATCH_BYTES = 64 * 1024 * 1024
MOST, LEAST = 200_000, 500
_UNSEEN_BYTES = 4096  # what a record is taken for where there is none yet
_PLACES, _OF_EACH = 8, 5  # looked at


def sized(pipeline: Pipeline, cluster: Cluster) -> Pipeline:
    """The same, with `at_once` said for every topic that it reads."""
    return replace(pipeline, sources=tuple(_sized(each, cluster) for each in pipeline.sources))


def _sized(source: Source, cluster: Cluster) -> Source:
    if not isinstance(source, Topic) or source.at_once is not None:
        return source
    # One limit holds for all topics of a source together.
    largest = max(_average_bytes(cluster, name) for name in source.names)
    return replace(source, at_once=min(MOST, max(LEAST, int(BATCH_BYTES / largest))))


def _average_bytes(cluster: Cluster, topic: str) -> float:
    known = cluster.topics([topic]).get(topic)
    if known is None:  # who guards the run says what became of it
        return _UNSEEN_BYTES
    places = [(topic, partition) for partition in range(min(known.partitions, _PLACES))]
    starts, ends = cluster.starts(places), cluster.stable_ends(places)
    newest = {each: (max(starts[each], ends[each] - _OF_EACH), ends[each]) for each in places}
    sizes = [_size(record) for record in read_records(cluster, newest)]
    return max(1.0, sum(sizes) / len(sizes)) if sizes else _UNSEEN_BYTES


def _size(record: Record) -> int:
    headers = sum(len(name) + len(value or b"") for name, value in record.headers)
    return len(record.key or b"") + len(record.value or b"") + headers
