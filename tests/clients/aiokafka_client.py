"""aiokafka, the asyncio client; it runs on a loop of its own here."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewPartitions, NewTopic, RecordsToDelete
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType

from tests.clients.client import PATIENCE_S, ClientFailed, Seen, Sent


class AiokafkaClient:
    def __init__(self, bootstrap: str) -> None:
        self._bootstrap = bootstrap
        self._runner = asyncio.Runner()
        self._run(self._start())

    def _run(self, work: Any) -> Any:
        return self._runner.run(asyncio.wait_for(work, PATIENCE_S))

    async def _start(self) -> None:
        self._admin = AIOKafkaAdminClient(bootstrap_servers=self._bootstrap)
        await self._admin.start()
        self._consumer = AIOKafkaConsumer(
            bootstrap_servers=self._bootstrap, enable_auto_commit=False, fetch_max_wait_ms=100
        )
        await self._consumer.start()

    def produce(
        self,
        topic: str,
        records: Sequence[Sent],
        *,
        codec: str = "none",
        acks: int = -1,
        idempotent: bool = False,
    ) -> list[int]:
        settings = {
            "compression_type": None if codec == "none" else codec,
            "acks": acks,
            "enable_idempotence": idempotent,
        }
        offsets: list[int] = self._run(self._produce(topic, records, settings))
        return offsets

    async def _produce(
        self, topic: str, records: Sequence[Sent], settings: dict[str, Any]
    ) -> list[int]:
        producer = AIOKafkaProducer(
            bootstrap_servers=self._bootstrap, max_request_size=2_000_000, **settings
        )
        await producer.start()
        try:
            pending = [
                await producer.send(
                    topic,
                    value=record.value,
                    key=record.key,
                    partition=record.partition,
                    timestamp_ms=record.timestamp,
                    headers=list(record.headers),
                )
                for record in records
            ]
            delivered = [await each for each in pending]
        finally:
            await producer.stop()
        return [each.offset if each else -1 for each in delivered]

    def consume(self, topic: str, *, partition: int, offset: int, count: int) -> list[Seen]:
        found: list[Seen] = self._run(
            self._consume(TopicPartition(topic, partition), offset, count)
        )
        return found

    async def _consume(self, source: Any, offset: int, count: int) -> list[Seen]:
        self._consumer.assign([source])
        self._consumer.seek(source, offset)
        found: list[Seen] = []
        while len(found) < count:
            record = await self._consumer.getone(source)
            found.append(_seen(record))
        return found

    def offsets(self, topic: str, *, partition: int) -> tuple[int, int]:
        source = TopicPartition(topic, partition)
        earliest = self._run(self._consumer.beginning_offsets([source]))[source]
        return earliest, self._run(self._consumer.end_offsets([source]))[source]

    def offset_at(self, topic: str, *, partition: int, timestamp: int) -> int | None:
        source = TopicPartition(topic, partition)
        found = self._run(self._consumer.offsets_for_times({source: timestamp}))[source]
        return found.offset if found else None

    def create_topic(self, topic: str, *, partitions: int, configs: Mapping[str, str]) -> None:
        wanted = NewTopic(topic, partitions, 1, topic_configs=dict(configs))
        _check(self._run(self._admin.create_topics([wanted])).topic_errors)

    def delete_topic(self, topic: str) -> None:
        _check(self._run(self._admin.delete_topics([topic])).topic_error_codes)

    def topics(self) -> list[str]:
        names: list[str] = self._run(self._admin.list_topics())
        return names

    def partition_count(self, topic: str) -> int:
        return len(self._run(self._admin.describe_topics([topic]))[0]["partitions"])

    def add_partitions(self, topic: str, *, count: int) -> None:
        answer = self._run(self._admin.create_partitions({topic: NewPartitions(count)}))
        _check(answer.topic_errors)

    def configs(self, topic: str) -> dict[str, str]:
        asked = [ConfigResource(ConfigResourceType.TOPIC, topic)]
        (response,) = self._run(self._admin.describe_configs(asked))
        (_, _, _, _, entries) = response.resources[0]
        return {entry[0]: entry[1] for entry in entries}

    def set_config(self, topic: str, name: str, value: str) -> None:
        resource = ConfigResource(ConfigResourceType.TOPIC, topic, configs={name: value})
        (response,) = self._run(self._admin.alter_configs([resource]))
        _check([(topic, response.resources[0][0])])

    def delete_records(self, topic: str, *, partition: int, offset: int) -> None:
        before = {TopicPartition(topic, partition): RecordsToDelete(before_offset=offset)}
        self._run(self._admin.delete_records(before))

    def close(self) -> None:
        self._run(self._consumer.stop())
        self._run(self._admin.close())
        self._runner.close()


def _check(results: Any) -> None:
    """It hands the codes to its user."""
    failed = [result for result in results if result[1]]
    if failed:
        raise ClientFailed(str(failed))


def _seen(record: Any) -> Seen:
    sent = Sent(
        value=record.value,
        key=record.key,
        timestamp=record.timestamp,
        headers=tuple(record.headers),
        partition=record.partition,
    )
    return Seen(record.offset, sent)
