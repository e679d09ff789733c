"""Transactions as partitions know them: who began where; and the marker that aborts one."""

from __future__ import annotations

from collections.abc import Sequence

from ottla.admin.cluster import Cluster, TopicPartition
from ottla.admin.offsets import by_topic
from ottla.admin.refusals import refusal
from ottla.admin.transaction_verdicts import OpenTransaction
from ottla.protocol.apis.describe_producers import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    PartitionResponse,
    TopicRequest,
)
from ottla.protocol.apis.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)
from ottla.protocol.errors import ErrorCode, KafkaError

Opened = tuple[OpenTransaction, ...]
_MOST_AT_ONCE = 500  # partitions: each answers with all producers that it remembers


async def open_transactions(
    cluster: Cluster, partitions: Sequence[TopicPartition]
) -> dict[TopicPartition, Opened | KafkaError]:
    """Of each partition those that are open, by the offset where they began."""

    async def ask(
        leader: int, led: list[TopicPartition]
    ) -> dict[TopicPartition, Opened | KafkaError]:
        results: dict[TopicPartition, Opened | KafkaError] = {}
        for first in range(0, len(led), _MOST_AT_ONCE):
            results |= await _ask_leader(cluster, leader, led[first : first + _MOST_AT_ONCE])
        return results

    return await cluster.ask_leaders(partitions, ask)


async def abort(
    cluster: Cluster,
    partition: TopicPartition,
    *,
    producer_id: int,
    producer_epoch: int,
    coordinator_epoch: int,
) -> KafkaError | None:
    """Writes the marker in the coordinator's place; what was refused, or None when it is there."""
    topic = WritableTxnMarkerTopic(name=partition.topic, partition_indexes=[partition.partition])
    marker = WritableTxnMarker(
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        transaction_result=False,
        topics=[topic],
        # Where no coordinator has ended anything yet, its lowest epoch passes for all of them.
        coordinator_epoch=max(coordinator_epoch, 0),
    )

    async def ask(leader: int, _: list[TopicPartition]) -> dict[TopicPartition, KafkaError | None]:
        request = WriteTxnMarkersRequest(markers=[marker])
        answer = await cluster.ask_broker(leader, request, WriteTxnMarkersResponse)
        (code,) = [
            each.error_code
            for result in answer.markers
            for told in result.topics
            for each in told.partitions
        ]
        return {partition: None if code == ErrorCode.NONE else refusal(code)}

    return (await cluster.ask_leaders([partition], ask))[partition]


async def _ask_leader(
    cluster: Cluster, leader: int, partitions: Sequence[TopicPartition]
) -> dict[TopicPartition, Opened | KafkaError]:
    request = DescribeProducersRequest(
        topics=[
            TopicRequest(name=topic, partition_indexes=indexes)
            for topic, indexes in by_topic(partitions).items()
        ]
    )
    answer = await cluster.ask_broker(leader, request, DescribeProducersResponse)
    results: dict[TopicPartition, Opened | KafkaError] = {}
    for topic in answer.topics:
        for each in topic.partitions:
            partition = TopicPartition(topic.name, each.partition_index)
            results[partition] = (
                _opened(partition, each)
                if each.error_code == ErrorCode.NONE
                else refusal(each.error_code, each.error_message)
            )
    return results


def _opened(partition: TopicPartition, told: PartitionResponse) -> Opened:
    found = [
        OpenTransaction(
            partition=partition,
            producer_id=each.producer_id,
            producer_epoch=each.producer_epoch,
            coordinator_epoch=each.coordinator_epoch,
            start_offset=each.current_txn_start_offset,
            last_write_ms=each.last_timestamp,
        )
        for each in told.active_producers
        if each.current_txn_start_offset >= 0
    ]
    return tuple(sorted(found, key=lambda each: each.start_offset))
