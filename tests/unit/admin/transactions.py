"""A scripted cluster with transactions: what partitions hold open, what coordinators know of it."""

from __future__ import annotations

from ottla.admin.cluster import TopicPartition
from ottla.admin.transaction_verdicts import KnownTransaction, OpenTransaction
from ottla.protocol.apis.describe_producers import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    PartitionResponse,
    ProducerState,
    TopicResponse,
)
from ottla.protocol.apis.describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    TopicData,
    TransactionState,
)
from ottla.protocol.apis.fetch import (
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    PartitionData,
)
from ottla.protocol.apis.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from ottla.protocol.apis.list_offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from ottla.protocol.apis.list_transactions import ListTransactionsRequest, ListTransactionsResponse
from ottla.protocol.apis.list_transactions import TransactionState as Listed
from ottla.protocol.apis.write_txn_markers import (
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)
from ottla.protocol.errors import ErrorCode
from ottla.protocol.records.batch import build_batch
from ottla.protocol.records.record import Record
from ottla.protocol.schema import Message
from tests.unit.admin.cluster import ScriptedCluster

COORDINATOR = 1
FIRST, SECOND = TopicPartition("orders", 0), TopicPartition("orders", 1)
HIGH_WATERMARK = 500
NOW_MS = 1_700_000_000_000
MINUTE_MS = 60_000


def opened(
    partition: TopicPartition = FIRST, *, producer_id: int = 4001, start_offset: int = 120
) -> OpenTransaction:
    """Silent for an hour."""
    last_write_ms = NOW_MS - 60 * MINUTE_MS
    return OpenTransaction(partition, producer_id, 2, -1, start_offset, last_write_ms)


def known(
    transactional_id: str = "etl-1",
    *partitions: TopicPartition,
    producer_id: int = 4001,
    state: str = "Ongoing",
    started_ms: int | None = NOW_MS - 2 * MINUTE_MS,
) -> KnownTransaction:
    return KnownTransaction(
        transactional_id, COORDINATOR, state, producer_id, 2, 15 * MINUTE_MS, started_ms, partitions
    )


