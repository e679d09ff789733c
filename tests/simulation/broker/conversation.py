"""What clients say to a broker in these tests, in as few words as possible."""

from __future__ import annotations

from typing import NamedTuple

from ottla.network.client import BrokerClient
from ottla.protocol.apis.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from ottla.protocol.apis.delete_topics import (
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)
from ottla.protocol.apis.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
)
from ottla.protocol.apis.leader_and_isr import (
    LeaderAndIsrPartitionState,
    LeaderAndIsrRequest,
    LeaderAndIsrResponse,
    LeaderAndIsrTopicState,
)
from ottla.protocol.apis.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from ottla.protocol.apis.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from ottla.protocol.errors import ErrorCode
from ottla.protocol.primitives import ZERO_UUID
from ottla.protocol.records.batch import build_batch
from ottla.protocol.records.record import Record
from ottla.protocol.records.record_set import read_batches
from ottla.simulation.broker import START_MS

HOUR_MS = 3_600_000
FETCH_VERSION = 12  # the last one that names topics
CONTROL_VERSION = 2
EARLIEST = -2
FOLLOWER = 1


class Idempotent(NamedTuple):
    producer_id: int
    sequence: int


async def create_topic(
    client: BrokerClient,
    name: str,
    *,
    partitions: int = 1,
    timeout_ms: int = 30_000,
    **configs: str,
) -> ErrorCode:
    topic = CreatableTopic(
        name=name,
        num_partitions=partitions,
        replication_factor=1,
        assignments=[],
        configs=[
            CreatableTopicConfig(name=key.replace("_", "."), value=value)
            for key, value in configs.items()
        ],
    )
    answer = await client.request(CreateTopicsRequest(topics=[topic], timeout_ms=timeout_ms))
    assert isinstance(answer, CreateTopicsResponse)
    return ErrorCode(answer.topics[0].error_code)


async def delete_topic(client: BrokerClient, name: str, *, timeout_ms: int = 30_000) -> ErrorCode:
    topic = DeleteTopicState(name=name, topic_id=ZERO_UUID)
    request = DeleteTopicsRequest(topics=[topic], timeout_ms=timeout_ms)
    answer = await client.request(request)
    assert isinstance(answer, DeleteTopicsResponse)
    return ErrorCode(answer.responses[0].error_code)


def batch(
    *values: bytes,
    key: bytes | None = None,
    idempotent: Idempotent | None = None,
    timestamp: int = START_MS,
) -> bytes:
    return build_batch(
        [Record(number, timestamp, key, value) for number, value in enumerate(values)],
        producer_id=idempotent.producer_id if idempotent else -1,
        producer_epoch=0 if idempotent else -1,
        base_sequence=idempotent.sequence if idempotent else -1,
    )


def produce_request(
    records: dict[tuple[str, int], bytes], *, acks: int, timeout_ms: int = 30_000
) -> ProduceRequest:
    return ProduceRequest(
        acks=acks,
        timeout_ms=timeout_ms,
        topic_data=[
            TopicProduceData(
                name=topic, partition_data=[PartitionProduceData(index=index, records=data)]
            )
            for (topic, index), data in records.items()
        ],
    )


async def produce(
    client: BrokerClient,
    topic: str,
    *values: bytes,
    partition: int = 0,
    acks: int = -1,
    timeout_ms: int = 30_000,
    key: bytes | None = None,
    idempotent: Idempotent | None = None,
    timestamp: int = START_MS,
) -> PartitionProduceResponse:
    data = batch(*values, key=key, idempotent=idempotent, timestamp=timestamp)
    request = produce_request({(topic, partition): data}, acks=acks, timeout_ms=timeout_ms)
    answer = await client.request(request)
    assert isinstance(answer, ProduceResponse)
    return answer.responses[0].partition_responses[0]


async def fetch(
    client: BrokerClient,
    topic: str,
    *,
    offset: int = 0,
    partition: int = 0,
    max_wait_ms: int = HOUR_MS,
    min_bytes: int = 1,
    read_committed: bool = False,
    replica_id: int = -1,
) -> PartitionData:
    asked = FetchPartition(partition=partition, fetch_offset=offset, partition_max_bytes=1 << 20)
    request = FetchRequest(
        replica_id=replica_id,
        max_wait_ms=max_wait_ms,
        min_bytes=min_bytes,
        isolation_level=int(read_committed),
        topics=[FetchTopic(topic=topic, partitions=[asked])],
    )
    answer = await client.request(request, version=FETCH_VERSION)
    assert isinstance(answer, FetchResponse)
    return answer.responses[0].partitions[0]


async def read_all(client: BrokerClient, topic: str, *, partition: int = 0) -> list[bytes | None]:
    found: list[bytes | None] = []
    offset = 0
    while True:
        data = await fetch(client, topic, offset=offset, partition=partition, max_wait_ms=0)
        if data.error_code == ErrorCode.OFFSET_OUT_OF_RANGE:
            offset = await _start(client, topic, partition)
            continue
        assert data.error_code == ErrorCode.NONE, ErrorCode(data.error_code)
        if not data.records:
            return found
        for each in read_batches(records_of(data)):
            found += [record.value for record in each.records() if record.offset >= offset]
            offset = each.last_offset + 1


async def _start(client: BrokerClient, topic: str, partition: int) -> int:
    asked = ListOffsetsPartition(partition_index=partition, timestamp=EARLIEST)
    topics = [ListOffsetsTopic(name=topic, partitions=[asked])]
    answer = await client.request(ListOffsetsRequest(replica_id=-1, topics=topics))
    assert isinstance(answer, ListOffsetsResponse)
    return answer.topics[0].partitions[0].offset


def records_of(data: PartitionData) -> bytes:
    assert isinstance(data.records, bytes | memoryview)
    return bytes(data.records)


def values_in(data: PartitionData) -> list[bytes | None]:
    return [each.value for found in read_batches(records_of(data)) for each in found.records()]


async def lead(
    client: BrokerClient, topic: str, *, isr: list[int], leader_epoch: int, partition: int = 0
) -> ErrorCode:
    """As the controller would: this broker leads, with these in sync."""
    state = LeaderAndIsrPartitionState(
        partition_index=partition,
        controller_epoch=1,
        leader=0,
        leader_epoch=leader_epoch,
        isr=isr,
        partition_epoch=leader_epoch,
        replicas=[0, FOLLOWER],
    )
    request = LeaderAndIsrRequest(
        controller_id=0,
        controller_epoch=1,
        topic_states=[LeaderAndIsrTopicState(topic_name=topic, partition_states=[state])],
        live_leaders=[],
    )
    answer = await client.request(request, version=CONTROL_VERSION)
    assert isinstance(answer, LeaderAndIsrResponse)
    return ErrorCode(answer.partition_errors[0].error_code)
