"""kafka-python in transactions."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from tests.clients.client import PATIENCE_S, ClientFailed
from tests.clients.transactions.history import Read
from tests.clients.transactions.python_actors import (
    AT_ONCE,
    POLL_MS,
    Batch,
    Partition,
    PythonLoop,
    PythonReader,
)

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # how it reads its own files
    from kafka import KafkaConsumer, KafkaProducer, TopicPartition
    from kafka.structs import OffsetAndMetadata


class KafkaPythonProducer:
    def __init__(self, bootstrap: str, transactional_id: str, timeout_ms: int) -> None:
        self._producer = KafkaProducer(
            bootstrap_servers=bootstrap,
            transactional_id=transactional_id,
            transaction_timeout_ms=timeout_ms,
            max_block_ms=PATIENCE_S * 1000,
        )
        self._is_spoilt = False
        self._producer.init_transactions()

    def begin(self) -> None:
        self._producer.begin_transaction()

    def write(self, topic: str, records: Sequence[tuple[int, bytes]]) -> None:
        sent = [self._producer.send(topic, value, partition=each) for each, value in records]
        self._producer.flush(PATIENCE_S)
        for future in sent:
            future.get(PATIENCE_S)

    def add_offsets(self, group: str, offsets: Mapping[Partition, int], member: Any) -> None:
        asked = {
            TopicPartition(*partition): OffsetAndMetadata(offset, "", -1)
            for partition, offset in offsets.items()
        }
        self._is_spoilt = True
        self._producer.send_offsets_to_transaction(asked, group if member is None else member)
        self._is_spoilt = False

    def commit(self) -> None:
        self._producer.commit_transaction()

    def abort(self) -> None:
        if self._is_spoilt:
            # It would send what was refused along with the offsets of its next transaction.
            raise ClientFailed("offsets were refused: it is to be made anew")
        self._producer.abort_transaction()

    def close(self) -> None:
        self._producer.close(1)


class KafkaPythonReader(PythonReader):
    def connect(self) -> None:
        self._consumer = _consumer(self.bootstrap)
        assigned = [TopicPartition(*each) for each in self.assigned]
        self._consumer.assign(assigned)
        self._consumer.seek_to_beginning(*assigned)

    def poll(self) -> list[Read]:
        found = self._consumer.poll(timeout_ms=POLL_MS)
        return [
            Read(each.partition, each.offset, each.value.decode())
            for records in found.values()
            for each in records
        ]

    def disconnect(self) -> None:
        self._consumer.close(autocommit=False)


class KafkaPythonLoop(PythonLoop):
    def connect(self) -> None:
        self._consumer = _consumer(
            self.bootstrap,
            group_id=self.options.group,
            client_id=self.name,
            session_timeout_ms=self.options.session_ms,
            heartbeat_interval_ms=100,
            max_poll_records=AT_ONCE,
            auto_offset_reset="earliest",
        )
        # It may hang in the rebalance that follows when it first joins knowing no partitions.
        self._consumer.partitions_for_topic(self.options.source)
        self._consumer.subscribe([self.options.source])

    def poll(self) -> Batch:
        # It joins in the background: its generation may be ahead of what it has assigned.
        self.membership = self._consumer.group_metadata()
        found = {
            each.partition: [record.offset for record in records]
            for each, records in self._consumer.poll(timeout_ms=POLL_MS).items()
        }
        if self.membership.generation_id >= 0:
            return found
        self.rewind(found)
        return {}

    def rewind(self, partitions: Collection[int]) -> None:
        for partition in partitions:
            where = TopicPartition(self.options.source, partition)
            if where in self._consumer.assignment():
                self._consumer.seek(where, self._consumer.committed(where) or 0)

    def new_producer(self, transactional_id: str) -> KafkaPythonProducer:
        return KafkaPythonProducer(self.bootstrap, transactional_id, self.options.timeout_ms)

    def disconnect(self) -> None:
        self._consumer.close(autocommit=False)


def _consumer(bootstrap: str, **settings: Any) -> Any:
    return KafkaConsumer(
        bootstrap_servers=bootstrap,
        isolation_level="read_committed",
        enable_auto_commit=False,
        fetch_max_wait_ms=POLL_MS,
        **settings,
    )
