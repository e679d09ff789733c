"""What a topic holds, as a reader of committed records sees it."""

from __future__ import annotations

from typing import Any, NamedTuple

from confluent_kafka import Consumer, KafkaError, TopicPartition


class Read(NamedTuple):
    partition: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...] = ()


def committed_records(
    bootstrap: str, topic: str, *, isolation: str = "read_committed"
) -> list[Read]:
    """All of them, by partition."""
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "nobody",
            "auto.offset.reset": "earliest",
            "isolation.level": isolation,
            "enable.partition.eof": True,
            "enable.auto.commit": False,
        }
    )
    partitions = consumer.list_topics(topic, 30).topics[topic].partitions
    consumer.assign([TopicPartition(topic, partition, 0) for partition in partitions])
    found: list[Read] = []
    open_partitions = len(partitions)
    while open_partitions:
        for message in consumer.consume(10_000, 1):
            error = message.error()
            if error is None:
                found.append(_read(message))
            elif error.code() == KafkaError._PARTITION_EOF:
                open_partitions -= 1
            else:
                raise AssertionError(error.str())
    consumer.close()
    return sorted(found, key=lambda read: read.partition)


def _read(message: Any) -> Read:
    headers = tuple(message.headers() or ())
    return Read(message.partition(), message.key(), message.value(), headers)


def values(bootstrap: str, topic: str, *, isolation: str = "read_committed") -> list[str]:
    """Sorted, as text."""
    read = committed_records(bootstrap, topic, isolation=isolation)
    return sorted((each.value or b"").decode() for each in read)
