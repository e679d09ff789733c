"""Steps of transactions in few words: a transactional id by its short name.

Which producer speaks, unless it is said, is whoever was last given an id.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from typing import NamedTuple

from ottla.protocol.apis.add_offsets_to_txn import AddOffsetsToTxnRequest, AddOffsetsToTxnResponse
from ottla.protocol.apis.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from ottla.protocol.apis.describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
)
from ottla.protocol.apis.end_txn import EndTxnRequest, EndTxnResponse
from ottla.protocol.apis.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from ottla.protocol.apis.list_transactions import ListTransactionsRequest, ListTransactionsResponse
from ottla.protocol.apis.offset_fetch import OffsetFetchResponse
from ottla.protocol.apis.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from ottla.protocol.apis.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)
from ottla.protocol.errors import ErrorCode
from ottla.protocol.records.batch import build_batch
from ottla.protocol.records.record import Record
from ottla.protocol.schema import Message
from tests.differential.case import Given, Step, World, step, value_of
from tests.differential.group_requests import Of
from tests.differential.requests import T0, To, produce

Partition = tuple[str, int]
T_0: Partition = ("t", 0)


def producer(world: World) -> int:
    """Of the last who was given an id."""
    found = [each for each in world.answers if isinstance(each, InitProducerIdResponse)]
    return [each.producer_id for each in found if not each.error_code][-1]


def another(world: World) -> int:
    """An id that nobody has."""
    return producer(world) + 100_000


def init(
    version: int,
    name: str = "x",
    *,
    producer_id: Given[int] = -1,
    epoch: int = -1,
    timeout_ms: int = 60_000,
) -> Step:
    return step(
        InitProducerIdRequest,
        version,
        lambda world: InitProducerIdRequest(
            transactional_id=world.name(name),
            transaction_timeout_ms=timeout_ms,
            producer_id=value_of(producer_id, world),
            producer_epoch=epoch,
        ),
    )


class Adding(NamedTuple):
    """What one transaction of an AddPartitionsToTxn asks for."""

    partitions: Sequence[Partition] = (T_0,)
    name: str = "x"
    epoch: int = 0
    producer_id: Given[int] = producer
    verify_only: bool = False

    def of(self, world: World) -> AddPartitionsToTxnTransaction:
        return AddPartitionsToTxnTransaction(
            transactional_id=world.name(self.name),
            producer_id=value_of(self.producer_id, world),
            producer_epoch=self.epoch,
            verify_only=self.verify_only,
            topics=[
                AddPartitionsToTxnTopic(
                    name=world.name(topic), partitions=[index for _, index in some]
                )
                for topic, some in groupby(self.partitions, key=lambda each: each[0])
            ],
        )


def add(
    version: int,
    *partitions: Partition,
    name: str = "x",
    epoch: int = 0,
    producer_id: Given[int] = producer,
) -> Step:
    """Without partitions: to the first of "t"."""
    asked = Adding(partitions or (T_0,), name, epoch, producer_id)
    if version >= 4:
        return add_many(version, asked)

    def build(world: World) -> AddPartitionsToTxnRequest:
        transaction = asked.of(world)
        return AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=transaction.transactional_id,
            v3_and_below_producer_id=transaction.producer_id,
            v3_and_below_producer_epoch=transaction.producer_epoch,
            v3_and_below_topics=transaction.topics,
        )

    return step(AddPartitionsToTxnRequest, version, build)


def add_many(version: int, *asked: Adding) -> Step:
    return step(
        AddPartitionsToTxnRequest,
        version,
        lambda world: AddPartitionsToTxnRequest(transactions=[each.of(world) for each in asked]),
    )


def verify(version: int, *partitions: Partition, name: str = "x", epoch: int = 0) -> Step:
    return add_many(version, Adding(partitions or (T_0,), name, epoch, verify_only=True))


def add_offsets(
    version: int,
    group: str = "g",
    *,
    name: str = "x",
    epoch: int = 0,
    producer_id: Given[int] = producer,
) -> Step:
    return step(
        AddOffsetsToTxnRequest,
        version,
        lambda world: AddOffsetsToTxnRequest(
            transactional_id=world.name(name),
            producer_id=value_of(producer_id, world),
            producer_epoch=epoch,
            group_id=world.name(group),
        ),
    )


def end(
    version: int,
    *,
    commits: bool = True,
    name: str = "x",
    epoch: int = 0,
    producer_id: Given[int] = producer,
) -> Step:
    return step(
        EndTxnRequest,
        version,
        lambda world: EndTxnRequest(
            transactional_id=world.name(name),
            producer_id=value_of(producer_id, world),
            producer_epoch=epoch,
            committed=commits,
        ),
    )


def commit_offsets(
    version: int,
    *parts: Of,
    who: Given[str] = "",
    generation: int = -1,
    instance: str | None = None,
    group: str = "g",
    name: str = "x",
    epoch: int = 0,
    producer_id: Given[int] = producer,
) -> Step:
    return step(
        TxnOffsetCommitRequest,
        version,
        lambda world: TxnOffsetCommitRequest(
            transactional_id=world.name(name),
            group_id=world.name(group),
            producer_id=value_of(producer_id, world),
            producer_epoch=epoch,
            generation_id=generation,
            member_id=value_of(who, world),
            group_instance_id=instance,
            topics=[
                TxnOffsetCommitRequestTopic(
                    name=world.name(topic), partitions=[_offset(part) for part in some]
                )
                for topic, some in groupby(parts, key=lambda part: part.topic)
            ],
        ),
    )


def _offset(part: Of) -> TxnOffsetCommitRequestPartition:
    return TxnOffsetCommitRequestPartition(
        partition_index=part.partition,
        committed_offset=part.offset,
        committed_leader_epoch=part.leader_epoch,
        committed_metadata=part.metadata,
    )


def describe_transactions(*names: str) -> Step:
    return step(
        DescribeTransactionsRequest,
        0,
        lambda world: DescribeTransactionsRequest(
            transactional_ids=[world.name(name) for name in names or ("x",)]
        ),
    )


def list_transactions(
    version: int,
    *,
    states: Sequence[str] = (),
    producer_ids: Sequence[Given[int]] = (),
    duration_ms: int = -1,
) -> Step:
    return step(
        ListTransactionsRequest,
        version,
        lambda world: ListTransactionsRequest(
            state_filters=list(states),
            producer_id_filters=[value_of(each, world) for each in producer_ids],
            duration_filter=duration_ms,
        ),
    )


def mark(
    version: int,
    *partitions: Partition,
    commits: bool = False,
    epoch: int = 0,
    coordinator_epoch: int = 0,
    producer_id: Given[int] = producer,
) -> Step:
    """A marker, as a coordinator or an operator has it written."""
    return step(
        WriteTxnMarkersRequest,
        version,
        lambda world: WriteTxnMarkersRequest(
            markers=[
                WritableTxnMarker(
                    producer_id=value_of(producer_id, world),
                    producer_epoch=epoch,
                    transaction_result=commits,
                    topics=[
                        WritableTxnMarkerTopic(
                            name=world.name(topic), partition_indexes=[index for _, index in some]
                        )
                        for topic, some in groupby(partitions or (T_0,), key=lambda each: each[0])
                    ],
                    coordinator_epoch=coordinator_epoch,
                )
            ]
        ),
    )


def send(
    sequence: int = 0,
    count: int = 1,
    *,
    version: int = 11,
    epoch: int = 0,
    name: str = "x",
    topic: str = "t",
    partition: int = 0,
    is_transactional: bool = True,
) -> Step:
    """Records of the transaction."""

    def batch(world: World) -> bytes | None:
        return build_batch(
            [Record(i, T0, b"k", b"s%d" % (sequence + i)) for i in range(count)],
            producer_id=producer(world),
            producer_epoch=epoch,
            base_sequence=sequence,
            is_transactional=is_transactional,
        )

    part = To(batch, topic, partition)
    return produce(version, part, transactional_id=lambda world: world.name(name))


def ended(name: str = "x") -> Step:
    """When all markers are written: a coordinator does that after it has answered."""

    def is_complete(answer: Message) -> bool:
        assert isinstance(answer, DescribeTransactionsResponse)
        return not answer.transaction_states[0].transaction_state.startswith("Prepare")

    return replace(describe_transactions(name), until=is_complete)


def once_listed(asked: Step, name: str) -> Step:
    """Asked again until it is: one that began in this very millisecond has no age yet."""

    def is_listed(answer: Message) -> bool:
        assert isinstance(answer, ListTransactionsResponse)
        return any(each.transactional_id.endswith(name) for each in answer.transaction_states)

    return replace(asked, until=is_listed)


def no_more_concurrent(asked: Step) -> Step:
    """Asked again while the transaction before is still being ended."""
    concurrent = ErrorCode.CONCURRENT_TRANSACTIONS
    return replace(asked, until=lambda answer: concurrent not in _codes(answer))


def stable(asked: Step) -> Step:
    """Asked again until the markers in the log of offsets have come through."""

    def is_stable(answer: Message) -> bool:
        assert isinstance(answer, OffsetFetchResponse)
        found = [each.error_code for topic in answer.topics for each in topic.partitions]
        return ErrorCode.UNSTABLE_OFFSET_COMMIT not in found

    return replace(asked, until=is_stable)


def _codes(answer: Message) -> list[int]:
    match answer:
        case InitProducerIdResponse() | EndTxnResponse() | AddOffsetsToTxnResponse():
            return [answer.error_code]
        case AddPartitionsToTxnResponse():
            topics = answer.results_by_topic_v3_and_below + [
                topic for each in answer.results_by_transaction for topic in each.topic_results
            ]
            return [each.partition_error_code for t in topics for each in t.results_by_partition]
        case _:
            raise AssertionError(answer)
