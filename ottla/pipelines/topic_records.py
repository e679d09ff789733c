"""Reads ranges of topics, each record once and committed ones only, outside of Spark and groups."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from ottla.pipelines.kafka import Cluster, Place, Unreachable
from ottla.pipelines.repair.letter import Headers

_PATIENCE_S = 30.0
_AT_ONCE = 1_000
_SETTINGS: dict[str, Any] = {
    "group.id": "ottla-pipeline-reader",  # the client wants one; nothing is committed to it
    "isolation.level": "read_committed",
    "enable.partition.eof": True,
    "fetch.wait.max.ms": 10,  # at the end nobody waits for more
    "queued.max.messages.kbytes": 16_384,
}


class NoSuchTopic(Exception):
    """The message names it."""


class Record(NamedTuple):
    topic: str
    partition: int
    offset: int
    timestamp_ms: int  # -1: it has none
    key: bytes | None
    value: bytes | None
    headers: Headers


def places_of(cluster: Cluster, topic: str) -> list[Place]:
    known = cluster.topics([topic])
    if topic not in known:
        raise NoSuchTopic(f"{cluster.bootstrap} has no topic {topic}")
    return [(topic, partition) for partition in range(known[topic].partitions)]


def read_records(cluster: Cluster, ranges: Mapping[Place, tuple[int, int]]) -> Iterator[Record]:
    """Of each place from the first offset up to the second, or to where it ends before that."""
    left = {place: end for place, (start, end) in ranges.items() if start < end}
    if not left:
        return
    consumer = cluster.consumer(_SETTINGS)
    try:
        consumer.assign([TopicPartition(*place, ranges[place][0]) for place in left])
        while left:
            yield from _read_some(cluster, consumer, left)
    except KafkaException as cause:
        raise Unreachable(f"{cluster.bootstrap}: {cause.args[0].str()}") from cause
    finally:
        consumer.close()


def _read_some(cluster: Cluster, consumer: Consumer, left: dict[Place, int]) -> Iterator[Record]:
    first = consumer.poll(_PATIENCE_S)
    if first is None:
        raise Unreachable(f"{cluster.bootstrap}: no records of {_names(left)} in {_PATIENCE_S:g} s")
    # And what has arrived with it: for more than that it would wait.
    for message in [first, *consumer.consume(_AT_ONCE, 0)]:
        place = (message.topic() or "", _or(message.partition(), -1))
        error = message.error()
        if error is not None and error.code() != KafkaError._PARTITION_EOF:
            raise KafkaException(error)
        offset = _or(message.offset(), -1)
        if place in left and error is None and offset < left[place]:
            yield _record(message)
        if place in left and (error is not None or offset + 1 >= left[place]):
            del left[place]
            consumer.pause([TopicPartition(*place)])


def _headers(message: Message) -> Headers:
    """The client cannot read a name that is not UTF-8; it must not be asked a second time.

    Nor directly: Python looks at once whether a call went wrong only where it is made for it.
    """
    try:
        (found,) = map(Message.headers, [message])
    except SystemError:
        return (("\N{REPLACEMENT CHARACTER}", None),)
    headers: Any = found or []  # its type says text or bytes, and it is bytes
    return tuple(headers)


def _record(message: Message) -> Record:
    return Record(
        topic=message.topic() or "",
        partition=_or(message.partition(), -1),
        offset=_or(message.offset(), -1),
        timestamp_ms=message.timestamp()[1],
        key=_bytes(message.key()),
        value=_bytes(message.value()),
        headers=_headers(message),
    )


def _bytes(value: str | bytes | None) -> bytes | None:
    return value.encode() if isinstance(value, str) else value


def _or(number: int | None, otherwise: int) -> int:
    return otherwise if number is None else number


def _names(places: Mapping[Place, int]) -> str:
    return ", ".join(f"{topic}:{partition}" for topic, partition in places)