class ScriptedTransactions:
    """Broker 0 leads both partitions of `orders`, which end at 500; broker 1 coordinates.

    The record at each offset was written at that many ms.
    """

    def __init__(self) -> None:
        self.opened: list[OpenTransaction] = []
        self.known: list[KnownTransaction] = []
        self.stable_offset: int | None = None  # where it differs from the first open one
        self.refuse = ErrorCode.NONE
        self.unloaded = 0  # how often the coordinator says that it is not ready
        self.looks = 0
        self.after_looks: list[OpenTransaction] | None = None  # open after the first look
        topics = {"orders": [(0, [0], [0]), (0, [0], [0])]}
        self.cluster = ScriptedCluster(self._answer, topics=topics)

    def _answer(self, broker: int, message: Message) -> Message:
        match message:
            case FindCoordinatorRequest():
                assert message.key_type == 1
                return FindCoordinatorResponse(node_id=COORDINATOR)
            case ListTransactionsRequest():
                return self._list(broker, message)
            case DescribeTransactionsRequest():
                assert broker == COORDINATOR
                return self._describe(message)
        assert broker == 0
        return self._answer_as_leader(message)

    def _answer_as_leader(self, message: Message) -> Message:
        match message:
            case DescribeProducersRequest():
                return self._producers(message)
            case ListOffsetsRequest():
                return self._offsets(message)
            case FetchRequest():
                return _fetched(message)
            case WriteTxnMarkersRequest():
                return self._write_marker(message)
        raise AssertionError(message)

    def _list(self, broker: int, message: ListTransactionsRequest) -> ListTransactionsResponse:
        if broker == COORDINATOR and self.unloaded:
            self.unloaded -= 1
            return ListTransactionsResponse(
                error_code=ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
                unknown_state_filters=[],
                transaction_states=[],
            )
        listed = [
            Listed(
                transactional_id=each.transactional_id,
                producer_id=each.producer_id,
                transaction_state=each.state,
            )
            for each in self.known
            if broker == COORDINATOR
            and each.producer_id in (message.producer_id_filters or [each.producer_id])
            and each.state in (message.state_filters or [each.state])
        ]
        return ListTransactionsResponse(unknown_state_filters=[], transaction_states=listed)

    def _describe(self, message: DescribeTransactionsRequest) -> DescribeTransactionsResponse:
        by_id = {each.transactional_id: each for each in self.known}
        states = [_state(name, by_id.get(name)) for name in message.transactional_ids]
        return DescribeTransactionsResponse(transaction_states=states)

    def _producers(self, message: DescribeProducersRequest) -> DescribeProducersResponse:
        self.looks += 1
        if self.looks > 1 and self.after_looks is not None:
            self.opened = self.after_looks
        (topic,) = message.topics
        idle = ProducerState(producer_id=1, producer_epoch=0, coordinator_epoch=0)
        partitions = [
            PartitionResponse(
                partition_index=index,
                error_code=self.refuse,
                active_producers=[
                    idle,
                    *(_producer(each) for each in self.opened if each.partition[1] == index),
                ],
            )
            for index in topic.partition_indexes
        ]
        return DescribeProducersResponse(
            topics=[TopicResponse(name=topic.name, partitions=partitions)]
        )

    def _offsets(self, message: ListOffsetsRequest) -> ListOffsetsResponse:
        (topic,) = message.topics
        partitions = [
            ListOffsetsPartitionResponse(
                partition_index=each.partition_index,
                offset=self._stable(each.partition_index)
                if message.isolation_level
                else HIGH_WATERMARK,
            )
            for each in topic.partitions
        ]
        return ListOffsetsResponse(
            topics=[ListOffsetsTopicResponse(name=topic.name, partitions=partitions)]
        )

    def _stable(self, index: int) -> int:
        if self.stable_offset is not None:
            return self.stable_offset
        starts = [each.start_offset for each in self.opened if each.partition[1] == index]
        return min(starts, default=HIGH_WATERMARK)

    def _write_marker(self, message: WriteTxnMarkersRequest) -> WriteTxnMarkersResponse:
        (marker,) = message.markers
        (topic,) = marker.topics
        (index,) = topic.partition_indexes
        if not self.refuse:
            ended = (index, marker.producer_id)
            self.opened = [
                each for each in self.opened if (each.partition[1], each.producer_id) != ended
            ]
        partition = WritableTxnMarkerPartitionResult(partition_index=index, error_code=self.refuse)
        told = WritableTxnMarkerTopicResult(name=topic.name, partitions=[partition])
        result = WritableTxnMarkerResult(producer_id=marker.producer_id, topics=[told])
        return WriteTxnMarkersResponse(markers=[result])


def _state(name: str, told: KnownTransaction | None) -> TransactionState:
    if told is None:
        return TransactionState(
            error_code=ErrorCode.TRANSACTIONAL_ID_NOT_FOUND, transactional_id=name,
            transaction_state="", transaction_timeout_ms=0, transaction_start_time_ms=-1,
            producer_id=-1, producer_epoch=-1, topics=[],
        )  # fmt: skip
    topics: dict[str, list[int]] = {}
    for topic, index in told.partitions:
        topics.setdefault(topic, []).append(index)
    return TransactionState(
        transactional_id=name,
        transaction_state=told.state,
        transaction_timeout_ms=told.timeout_ms,
        transaction_start_time_ms=-1 if told.started_ms is None else told.started_ms,
        producer_id=told.producer_id,
        producer_epoch=told.producer_epoch,
        topics=[TopicData(topic=topic, partitions=held) for topic, held in topics.items()],
    )


def _producer(each: OpenTransaction) -> ProducerState:
    return ProducerState(
        producer_id=each.producer_id,
        producer_epoch=each.producer_epoch,
        last_timestamp=each.last_write_ms,
        coordinator_epoch=each.coordinator_epoch,
        current_txn_start_offset=each.start_offset,
    )


def _fetched(message: FetchRequest) -> FetchResponse:
    """Read uncommitted: what is asked for is not committed."""
    assert message.isolation_level == 0
    (topic,) = message.topics
    (wanted,) = topic.partitions
    offset = wanted.fetch_offset
    record = Record(offset=offset, timestamp=offset, key=None, value=b"v")
    data = PartitionData(
        partition_index=wanted.partition,
        high_watermark=HIGH_WATERMARK,
        records=build_batch([record]),
    )
    return FetchResponse(responses=[FetchableTopicResponse(topic=topic.topic, partitions=[data])])
