"""Transactions over the wire: what readers see, who is fenced, what outlives the broker."""

from __future__ import annotations

import asyncio

import pytest

from ottla.broker.transaction_metering import measure_transactions
from ottla.metrics import Metrics
from ottla.protocol.apis.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from ottla.protocol.apis.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse
from ottla.protocol.apis.list_transactions import ListTransactionsRequest, ListTransactionsResponse
from ottla.protocol.errors import ErrorCode
from ottla.protocol.internal.topics import GROUP_METADATA_TOPIC, TRANSACTION_STATE_TOPIC
from ottla.simulation.store import MemoryTree
from tests.unit.handlers.group_client import committed
from tests.unit.handlers.group_client import until_found as until_group_found
from tests.unit.handlers.one_broker import NOW_MS, OneBroker, lead, one_broker
from tests.unit.handlers.transaction_client import (
    SETTINGS,
    Producer,
    committed_values,
    described,
    find,
    producer_of,
    transacting,
    until_complete,
    until_found,
)
from tests.virtual_time import on_virtual_time

NONE = ErrorCode.NONE
FENCED, OLD_EPOCH = ErrorCode.PRODUCER_FENCED, ErrorCode.INVALID_PRODUCER_EPOCH
CONCURRENT = ErrorCode.CONCURRENT_TRANSACTIONS


@on_virtual_time
async def test_the_first_who_asks_has_the_log_of_transactions_created() -> None:
    async with one_broker(SETTINGS | {"transaction.state.log.num.partitions": "50"}) as broker:
        assert (await find(broker)).error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
        await until_found(broker)
        found = await find(broker)
        assert (found.error_code, found.node_id, found.host) == (NONE, 1, "127.0.0.1")
        topic = broker.services.metadata.image.topics[TRANSACTION_STATE_TOPIC]
        assert len(topic.partitions) == 50
        log = broker.services.replicas.get(TRANSACTION_STATE_TOPIC, 7).local_log()
        assert (log.config.compacts, log.config.deletes) == (True, False)


@on_virtual_time
async def test_what_a_transaction_wrote_is_read_once_it_is_committed() -> None:
    async with transacting() as broker:
        producer = await producer_of(broker)
        assert (producer.id, producer.epoch) == (0, 0)
        assert await producer.add(0, 1) == [NONE, NONE]
        assert await producer.send(b"a", b"b") is NONE
        assert await producer.send(b"c", partition=1) is NONE
        assert await committed_values(broker) == []
        assert await producer.end() is NONE
        await until_complete(broker)
        assert await committed_values(broker) == [b"a", b"b"]
        assert await committed_values(broker, partition=1) == [b"c"]


@on_virtual_time
async def test_what_was_aborted_is_never_read() -> None:
    async with transacting() as broker:
        producer = await producer_of(broker)
        await producer.commit(b"a")
        assert await producer.add() == [NONE]
        assert await producer.send(b"b") is NONE
        assert await producer.end(commits=False) is NONE
        await until_complete(broker)
        await producer.commit(b"c")
        assert await committed_values(broker) == [b"a", b"c"]


@on_virtual_time
async def test_a_partition_that_is_not_in_the_transaction_takes_nothing_of_it() -> None:
    async with transacting() as broker:
        producer = await producer_of(broker)
        assert await producer.send(b"a", version=11) is ErrorCode.TRANSACTION_ABORTABLE
        assert await producer.send(b"a", version=10) is ErrorCode.INVALID_TXN_STATE
        await producer.commit(b"b")
        assert await committed_values(broker) == [b"b"]


@on_virtual_time
async def test_offsets_count_from_when_their_transaction_is_committed() -> None:
    async with transacting() as broker:
        await until_group_found(broker)
        producer = await producer_of(broker)
        assert await producer.add_offsets() is NONE
        assert await producer.commit_offset(7) is NONE
        assert await committed(broker) == (-1, NONE)
        assert await producer.end() is NONE
        await until_complete(broker)
        assert await committed(broker) == (7, NONE)
        assert await producer.add_offsets() is NONE
        assert await producer.commit_offset(8) is NONE
        assert await producer.end(commits=False) is NONE
        await until_complete(broker)
        assert await committed(broker) == (7, NONE)


