"""confluent-kafka: librdkafka, the client of C, C++, .NET and most of Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from confluent_kafka import Consumer, KafkaError, Message, Producer, TopicPartition
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    NewTopic,
    ResourceType,
)

from tests.clients.client import PATIENCE_S, ClientFailed, Seen, Sent

_POLLS = 10 * PATIENCE_S


class ConfluentClient:
    def __init__(self, bootstrap: str) -> None:
        self._settings: dict[str, Any] = {"bootstrap.servers": bootstrap, "log_level": 0}
        self._admin = AdminClient(self._settings)
        # It insists on the name of a group, though with `assign` it joins none.
        self._consumer = Consumer(
            self._settings
            | {"group.id": "none", "enable.auto.commit": False, "fetch.wait.max.ms": 100}
        )

    def produce(
        self,
        topic: str,
        records: Sequence[Sent],
        *,
        codec: str = "none",
        acks: int = -1,
        idempotent: bool = False,
    ) -> list[int]:
        offsets: dict[int, int | KafkaError] = {}
        producer = Producer(
            self._settings
            | {
                "compression.type": codec,
                "acks": acks,
                "enable.idempotence": idempotent,
                "message.max.bytes": 2_000_000,
            }
        )
        for number, record in enumerate(records):
            producer.produce(
                topic,
                value=record.value,
                key=record.key,
                partition=record.partition,
                timestamp=record.timestamp,
                headers=list(record.headers),
                on_delivery=_keeping(offsets, number),
            )
        left = producer.flush(PATIENCE_S)
        if left or len(offsets) < len(records):
            raise ClientFailed(f"{left} of {len(records)} records were not delivered")
        if errors := [each for each in offsets.values() if isinstance(each, KafkaError)]:
            raise ClientFailed(str(errors[0]))
        return [offset for _, offset in sorted(offsets.items()) if isinstance(offset, int)]

    def consume(self, topic: str, *, partition: int, offset: int, count: int) -> list[Seen]:
        # Of a topic it has not heard of it asks only when its next second begins.
        self._consumer.list_topics(topic, timeout=PATIENCE_S)
        self._consumer.assign([TopicPartition(topic, partition, offset)])
        found: list[Seen] = []
        for _ in range(_POLLS):
            if len(found) >= count:
                self._consumer.unassign()
                return found
            for message in self._consumer.consume(count - len(found), timeout=0.1):
                if message.error():
                    raise ClientFailed(str(message.error()))
                found.append(_seen(message))
        raise ClientFailed(f"{len(found)} of {count} records")

    def offsets(self, topic: str, *, partition: int) -> tuple[int, int]:
        found = self._consumer.get_watermark_offsets(
            TopicPartition(topic, partition), timeout=PATIENCE_S
        )
        assert found is not None
        return found

    def offset_at(self, topic: str, *, partition: int, timestamp: int) -> int | None:
        asked = TopicPartition(topic, partition, timestamp)
        (found,) = self._consumer.offsets_for_times([asked], timeout=PATIENCE_S)
        return found.offset if found.offset >= 0 else None

    def create_topic(self, topic: str, *, partitions: int, configs: Mapping[str, str]) -> None:
        wanted = NewTopic(topic, partitions, 1, config=dict(configs))
        self._admin.create_topics([wanted])[topic].result()

    def delete_topic(self, topic: str) -> None:
        self._admin.delete_topics([topic])[topic].result()

    def topics(self) -> list[str]:
        return list(self._admin.list_topics(timeout=PATIENCE_S).topics)

    def partition_count(self, topic: str) -> int:
        return len(self._admin.list_topics(topic, timeout=PATIENCE_S).topics[topic].partitions)

    def add_partitions(self, topic: str, *, count: int) -> None:
        self._admin.create_partitions([NewPartitions(topic, count)])[topic].result()

    def configs(self, topic: str) -> dict[str, str]:
        resource = ConfigResource(ResourceType.TOPIC, topic)
        entries = self._admin.describe_configs([resource])[resource].result()
        return {name: entry.value for name, entry in entries.items()}

    def set_config(self, topic: str, name: str, value: str) -> None:
        entry = ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET)
        resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[entry])
        self._admin.incremental_alter_configs([resource])[resource].result()

    def delete_records(self, topic: str, *, partition: int, offset: int) -> None:
        before = TopicPartition(topic, partition, offset)
        self._admin.delete_records([before])[before].result()

    def close(self) -> None:
        self._consumer.close()


def _keeping(offsets: dict[int, int | KafkaError], number: int) -> Any:
    def delivered(error: KafkaError | None, message: Message) -> None:
        offset = message.offset()
        if error is not None:
            offsets[number] = error
        else:
            offsets[number] = offset if offset is not None and offset >= 0 else -1

    return delivered


def _seen(message: Message) -> Seen:
    offset = message.offset()
    assert offset is not None
    record = Sent(
        value=message.value(),
        key=message.key(),
        timestamp=message.timestamp()[1],
        headers=_headers(message),
        partition=message.partition() or 0,
    )
    return Seen(offset, record)


def _headers(message: Message) -> tuple[tuple[str, bytes | None], ...]:
    found = message.headers() or []
    assert isinstance(found, list)
    return tuple((name, value) for name, value in found if not isinstance(value, str))
