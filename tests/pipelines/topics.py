"""Topics with something in them, for the tests on Spark."""

from __future__ import annotations

import socket
from collections.abc import Iterable
from itertools import count
from typing import Any

from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewPartitions

from ottla.protocol.apis.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from ottla.protocol.framing import encode_request
from ottla.protocol.records.batch import BATCH_OVERHEAD, build_batch, read_header, seal_batch
from ottla.protocol.records.record import Record

_numbers = count()


def fill(bootstrap: str, topic: str, values: Iterable[str | None], **more: Any) -> None:
    """`more` is for every record: partition, key, headers, timestamp."""
    producer = Producer({"bootstrap.servers": bootstrap, "log_level": 0})
    _produce(producer, topic, values, more)


def transact(
    bootstrap: str, topic: str, values: Iterable[str], *, commit: bool, partition: int = 0
) -> None:
    name = f"filling-{next(_numbers)}"
    settings = {"bootstrap.servers": bootstrap, "transactional.id": name, "log_level": 0}
    producer = Producer(settings)
    producer.init_transactions()
    producer.begin_transaction()
    _produce(producer, topic, values, {"partition": partition})
    if commit:
        producer.commit_transaction()
    else:
        producer.abort_transaction()


def fill_raw(bootstrap: str, topic: str, *, header: bytes) -> None:
    """A record with a header of this name, which no client would send if it is not UTF-8."""
    placeholder = "x" * len(header)
    batch = build_batch([Record(0, 0, None, b"raw", [(placeholder, b"")])])
    payload = bytes(batch[BATCH_OVERHEAD:]).replace(placeholder.encode(), header)
    sealed = seal_batch(read_header(batch), payload)
    partition = PartitionProduceData(index=0, records=sealed)
    data = TopicProduceData(name=topic, partition_data=[partition])
    request = ProduceRequest(acks=-1, timeout_ms=30_000, topic_data=[data])
    frame = encode_request(request, 8, correlation_id=1, client_id="raw")
    host, _, port = bootstrap.rpartition(":")
    with socket.create_connection((host, int(port)), 30) as connection:
        connection.sendall(frame)
        assert connection.recv(4)


def _produce(
    producer: Producer, topic: str, values: Iterable[str | None], more: dict[str, Any]
) -> None:
    failed: list[object] = []
    for value in values:
        producer.produce(
            topic,
            value,
            on_delivery=lambda error, _: failed.append(error) if error else None,
            **more,
        )
    assert producer.flush(30) == 0
    assert not failed


def delete_before(bootstrap: str, topic: str, offset: int, *, partition: int = 0) -> None:
    """As retention would."""
    admin = AdminClient({"bootstrap.servers": bootstrap})
    for answer in admin.delete_records([TopicPartition(topic, partition, offset)]).values():
        answer.result(30)


def grow(bootstrap: str, topic: str, *, to: int) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap})
    for answer in admin.create_partitions([NewPartitions(topic, to)]).values():
        answer.result(30)
