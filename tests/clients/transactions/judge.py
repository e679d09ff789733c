"""All that a topic holds, for one who reads only what is committed or for one who reads all."""

from __future__ import annotations

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from tests.clients.client import PATIENCE_S, ClientFailed
from tests.clients.transactions.history import Read

COMMITTED, UNCOMMITTED = "read_committed", "read_uncommitted"


def left(bootstrap: str, topic: str, partitions: int, *, isolation: str = COMMITTED) -> list[Read]:
    """In order within each partition."""
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "none",  # it insists on a name, though with `assign` it joins no group
            "isolation.level": isolation,
            "enable.partition.eof": True,
            "enable.auto.commit": False,
            "fetch.wait.max.ms": 50,
            "log_level": 0,
        }
    )
    consumer.assign([TopicPartition(topic, each, 0) for each in range(partitions)])
    found: list[Read] = []
    open_ends = partitions
    while open_ends:
        message = consumer.poll(PATIENCE_S)
        if message is None:
            raise ClientFailed(f"the end of {topic} was not reached in {PATIENCE_S} s")
        error = message.error()
        if error is None:
            value = message.value()
            partition, offset = message.partition(), message.offset()
            assert isinstance(value, bytes)
            assert partition is not None
            assert offset is not None
            found.append(Read(partition, offset, value.decode()))
        elif error.code() == KafkaError._PARTITION_EOF:
            open_ends -= 1
        else:
            raise KafkaException(error)
    consumer.close()
    return found
