"""What the tests ask a real broker of a topic's partition, the first one unless they say."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import NamedTuple

from ottla.protocol.apis.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from ottla.protocol.apis.describe_producers import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    TopicRequest,
)
from ottla.protocol.apis.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from ottla.protocol.apis.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from ottla.protocol.apis.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseTopic,
)
from ottla.protocol.apis.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from ottla.protocol.apis.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from ottla.protocol.errors import ErrorCode
from ottla.storage.log import Log
from tests.kafka.peer import KafkaPeer
from tests.kafka.written import Seen

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # how it reads its own files
    from kafka import KafkaConsumer, KafkaProducer, TopicPartition
    from kafka.consumer.fetcher import ConsumerRecord
    from kafka.structs import OffsetAndMetadata

_EMPTY_POLLS = 40
_POLL_MS = 500
EARLIEST, LATEST = -2, -1


class Fetched(NamedTuple):
    data: bytes
    aborted: list[tuple[int, int]]  # producer id, first offset


class Producer(NamedTuple):
    """A producer as Kafka describes it."""

    producer_id: int
    epoch: int
    last_sequence: int
    last_timestamp: int
    coordinator_epoch: int
    transaction_start: int


def create_topics(
    peer: KafkaPeer, topics: dict[str, dict[str, str]], *, partitions: int = 1
) -> None:
    """Topics of so many partitions, with their configuration."""
    wanted = [
        CreatableTopic(
            name=name,
            num_partitions=partitions,
            replication_factor=1,
            assignments=[],
            configs=[CreatableTopicConfig(name=k, value=v) for k, v in configs.items()],
        )
        for name, configs in topics.items()
    ]
    answer = peer.ask(CreateTopicsRequest(topics=wanted), 5, CreateTopicsResponse)
    assert [topic.error_message for topic in answer.topics if topic.error_code] == []
    peer.wait_for(list(topics))


def fetch(
    peer: KafkaPeer, topic: str, offset: int, *, max_bytes: int, read_committed: bool = False
) -> Fetched:
    partition = FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=max_bytes)
    request = FetchRequest(
        max_wait_ms=0,
        min_bytes=0,
        isolation_level=int(read_committed),
        topics=[FetchTopic(topic=topic, partitions=[partition])],
    )
    answer = peer.ask(request, 11, FetchResponse).responses[0].partitions[0]
    assert answer.error_code == ErrorCode.NONE
    aborted = [(each.producer_id, each.first_offset) for each in answer.aborted_transactions or ()]
    assert isinstance(answer.records, memoryview)
    return Fetched(bytes(answer.records), aborted)


def offset_at(
    peer: KafkaPeer,
    topic: str,
    timestamp: int,
    *,
    partition: int = 0,
    read_committed: bool = False,
) -> tuple[int, int]:
    """(timestamp, offset) as ListOffsets answers; (-1, -1) if there is no such record."""
    wanted = ListOffsetsPartition(partition_index=partition, timestamp=timestamp)
    request = ListOffsetsRequest(
        replica_id=-1,
        isolation_level=int(read_committed),
        topics=[ListOffsetsTopic(name=topic, partitions=[wanted])],
    )
    answer = peer.ask(request, 5, ListOffsetsResponse).topics[0].partitions[0]
    assert answer.error_code == ErrorCode.NONE
    return answer.timestamp, answer.offset


def epoch_end(peer: KafkaPeer, topic: str, leader_epoch: int) -> tuple[int, int]:
    """(epoch, end offset) as OffsetForLeaderEpoch answers."""
    partition = OffsetForLeaderPartition(partition=0, leader_epoch=leader_epoch)
    request = OffsetForLeaderEpochRequest(
        topics=[OffsetForLeaderTopic(topic=topic, partitions=[partition])]
    )
    answer = peer.ask(request, 3, OffsetForLeaderEpochResponse).topics[0].partitions[0]
    assert answer.error_code == ErrorCode.NONE
    return answer.leader_epoch, answer.end_offset


def producers(peer: KafkaPeer, topic: str) -> list[Producer]:
    request = DescribeProducersRequest(topics=[TopicRequest(name=topic, partition_indexes=[0])])
    answer = peer.ask(request, 0, DescribeProducersResponse).topics[0].partitions[0]
    assert answer.error_code == ErrorCode.NONE
    return sorted(
        Producer(
            each.producer_id,
            each.producer_epoch,
            each.last_sequence,
            each.last_timestamp,
            each.coordinator_epoch,
            each.current_txn_start_offset,
        )
        for each in answer.active_producers
    )


def producers_of(log: Log) -> list[Producer]:
    """What Ottla would answer to the same question."""
    return sorted(
        Producer(
            state.producer_id,
            state.epoch,
            state.last_sequence,
            state.last_timestamp,
            state.coordinator_epoch,
            state.transaction_start,
        )
        for state in log.producers.active_producers()
    )


def produce(peer: KafkaPeer, topic: str, batch: bytes) -> tuple[int, int]:
    """(error code, base offset) as the leader answers to a batch."""
    partition = PartitionProduceData(index=0, records=batch)
    data = [TopicProduceData(name=topic, partition_data=[partition])]
    request = ProduceRequest(acks=-1, timeout_ms=10_000, topic_data=data)
    answer = peer.ask(request, 8, ProduceResponse).responses[0].partition_responses[0]
    return answer.error_code, answer.base_offset


def consume(
    peer: KafkaPeer, topic: str, *, partition: int = 0, read_committed: bool = False
) -> list[Seen]:
    """Everything that a kafka-python consumer gets from the beginning to the end."""
    level = "read_committed" if read_committed else "read_uncommitted"
    end = offset_at(peer, topic, LATEST, partition=partition, read_committed=read_committed)[1]
    source = TopicPartition(topic, partition)
    consumer = KafkaConsumer(
        bootstrap_servers=peer.bootstrap, isolation_level=level, enable_auto_commit=False
    )
    try:
        consumer.assign([source])
        consumer.seek_to_beginning(source)
        found: list[Seen] = []
        for _ in range(_EMPTY_POLLS):
            if consumer.position(source) >= end:
                return found
            for records in consumer.poll(timeout_ms=_POLL_MS).values():
                found += map(_seen, records)
        raise AssertionError(f"{topic}: no end after {found[-1:]}")
    finally:
        consumer.close()


def _seen(record: ConsumerRecord) -> Seen:
    timestamp = -1 if record.timestamp is None else record.timestamp
    headers = tuple(record.headers)
    return Seen(record.offset, timestamp, record.key, record.value, headers)


def send_all(peer: KafkaPeer, topic: str, values: list[bytes], **settings: object) -> None:
    """As an ordinary producer."""
    producer = KafkaProducer(bootstrap_servers=peer.bootstrap, acks="all", **settings)
    try:
        for number, value in enumerate(values):
            producer.send(topic, key=b"k%d" % number, value=value, headers=[("from", b"kafka")])
        producer.flush(timeout=30)
    finally:
        producer.close(timeout=30)


def commit_offset(peer: KafkaPeer, group: str, topic: str, offset: int) -> None:
    """As a consumer without members to share the partitions with."""
    consumer = KafkaConsumer(bootstrap_servers=peer.bootstrap, group_id=group)
    try:
        consumer.commit({TopicPartition(topic, 0): OffsetAndMetadata(offset, "", -1)})
    finally:
        consumer.close(autocommit=False)


def committed_offset(peer: KafkaPeer, group: str, topic: str) -> int | None:
    consumer = KafkaConsumer(bootstrap_servers=peer.bootstrap, group_id=group)
    try:
        offset: int | None = consumer.committed(TopicPartition(topic, 0))
    finally:
        consumer.close(autocommit=False)
    return offset


def topics(peer: KafkaPeer, names: Iterable[str]) -> list[MetadataResponseTopic]:
    """Their ids, and of their partitions the leader epochs."""
    request = MetadataRequest(topics=[MetadataRequestTopic(name=name) for name in names])
    return peer.ask(request, 12, MetadataResponse).topics


def send_transactions(peer: KafkaPeer, topic: str) -> None:
    """One that is committed and one that is aborted."""
    producer = KafkaProducer(bootstrap_servers=peer.bootstrap, transactional_id="peer")
    try:
        producer.init_transactions()
        for number, is_committed in enumerate((True, False, True)):
            producer.begin_transaction()
            for part in range(3):
                producer.send(topic, key=b"t%d" % number, value=b"part %d" % part)
            producer.flush(timeout=30)
            (producer.commit_transaction if is_committed else producer.abort_transaction)()
    finally:
        producer.close(timeout=30)
