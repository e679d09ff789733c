"""What transactional producers say, old and new, and where the error is in the answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ottla.protocol.apis.add_offsets_to_txn import AddOffsetsToTxnRequest
from ottla.protocol.apis.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
)
from ottla.protocol.apis.end_txn import EndTxnRequest
from ottla.protocol.apis.init_producer_id import InitProducerIdRequest
from ottla.protocol.apis.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestTopic,
    OffsetFetchResponse,
)
from ottla.protocol.apis.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from ottla.protocol.apis.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponse,
)
from ottla.protocol.errors import ErrorCode
from ottla.protocol.records.batch import build_batch
from ottla.protocol.records.record import Record
from ottla.verify.history import Offsets, TopicPartition

PRODUCE_TIMEOUT_MS = 2_000


class Dialect(NamedTuple):
    """Versions of each API."""

    init: int
    add: int
    add_offsets: int
    commit_offsets: int
    end: int
    produce: int

    @property
    def can_go_on(self) -> bool:
        """After an error, with a new epoch (KIP-360)."""
        return self.init >= OF_3_9.init - 1


OF_3_9 = Dialect(init=4, add=3, add_offsets=3, commit_offsets=3, end=3, produce=11)
OF_2_5 = Dialect(init=3, add=1, add_offsets=1, commit_offsets=3, end=1, produce=8)
OF_2_0 = Dialect(init=0, add=0, add_offsets=0, commit_offsets=0, end=0, produce=6)
DIALECTS = (OF_3_9, OF_2_5, OF_2_0)


class Identity(NamedTuple):
    transactional_id: str
    producer_id: int = -1
    epoch: int = -1


def init_request(who: Identity, *, timeout_ms: int) -> InitProducerIdRequest:
    return InitProducerIdRequest(
        transactional_id=who.transactional_id,
        transaction_timeout_ms=timeout_ms,
        producer_id=who.producer_id,
        producer_epoch=who.epoch,
    )


def add_request(who: Identity, partition: TopicPartition) -> AddPartitionsToTxnRequest:
    topic = AddPartitionsToTxnTopic(name=partition.topic, partitions=[partition.partition])
    return AddPartitionsToTxnRequest(
        v3_and_below_transactional_id=who.transactional_id,
        v3_and_below_producer_id=who.producer_id,
        v3_and_below_producer_epoch=who.epoch,
        v3_and_below_topics=[topic],
    )


def add_error(answer: AddPartitionsToTxnResponse) -> int:
    [topic] = answer.results_by_topic_v3_and_below
    return topic.results_by_partition[0].partition_error_code


def produce_request(
    who: Identity, partition: TopicPartition, values: Sequence[str], *, sequence: int, now_ms: int
) -> ProduceRequest:
    records = build_batch(
        [Record(index, now_ms, None, value.encode()) for index, value in enumerate(values)],
        producer_id=who.producer_id,
        producer_epoch=who.epoch,
        base_sequence=sequence,
        is_transactional=True,
    )
    data = PartitionProduceData(index=partition.partition, records=records)
    return ProduceRequest(
        transactional_id=who.transactional_id,
        acks=-1,
        timeout_ms=PRODUCE_TIMEOUT_MS,
        topic_data=[TopicProduceData(name=partition.topic, partition_data=[data])],
    )


def produce_error(answer: ProduceResponse) -> int:
    return answer.responses[0].partition_responses[0].error_code


def base_offset(answer: ProduceResponse) -> int:
    return answer.responses[0].partition_responses[0].base_offset


def add_offsets_request(who: Identity, group: str) -> AddOffsetsToTxnRequest:
    return AddOffsetsToTxnRequest(
        transactional_id=who.transactional_id,
        producer_id=who.producer_id,
        producer_epoch=who.epoch,
        group_id=group,
    )


def commit_offsets_request(who: Identity, group: str, offsets: Offsets) -> TxnOffsetCommitRequest:
    topics: dict[str, list[TxnOffsetCommitRequestPartition]] = {}
    for partition, offset in offsets:
        place = TxnOffsetCommitRequestPartition(
            partition_index=partition.partition, committed_offset=offset, committed_metadata=""
        )
        topics.setdefault(partition.topic, []).append(place)
    return TxnOffsetCommitRequest(
        transactional_id=who.transactional_id,
        group_id=group,
        producer_id=who.producer_id,
        producer_epoch=who.epoch,
        topics=[
            TxnOffsetCommitRequestTopic(name=name, partitions=partitions)
            for name, partitions in topics.items()
        ],
    )


def commit_offsets_error(answer: TxnOffsetCommitResponse) -> int:
    """All have the same, or those that have one."""
    codes = [each.error_code for topic in answer.topics for each in topic.partitions]
    return max(codes, key=bool)


def end_request(who: Identity, *, is_commit: bool) -> EndTxnRequest:
    return EndTxnRequest(
        transactional_id=who.transactional_id,
        producer_id=who.producer_id,
        producer_epoch=who.epoch,
        committed=is_commit,
    )


OFFSET_FETCH = 7


def offsets_request(group: str, partitions: Sequence[TopicPartition]) -> OffsetFetchRequest:
    [topic] = {each.topic for each in partitions}
    indexes = [each.partition for each in partitions]
    topics = [OffsetFetchRequestTopic(name=topic, partition_indexes=indexes)]
    return OffsetFetchRequest(group_id=group, topics=topics, require_stable=True)


def offsets_error(answer: OffsetFetchResponse) -> int:
    codes = [each.error_code for topic in answer.topics for each in topic.partitions]
    return answer.error_code or max(codes, key=bool, default=ErrorCode.NONE)


def offsets_of(answer: OffsetFetchResponse) -> Offsets:
    return tuple(
        (TopicPartition(topic.name, each.partition_index), each.committed_offset)
        for topic in answer.topics
        for each in topic.partitions
    )
