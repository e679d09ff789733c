"""aiokafka in transactions: each actor has an event loop of its own, which runs while it works."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRebalanceListener, TopicPartition

from tests.clients.client import PATIENCE_S
from tests.clients.transactions.history import Read
from tests.clients.transactions.python_actors import (
    AT_ONCE,
    POLL_MS,
    Batch,
    Partition,
    PythonLoop,
    PythonReader,
)


class AiokafkaProducer:
    def __init__(
        self,
        bootstrap: str,
        transactional_id: str,
        timeout_ms: int,
        runner: asyncio.Runner | None = None,
    ) -> None:
        self._own = asyncio.Runner() if runner is None else None
        self._runner = runner or self._own
        self._run(self._start(bootstrap, transactional_id, timeout_ms))

    def _run(self, work: Any) -> Any:
        assert self._runner is not None
        return self._runner.run(asyncio.wait_for(work, PATIENCE_S))

    async def _start(self, bootstrap: str, transactional_id: str, timeout_ms: int) -> None:
        self._producer = AIOKafkaProducer(
            bootstrap_servers=bootstrap,
            transactional_id=transactional_id,
            transaction_timeout_ms=timeout_ms,
        )
        await self._producer.start()

    def begin(self) -> None:
        self._run(self._producer.begin_transaction())

    def write(self, topic: str, records: Sequence[tuple[int, bytes]]) -> None:
        self._run(self._write(topic, records))

    async def _write(self, topic: str, records: Sequence[tuple[int, bytes]]) -> None:
        sent = [
            await self._producer.send(topic, value, partition=partition)
            for partition, value in records
        ]
        await asyncio.gather(*sent)

    def add_offsets(self, group: str, offsets: Mapping[Partition, int], _: Any) -> None:
        asked = {TopicPartition(*partition): offset for partition, offset in offsets.items()}
        self._run(self._producer.send_offsets_to_transaction(asked, group))

    def commit(self) -> None:
        self._run(self._producer.commit_transaction())

    def abort(self) -> None:
        self._run(self._producer.abort_transaction())

    def close(self) -> None:
        self._run(self._producer.stop())
        if self._own is not None:
            self._own.close()


class AiokafkaReader(PythonReader):
    def connect(self) -> None:
        self._runner = asyncio.Runner()
        self._runner.run(self._connect())

    async def _connect(self) -> None:
        self._consumer = _consumer(self.bootstrap)
        self._consumer.assign([TopicPartition(*each) for each in self.assigned])
        await self._consumer.start()

    def poll(self) -> list[Read]:
        found = self._runner.run(self._consumer.getmany(timeout_ms=POLL_MS))
        return [
            Read(each.partition, each.offset, each.value.decode())
            for records in found.values()
            for each in records
        ]

    def disconnect(self) -> None:
        self._runner.run(self._consumer.stop())
        self._runner.close()


class AiokafkaLoop(PythonLoop):
    is_by_partition = True

    def connect(self) -> None:
        self._runner = asyncio.Runner()
        self._runner.run(self._connect())

    async def _connect(self) -> None:
        self._consumer = _consumer(
            self.bootstrap,
            group_id=self.options.group,
            client_id=self.name,
            session_timeout_ms=self.options.session_ms,
            heartbeat_interval_ms=100,
            max_poll_records=AT_ONCE,
        )
        self._consumer.subscribe([self.options.source], listener=_Listener(self))
        await self._consumer.start()

    def poll(self) -> Batch:
        found = self._runner.run(self._consumer.getmany(timeout_ms=POLL_MS))
        return {each.partition: [one.offset for one in records] for each, records in found.items()}

    def rewind(self, partitions: Collection[int]) -> None:
        self._runner.run(self._rewind(partitions))

    async def _rewind(self, partitions: Collection[int]) -> None:
        for partition in partitions:
            where = TopicPartition(self.options.source, partition)
            committed = await self._consumer.committed(where)
            if where in self._consumer.assignment():
                self._consumer.seek(where, committed or 0)

    def new_producer(self, transactional_id: str) -> AiokafkaProducer:
        timeout_ms = self.options.timeout_ms
        return AiokafkaProducer(self.bootstrap, transactional_id, timeout_ms, self._runner)

    def disconnect(self) -> None:
        self._runner.run(self._consumer.stop())
        self._runner.close()


class _Listener(ConsumerRebalanceListener):  # type: ignore[misc]
    def __init__(self, loop: AiokafkaLoop) -> None:
        self._loop = loop

    async def on_partitions_revoked(self, _: Any) -> None:
        """What counts is what comes then."""

    async def on_partitions_assigned(self, _: Any) -> None:
        self._loop.is_rebalanced = True


def _consumer(bootstrap: str, **settings: Any) -> Any:
    return AIOKafkaConsumer(
        bootstrap_servers=bootstrap,
        isolation_level="read_committed",
        enable_auto_commit=False,
        auto_offset_reset="earliest",
        fetch_max_wait_ms=POLL_MS,
        **settings,
    )
