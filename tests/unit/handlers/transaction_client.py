"""A transactional producer in few words, and a broker that coordinates its transactions."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from ottla.protocol.apis.add_offsets_to_txn import AddOffsetsToTxnRequest, AddOffsetsToTxnResponse
from ottla.protocol.apis.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
)
from ottla.protocol.apis.describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    TransactionState,
)
from ottla.protocol.apis.end_txn import EndTxnRequest, EndTxnResponse
from ottla.protocol.apis.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from ottla.protocol.apis.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from ottla.protocol.apis.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
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
from ottla.protocol.records.record_set import read_batches
from ottla.simulation.disk import SimulatedDisk
from ottla.simulation.store import MemoryTree
from tests.unit.handlers.group_client import GROUP
from tests.unit.handlers.one_broker import NOW_MS, OneBroker, one_broker

SETTINGS = {
    "offsets.topic.num.partitions": "2",
    "transaction.state.log.num.partitions": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
}
READ_COMMITTED = 1
_TRANSACTION = 1
_LAST_BY_NAME = 12


@asynccontextmanager
async def transacting(
    *, disk: SimulatedDisk | None = None, tree: MemoryTree | None = None, **properties: str
) -> AsyncIterator[OneBroker]:
    """A broker with a topic "orders" of two partitions, and its coordinator ready."""
    named = {name.replace("_", "."): value for name, value in properties.items()}
    async with one_broker(SETTINGS | named, disk=disk, tree=tree) as broker:
        if "orders" not in broker.services.metadata.image.topics:
            await broker.create("orders", 2)
        await until_found(broker)
        yield broker


async def find(broker: OneBroker) -> FindCoordinatorResponse:
    request = FindCoordinatorRequest(key="x", key_type=_TRANSACTION)
    return await broker.ask(request, FindCoordinatorResponse, 3)


async def until_found(broker: OneBroker) -> None:
    """It is asked for, made, led and loaded."""
    for _ in range(1000):
        if (await find(broker)).error_code == ErrorCode.NONE:
            break
    unready = (ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
    await broker.until(lambda: broker.services.transactions.describe("x").error not in unready)


class Producer:
    """Who it is, and its records of "orders"."""

    def __init__(self, broker: OneBroker, name: str = "x") -> None:
        self.broker = broker
        self.name = name
        self.id = self.epoch = -1
        self._sequences = {0: 0, 1: 0}

    async def init(self, version: int = 4, *, timeout_ms: int = 60_000) -> ErrorCode:
        request = InitProducerIdRequest(
            transactional_id=self.name, transaction_timeout_ms=timeout_ms
        )
        answer = await self.broker.ask(request, InitProducerIdResponse, version)
        if answer.error_code == ErrorCode.NONE:
            self.id, self.epoch = answer.producer_id, answer.producer_epoch
            self._sequences = {0: 0, 1: 0}
        return ErrorCode(answer.error_code)

    async def add(
        self, *partitions: int, version: int = 3, topic: str = "orders"
    ) -> list[ErrorCode]:
        named = AddPartitionsToTxnTopic(name=topic, partitions=list(partitions or (0,)))
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=self.name,
            v3_and_below_producer_id=self.id,
            v3_and_below_producer_epoch=self.epoch,
            v3_and_below_topics=[named],
        )
        answer = await self.broker.ask(request, AddPartitionsToTxnResponse, version)
        [found] = answer.results_by_topic_v3_and_below
        return [ErrorCode(each.partition_error_code) for each in found.results_by_partition]

    async def send(self, *values: bytes, partition: int = 0, version: int = 11) -> ErrorCode:
        records = [Record(i, NOW_MS, None, value) for i, value in enumerate(values)]
        batch = build_batch(
            records,
            producer_id=self.id,
            producer_epoch=self.epoch,
            base_sequence=self._sequences[partition],
            is_transactional=True,
        )
        data = [PartitionProduceData(index=partition, records=batch)]
        request = ProduceRequest(
            transactional_id=self.name,
            acks=-1,
            timeout_ms=1000,
            topic_data=[TopicProduceData(name="orders", partition_data=data)],
        )
        answer = await self.broker.ask(request, ProduceResponse, version)
        error = ErrorCode(answer.responses[0].partition_responses[0].error_code)
        if error is ErrorCode.NONE:
            self._sequences[partition] += len(values)
        return error

    async def add_offsets(self, version: int = 3) -> ErrorCode:
        request = AddOffsetsToTxnRequest(
            transactional_id=self.name,
            producer_id=self.id,
            producer_epoch=self.epoch,
            group_id=GROUP,
        )
        answer = await self.broker.ask(request, AddOffsetsToTxnResponse, version)
        return ErrorCode(answer.error_code)

    async def commit_offset(self, offset: int) -> ErrorCode:
        part = TxnOffsetCommitRequestPartition(
            partition_index=0, committed_offset=offset, committed_metadata=""
        )
        request = TxnOffsetCommitRequest(
            transactional_id=self.name,
            group_id=GROUP,
            producer_id=self.id,
            producer_epoch=self.epoch,
            topics=[TxnOffsetCommitRequestTopic(name="orders", partitions=[part])],
        )
        answer = await self.broker.ask(request, TxnOffsetCommitResponse, 3)
        return ErrorCode(answer.topics[0].partitions[0].error_code)

    async def end(self, version: int = 3, *, commits: bool = True) -> ErrorCode:
        request = EndTxnRequest(
            transactional_id=self.name,
            producer_id=self.id,
            producer_epoch=self.epoch,
            committed=commits,
        )
        answer = await self.broker.ask(request, EndTxnResponse, version)
        return ErrorCode(answer.error_code)

    async def commit(self, *values: bytes) -> None:
        """A whole transaction."""
        none = ErrorCode.NONE
        assert await self.add() == [none]
        assert await self.send(*values) is none
        assert await self.end() is none
        await until_complete(self.broker, self.name)


async def producer_of(broker: OneBroker, name: str = "x") -> Producer:
    producer = Producer(broker, name)
    assert await producer.init() is ErrorCode.NONE
    return producer


async def described(broker: OneBroker, *names: str) -> list[TransactionState]:
    request = DescribeTransactionsRequest(transactional_ids=list(names))
    return (await broker.ask(request, DescribeTransactionsResponse)).transaction_states


async def until_complete(broker: OneBroker, name: str = "x") -> None:
    """Its markers are written."""
    transactions = broker.services.transactions
    await broker.until(lambda: transactions.describe(name).state.startswith("Complete"))


async def committed_values(broker: OneBroker, partition: int = 0) -> Sequence[bytes | None]:
    """Those of "orders" that a reader of committed records is given, as it would sort them out."""
    part = FetchPartition(partition=partition, fetch_offset=0, partition_max_bytes=1 << 20)
    request = FetchRequest(
        max_wait_ms=0,
        min_bytes=0,
        max_bytes=1 << 20,
        isolation_level=READ_COMMITTED,
        topics=[FetchTopic(topic="orders", partitions=[part])],
    )
    answer = await broker.ask(request, FetchResponse, _LAST_BY_NAME)
    [data] = answer.responses[0].partitions
    aborted = {each.producer_id: each.first_offset for each in data.aborted_transactions or ()}
    values: list[bytes | None] = []
    assert isinstance(data.records, bytes | memoryview)
    for batch in read_batches(data.records):
        assert batch.header is not None
        producer_id, offset = batch.header.producer_id, batch.base_offset
        is_aborted = offset >= aborted.get(producer_id, offset + 1)
        if not batch.is_control:
            values += [] if is_aborted else [record.value for record in batch.records()]
        elif is_aborted:
            del aborted[producer_id]
    return values