@pytest.mark.parametrize(("version", "told"), [(0, OLD_EPOCH), (1, OLD_EPOCH), (2, FENCED)])
@on_virtual_time
async def test_a_zombie_hears_that_it_is_fenced_in_a_code_it_knows(
    version: int, told: ErrorCode
) -> None:
    async with transacting() as broker:
        zombie = await producer_of(broker)
        assert await zombie.add() == [NONE]
        successor = Producer(broker)
        assert await successor.init() is CONCURRENT  # the transaction is aborted first
        await until_complete(broker)
        assert await successor.init() is NONE
        assert (successor.id, successor.epoch) == (zombie.id, 2)
        assert await zombie.add(version=version) == [told]
        assert await zombie.add_offsets(version) is told
        assert await zombie.end(version) is told
        await successor.commit(b"a")
        assert await zombie.send(b"b") is OLD_EPOCH
        assert await committed_values(broker) == [b"a"]


@on_virtual_time
async def test_partitions_are_added_all_or_none() -> None:
    async with transacting() as broker:
        producer = await producer_of(broker)
        unknown, others = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.OPERATION_NOT_ATTEMPTED
        assert await producer.add(0, 9, 1) == [others, unknown, others]
        [found] = await described(broker, "x")
        assert (found.transaction_state, found.topics) == ("Empty", [])


@on_virtual_time
async def test_clients_add_no_partition_of_the_brokers_own_topics() -> None:
    async with transacting() as broker:
        await until_group_found(broker)
        producer = await producer_of(broker)
        refused = await producer.add(topic=GROUP_METADATA_TOPIC)
        assert refused == [ErrorCode.TOPIC_AUTHORIZATION_FAILED]


def asked(
    producer: Producer, *partitions: int, verify_only: bool = False
) -> AddPartitionsToTxnTransaction:
    return AddPartitionsToTxnTransaction(
        transactional_id=producer.name,
        producer_id=producer.id,
        producer_epoch=producer.epoch,
        verify_only=verify_only,
        topics=[AddPartitionsToTxnTopic(name="orders", partitions=list(partitions))],
    )


async def add_many(
    broker: OneBroker, *transactions: AddPartitionsToTxnTransaction
) -> list[list[int]]:
    request = AddPartitionsToTxnRequest(transactions=list(transactions))
    answer = await broker.ask(request, AddPartitionsToTxnResponse)
    return [
        [each.partition_error_code for topic in result.topic_results
         for each in topic.results_by_partition]
        for result in answer.results_by_transaction
    ]  # fmt: skip


@on_virtual_time
async def test_brokers_ask_for_several_transactions_at_once() -> None:
    async with transacting() as broker:
        one, two = await producer_of(broker, "one"), await producer_of(broker, "two")
        nobody = Producer(broker, "nobody")
        found = await add_many(broker, asked(one, 0, 1), asked(nobody, 0), asked(two, 1))
        assert found == [[NONE, NONE], [ErrorCode.INVALID_PRODUCER_ID_MAPPING], [NONE]]
        outside = ErrorCode.TRANSACTION_ABORTABLE
        found = await add_many(broker, asked(two, 0, 1, verify_only=True), asked(one, 0))
        assert found == [[outside, NONE], [NONE]]
        assert await add_many(broker) == []


@on_virtual_time
async def test_transactions_are_described() -> None:
    async with transacting() as broker:
        producer = await producer_of(broker)
        await producer.add(1, 0)
        found, unknown, empty = await described(broker, "x", "nobody", "")
        assert (found.error_code, found.transaction_state) == (NONE, "Ongoing")
        assert (found.producer_id, found.producer_epoch) == (producer.id, 0)
        assert (found.transaction_timeout_ms, found.transaction_start_time_ms >= NOW_MS) == (
            60_000, True,
        )  # fmt: skip
        assert [(each.topic, each.partitions) for each in found.topics] == [("orders", [1, 0])]
        assert unknown.error_code == ErrorCode.TRANSACTIONAL_ID_NOT_FOUND
        assert empty.error_code == ErrorCode.INVALID_REQUEST


