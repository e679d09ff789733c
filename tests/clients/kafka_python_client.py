"""kafka-python: pure Python, its own implementation of the protocol."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from tests.clients.client import PATIENCE_S, ClientFailed, Seen, Sent

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # how it reads its own files
    from kafka import KafkaConsumer, KafkaProducer, TopicPartition
    from kafka.admin import ConfigResource, ConfigResourceType, KafkaAdminClient

_POLL_MS = 100
_POLLS = 10 * PATIENCE_S


class KafkaPythonClient:
    def __init__(self, bootstrap: str) -> None:
        self._bootstrap = bootstrap
        self._admin = KafkaAdminClient(bootstrap_servers=bootstrap)
        self._consumer = KafkaConsumer(
            bootstrap_servers=bootstrap, enable_auto_commit=False, fetch_max_wait_ms=100
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
        producer = KafkaProducer(
            bootstrap_servers=self._bootstrap,
            compression_type=None if codec == "none" else codec,
            acks=acks,
            enable_idempotence=idempotent,
            max_request_size=2_000_000,
            linger_ms=5,
        )
        try:
            pending = [
                producer.send(
                    topic,
                    value=record.value,
                    key=record.key,
                    headers=list(record.headers),
                    partition=record.partition,
                    timestamp_ms=record.timestamp,
                )
                for record in records
            ]
            return [each.get(timeout=PATIENCE_S).offset for each in pending]
        finally:
            producer.close(timeout=PATIENCE_S)

    def consume(self, topic: str, *, partition: int, offset: int, count: int) -> list[Seen]:
        source = TopicPartition(topic, partition)
        self._consumer.assign([source])
        self._consumer.seek(source, offset)
        found: list[Seen] = []
        for _ in range(_POLLS):
            if len(found) >= count:
                return found
            for records in self._consumer.poll(timeout_ms=_POLL_MS).values():
                found += [_seen(record) for record in records]
        raise ClientFailed(f"{len(found)} of {count} records")

    def offsets(self, topic: str, *, partition: int) -> tuple[int, int]:
        source = TopicPartition(topic, partition)
        earliest = self._consumer.beginning_offsets([source])[source]
        return earliest, self._consumer.end_offsets([source])[source]

    def offset_at(self, topic: str, *, partition: int, timestamp: int) -> int | None:
        source = TopicPartition(topic, partition)
        found = self._consumer.offsets_for_times({source: timestamp})[source]
        return found.offset if found else None

    def create_topic(self, topic: str, *, partitions: int, configs: Mapping[str, str]) -> None:
        options = {"num_partitions": partitions, "replication_factor": 1, "configs": dict(configs)}
        self._admin.create_topics({topic: options})

    def delete_topic(self, topic: str) -> None:
        self._admin.delete_topics([topic])

    def topics(self) -> list[str]:
        names: list[str] = self._admin.list_topics()
        return names

    def partition_count(self, topic: str) -> int:
        return len(self._admin.describe_topics([topic])[0]["partitions"])

    def add_partitions(self, topic: str, *, count: int) -> None:
        self._admin.create_partitions({topic: count})

    def configs(self, topic: str) -> dict[str, str]:
        found = self._admin.describe_configs(
            [ConfigResource(ConfigResourceType.TOPIC, topic)], config_filter="all"
        )
        return _values(found, topic)

    def set_config(self, topic: str, name: str, value: str) -> None:
        resource = ConfigResource(ConfigResourceType.TOPIC, topic, configs={name: value})
        self._admin.alter_configs([resource])

    def delete_records(self, topic: str, *, partition: int, offset: int) -> None:
        self._admin.delete_records({TopicPartition(topic, partition): offset})

    def close(self) -> None:
        self._consumer.close(autocommit=False)
        self._admin.close()


def _values(found: Any, topic: str) -> dict[str, str]:
    return {name: entry["value"] for name, entry in found["topic"][topic].items()}


def _seen(record: Any) -> Seen:
    sent = Sent(
        value=record.value,
        key=record.key,
        timestamp=record.timestamp,
        headers=tuple(record.headers),
        partition=record.partition,
    )
    return Seen(record.offset, sent)
