"""Steps in few words: topics by their short names, what is not said has the usual value."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import groupby
from typing import NamedTuple

from ottla.protocol.apis.fetch import FetchPartition, FetchRequest, FetchTopic, ForgottenTopic
from ottla.protocol.apis.init_producer_id import InitProducerIdRequest
from ottla.protocol.apis.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from ottla.protocol.apis.metadata import MetadataRequest, MetadataRequestTopic
from ottla.protocol.apis.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from ottla.protocol.primitives import ZERO_UUID
from ottla.protocol.records.batch import build_batch
from ottla.protocol.records.compression import Codec
from ottla.protocol.records.message_set import build_message_set
from ottla.protocol.records.record import Record
from tests.differential.case import Given, Step, World, step, value_of

T0 = 1_600_000_000_000  # September 2020
LATER = 4_000_000_000_000  # in 2096
LATEST, EARLIEST, MAX_TIMESTAMP, EARLIEST_LOCAL, LATEST_TIERED = -1, -2, -3, -4, -5
NEWEST_FETCH = 12  # the newest that still names topics by their names


def records(*values: bytes | None, start: int = T0, headers: bool = False) -> list[Record]:
    """One a second, with keys k0, k1 ..."""
    return [
        Record(i, start + 1000 * i, b"k%d" % i, value, [("h", b"1"), ("h", b"")] if headers else [])
        for i, value in enumerate(values)
    ]


def batch(*values: bytes | None, codec: Codec = Codec.NONE, start: int = T0) -> bytes:
    return build_batch(records(*values, start=start), codec=codec)


def message_set(*values: bytes | None, magic: int, codec: Codec = Codec.NONE) -> bytes:
    return build_message_set(records(*values), magic=magic, codec=codec)


class To(NamedTuple):
    """Records for a partition."""

    records: Given[bytes | None]
    topic: str = "t"
    partition: int = 0


def produce(
    version: int,
    *parts: To,
    acks: int = -1,
    transactional_id: Given[str | None] = None,
    timeout_ms: int = 5_000,
) -> Step:
    def build(world: World) -> ProduceRequest:
        data = [
            TopicProduceData(
                name=world.name(topic),
                partition_data=[
                    PartitionProduceData(
                        index=part.partition, records=value_of(part.records, world)
                    )
                    for part in group
                ],
            )
            for topic, group in groupby(parts, key=lambda part: part.topic)
        ]
        return ProduceRequest(
            transactional_id=value_of(transactional_id, world),
            acks=acks,
            timeout_ms=timeout_ms,
            topic_data=data,
        )

    return replace(step(ProduceRequest, version, build), is_answered=acks != 0)


class At(NamedTuple):
    """From where a partition is read."""

    offset: int = 0
    topic: str = "t"
    partition: int = 0
    max_bytes: int = 1 << 20
    leader_epoch: int = -1
    last_fetched_epoch: int = -1


def fetch(
    version: int,
    *parts: At,
    session_id: Given[int] = 0,
    session_epoch: int = -1,
    forget: Iterable[tuple[str, int]] = (),
    max_wait_ms: int = 0,
    min_bytes: int = 0,
    max_bytes: int = 1 << 24,
    isolation_level: int = 0,
    replica_id: int = -1,
) -> Step:
    def build(world: World) -> FetchRequest:
        return FetchRequest(
            replica_id=replica_id,
            max_wait_ms=max_wait_ms,
            min_bytes=min_bytes,
            max_bytes=max_bytes,
            isolation_level=isolation_level,
            session_id=value_of(session_id, world),
            session_epoch=session_epoch,
            topics=[
                FetchTopic(
                    topic=world.name(topic),
                    topic_id=world.topic_id(topic),
                    partitions=[_fetch_partition(part, version) for part in group],
                )
                for topic, group in groupby(parts, key=lambda part: part.topic)
            ],
            forgotten_topics_data=[
                ForgottenTopic(
                    topic=world.name(topic), topic_id=world.topic_id(topic), partitions=[partition]
                )
                for topic, partition in forget
            ],
        )

    return step(FetchRequest, version, build)


def _fetch_partition(part: At, version: int) -> FetchPartition:
    return FetchPartition(
        partition=part.partition,
        current_leader_epoch=part.leader_epoch,
        fetch_offset=part.offset,
        last_fetched_epoch=part.last_fetched_epoch if version >= 12 else -1,
        partition_max_bytes=part.max_bytes,
    )


def read_back(topic: str = "t", partition: int = 0) -> Step:
    """Everything in the partition."""
    return fetch(NEWEST_FETCH, At(topic=topic, partition=partition))


class When(NamedTuple):
    timestamp: int
    topic: str = "t"
    partition: int = 0
    leader_epoch: int = -1
    max_num_offsets: int = 1


def list_offsets(
    version: int, *parts: When, isolation_level: int = 0, replica_id: int = -1
) -> Step:
    def build(world: World) -> ListOffsetsRequest:
        return ListOffsetsRequest(
            replica_id=replica_id,
            isolation_level=isolation_level,
            topics=[
                ListOffsetsTopic(
                    name=world.name(topic),
                    partitions=[
                        ListOffsetsPartition(
                            partition_index=part.partition,
                            current_leader_epoch=part.leader_epoch,
                            timestamp=part.timestamp,
                            max_num_offsets=part.max_num_offsets,
                        )
                        for part in group
                    ],
                )
                for topic, group in groupby(parts, key=lambda part: part.topic)
            ],
        )

    return step(ListOffsetsRequest, version, build)


def metadata(
    version: int,
    *topics: str,
    everything: bool = False,
    auto_create: bool = True,
    authorized_operations: bool = False,
) -> Step:
    """Of topics by name. An empty array, unless `everything` is asked for."""

    def build(world: World) -> MetadataRequest:
        named = [MetadataRequestTopic(name=world.name(topic)) for topic in topics]
        return MetadataRequest(
            topics=None if everything and version else named,
            allow_auto_topic_creation=auto_create or version < 4,
            include_cluster_authorized_operations=authorized_operations and 8 <= version <= 10,
            include_topic_authorized_operations=authorized_operations,
        )

    return step(MetadataRequest, version, build)


def metadata_by_id(version: int, *topics: str, name: str | None = None) -> Step:
    """`=` is the id of nobody, sixteen zeros."""

    def build(world: World) -> MetadataRequest:
        ids = [ZERO_UUID if topic == "=" else world.topic_id(topic) for topic in topics]
        return MetadataRequest(topics=[MetadataRequestTopic(topic_id=i, name=name) for i in ids])

    return step(MetadataRequest, version, build)


def init_producer_id(
    version: int,
    *,
    transactional_id: str | None = None,
    producer_id: Given[int] = -1,
    producer_epoch: Given[int] = -1,
    timeout_ms: int = 60_000,
) -> Step:
    return step(
        InitProducerIdRequest,
        version,
        lambda world: InitProducerIdRequest(
            transactional_id=transactional_id,
            transaction_timeout_ms=timeout_ms,
            producer_id=value_of(producer_id, world),
            producer_epoch=value_of(producer_epoch, world),
        ),
    )


def never_answered(asked: Step) -> Step:
    """Kafka fails inside and forgets to answer: no use in waiting long."""
    return replace(asked, patience_s=2)


def mangled(asked: Step, change: Callable[[bytes], bytes]) -> Step:
    """Its frame, size included, sent otherwise than it should be."""
    return replace(asked, mangle=change)