@on_virtual_time
async def test_transactions_are_listed_by_state_producer_and_age() -> None:
    async with transacting() as broker:
        ongoing = await producer_of(broker, "ongoing")
        await ongoing.add()
        empty = await producer_of(broker, "empty")

        async def listed(**filters: object) -> tuple[list[str], list[str]]:
            named = {"state_filters": [], "producer_id_filters": []} | filters
            request = ListTransactionsRequest(**named)  # type: ignore[arg-type]
            answer = await broker.ask(request, ListTransactionsResponse)
            names = sorted(each.transactional_id for each in answer.transaction_states)
            return names, answer.unknown_state_filters

        assert await listed() == (["empty", "ongoing"], [])
        assert await listed(state_filters=["Ongoing", "Odd"]) == (["ongoing"], ["Odd"])
        assert await listed(producer_id_filters=[empty.id]) == (["empty"], [])
        await asyncio.sleep(10)
        # What has never begun is as old as it likes, as in Kafka.
        assert await listed(duration_filter=9_000) == (["empty", "ongoing"], [])
        assert await listed(duration_filter=11_000) == (["empty"], [])


@on_virtual_time
async def test_a_transaction_that_takes_too_long_is_aborted() -> None:
    async with transacting() as broker:
        producer = Producer(broker)
        assert await producer.init(timeout_ms=1_000) is NONE
        await producer.add()
        await producer.send(b"a")
        await until_complete(broker)
        assert await producer.end() is FENCED
        assert await producer.send(b"b") is OLD_EPOCH
        assert await committed_values(broker) == []


@on_virtual_time
async def test_transactions_outlive_the_broker() -> None:
    tree = MemoryTree()
    async with transacting(tree=tree) as broker:
        done, open_ = await producer_of(broker, "done"), await producer_of(broker, "open")
        await done.commit(b"a")
        await open_.add(1)
        assert await open_.send(b"b", partition=1) is NONE
        disk = broker.disk
    async with transacting(disk=disk, tree=tree) as broker:
        states = [each.transaction_state for each in await described(broker, "done", "open")]
        assert states == ["CompleteCommit", "Ongoing"]
        done.broker = open_.broker = broker
        assert await open_.end() is NONE
        await until_complete(broker, "open")
        await done.commit(b"c")
        assert await committed_values(broker) == [b"a", b"c"]
        assert await committed_values(broker, partition=1) == [b"b"]


@on_virtual_time
async def test_who_leads_no_more_coordinates_no_more_until_it_leads_again() -> None:
    async with transacting() as broker:
        producer = await producer_of(broker)
        await lead(broker, TRANSACTION_STATE_TOPIC, leader=2, epoch=5)
        assert await producer.add() == [ErrorCode.NOT_COORDINATOR]
        assert await producer.init() is ErrorCode.NOT_COORDINATOR
        assert (await described(broker, "x"))[0].error_code == ErrorCode.NOT_COORDINATOR
        await lead(broker, TRANSACTION_STATE_TOPIC, leader=1, epoch=6)
        await until_found(broker)
        await producer.commit(b"a")
        assert await committed_values(broker) == [b"a"]


@on_virtual_time
async def test_the_end_of_a_transaction_does_not_wait_for_a_topic_that_is_deleted() -> None:
    async with transacting() as broker:
        await broker.create("gone")
        producer = await producer_of(broker)
        assert await producer.add() == [NONE]
        assert await producer.add(topic="gone") == [NONE]
        request = DeleteTopicsRequest(topic_names=["gone"], timeout_ms=10_000)
        assert (await broker.ask(request, DeleteTopicsResponse, 5)).responses[0].error_code == NONE
        await broker.settled()
        assert await producer.send(b"a") is NONE
        assert await producer.end() is NONE
        await until_complete(broker)
        assert await committed_values(broker) == [b"a"]


@on_virtual_time
async def test_transactions_are_measured_under_kafkas_names() -> None:
    async with transacting() as broker:
        metrics = Metrics()
        measure_transactions(metrics, broker.services.transactions)
        lines = metrics.render().decode().splitlines()
        shown = dict(line.split() for line in lines if line[0] != "#")
        markers = "kafka_coordinator_transaction_TransactionMarkerChannelManager_"
        assert shown[f"{markers}UnknownDestinationQueueSize"] == "0.0"
        assert shown[f"{markers}LogAppendRetryQueueSize"] == "0.0"
        loads = "kafka_server_transaction_coordinator_metrics_partition_load_time_"
        assert float(shown[f"{loads}max"]) >= float(shown[f"{loads}avg"]) >= 0


@on_virtual_time
async def test_producer_ids_are_waited_for_where_a_block_is_used_up() -> None:
    async with transacting() as broker:
        first = await producer_of(broker, "first")
        while broker.broker.producer_ids.take() is not None:
            pass
        second = await producer_of(broker, "second")
        assert second.id > first.id + 100
