"""What the HTTP port and the metrics tell of open transactions, who wrote them and who waits."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from ottla.broker.idleness import Idleness
from ottla.broker.metering import gather
from ottla.broker.stalls import Stalls
from ottla.broker.transaction_routes import transaction_routes
from ottla.protocol.apis.fetch import FetchPartition, FetchRequest, FetchTopic
from ottla.protocol.records.control import ControlType
from ottla.protocol.schema import Message
from tests.unit.handlers.one_broker import NOW_MS, OneBroker, one_broker
from tests.unit.handlers.transaction_client import producer_of, transacting
from tests.unit.storage.logs import batch
from tests.virtual_time import on_virtual_time, virtual_loop

PRODUCER = 4001
MINUTE_MS = 60_000
VERSION = 12  # the last that names topics


def write(broker: OneBroker, *, producer_id: int = PRODUCER, timestamp: int = NOW_MS) -> None:
    partition = broker.services.replicas.partitions["orders", 0]
    partition.append(
        batch(
            b"a",
            b"b",
            timestamp=timestamp,
            producer_id=producer_id,
            producer_epoch=2,
            base_sequence=0,
            is_transactional=True,
        ),
        acks=1,
        now_ms=NOW_MS,
    )
    broker.broker.tick.end()


def end(broker: OneBroker) -> None:
    partition = broker.services.replicas.partitions["orders", 0]
    partition.local_log().append_marker(
        ControlType.ABORT,
        producer_id=PRODUCER,
        producer_epoch=2,
        coordinator_epoch=0,
        leader_epoch=partition.leader_epoch,
        now_ms=NOW_MS,
    )
    partition.write_later(0)
    broker.broker.tick.end()


def fetch(broker: OneBroker, *, offset: int, isolation_level: int) -> asyncio.Future[Message]:
    wanted = FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=10_000)
    request = FetchRequest(
        max_wait_ms=60_000,
        min_bytes=1,
        isolation_level=isolation_level,
        topics=[FetchTopic(topic="orders", partitions=[wanted])],
    )
    return broker.client.ask(request, VERSION)


def asked(broker: OneBroker, **parameters: str) -> tuple[int, Any]:
    route = transaction_routes(broker.broker)["/debug/transactions"]
    status, kind, body = route(parameters)
    assert isinstance(body, bytes)
    return status, json.loads(body) if kind == "application/json" else body.decode()


def partitions(broker: OneBroker, **parameters: str) -> list[Any]:
    found = asked(broker, **parameters)[1]["partitions"]
    assert isinstance(found, list)
    return found


def measured(broker: OneBroker) -> dict[str, str]:
    broker.broker.stalls = Stalls(virtual_loop())
    broker.broker.idleness = Idleness(virtual_loop(), lambda: 0)
    lines = gather(broker.broker).render().decode().splitlines()
    return {line.rpartition(" ")[0]: line.rpartition(" ")[2] for line in lines if line[0] != "#"}


@on_virtual_time
async def test_an_open_transaction_is_told_with_its_place_its_age_and_its_client() -> None:
    async with one_broker() as broker:
        await broker.create("orders")
        assert partitions(broker) == []
        broker.client.connection.client_id = "etl"
        broker.services.producer_clients.wrote(PRODUCER, broker.client.connection)
        write(broker, timestamp=NOW_MS - 90_000)
        write(broker, producer_id=7)
        [found] = partitions(broker)
        assert (found["topic"], found["partition"], found["log_end_offset"]) == ("orders", 0, 4)
        assert (found["last_stable_offset"], found["high_watermark"]) == (0, 4)
        first, second = found["transactions"]
        assert (first["producer_id"], first["producer_epoch"], first["start_offset"]) == (
            PRODUCER, 2, 0,
        )  # fmt: skip
        assert 89_000 <= first["open_ms"] < 91_000
        assert (first["client_id"], first["client_address"]) == ("etl", "test:1")
        assert not first["client_is_connected"]  # through no listener, at least
        assert (second["start_offset"], second["client_id"]) == (2, None)


@on_virtual_time
async def test_it_is_as_old_as_its_first_batch_and_gone_with_its_marker() -> None:
    async with one_broker() as broker:
        await broker.create("orders")
        write(broker, timestamp=NOW_MS - 90_000)
        [before] = partitions(broker)
        [again] = partitions(broker, topic="orders")
        assert again["transactions"][0]["began_ms"] == before["transactions"][0]["began_ms"]
        assert partitions(broker, topic="payments") == []
        end(broker)
        assert partitions(broker) == []


@on_virtual_time
async def test_only_fetches_that_would_find_more_without_it_wait_for_it() -> None:
    async with one_broker() as broker:
        await broker.create("orders")
        write(broker)
        answer = fetch(broker, offset=0, isolation_level=1)
        [found] = partitions(broker)
        assert found["waiting"] == [
            {"client_id": "test", "client_address": "test:1", "fetch_offset": 0}
        ]
        end(broker)
        await answer
        write(broker, producer_id=7)
        at_the_end = fetch(broker, offset=5, isolation_level=0)  # waits, but for no transaction
        [found] = partitions(broker)
        assert found["waiting"] == []
        write(broker, producer_id=8)
        await at_the_end


@on_virtual_time
async def test_a_parameter_that_is_unknown_is_refused_with_the_nearest() -> None:
    async with one_broker() as broker:
        status, text = asked(broker, topik="orders")
        assert (status, text) == (400, "parameter 'topik' is unknown; did you mean topic?\n")


@on_virtual_time
async def test_what_holds_readers_back_is_measured() -> None:
    lag = 'kafka_cluster_Partition_LastStableOffsetLag{partition="0",topic="orders"}'
    late = "kafka_server_ReplicaManager_PartitionsWithLateTransactionsCount"
    ours = "ottla_OpenTransactions_"
    async with one_broker({"transaction.max.timeout.ms": "60000"}) as broker:
        await broker.create("orders")
        before = measured(broker)
        assert lag not in before
        assert (before[f"{ours}Count"], before[f"{ours}OldestMs"], before[late]) == (
            "0.0", "0.0", "0.0",
        )  # fmt: skip
        write(broker)
        answer = fetch(broker, offset=0, isolation_level=1)
        found = measured(broker)
        assert (found[lag], found[f"{ours}Count"], found[late]) == ("2.0", "1.0", "0.0")
        assert found[f"{ours}WaitingFetches"] == "1.0"
        await asyncio.sleep(7 * 60)
        await answer
        found = measured(broker)
        assert found[late] == "1.0"
        assert float(found[f"{ours}OldestMs"]) > 6 * MINUTE_MS


@on_virtual_time
async def test_whoever_began_it_over_the_wire_is_named() -> None:
    async with transacting() as broker:
        producer = await producer_of(broker)
        await producer.add()
        await producer.send(b"a")
        [found] = partitions(broker)
        [opened] = found["transactions"]
        assert (opened["client_id"], opened["client_address"]) == ("test", "test:1")
        assert (opened["transactional_id"], opened["state"]) == ("x", "Ongoing")
