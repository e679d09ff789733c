"""The first batch of a transaction in a partition is taken if its coordinator knows of it."""

from __future__ import annotations

import asyncio

import pytest

from ottla.handlers.produce_shortcut import ProduceShortcut
from ottla.protocol.apis.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from ottla.protocol.errors import ErrorCode
from ottla.protocol.records.control import ControlType
from ottla.protocol.schema import Message
from ottla.replication.partition import Partition
from tests.unit.handlers.one_broker import NOW_MS, OneBroker, one_broker
from tests.unit.handlers.verifying import Verifier
from tests.unit.storage.logs import batch, contents
from tests.virtual_time import on_virtual_time

E = ErrorCode
NONE = ErrorCode.NONE
NEWEST = 11
DISABLED = {"transaction.partition.verification.enable": "false"}


def records(
    sequence: int = 0, *, producer_id: int = 7, epoch: int = 0, transactional: bool = True
) -> bytes:
    return bytes(
        batch(
            b"%d" % sequence,
            producer_id=producer_id,
            producer_epoch=epoch,
            base_sequence=sequence,
            is_transactional=transactional,
        )
    )


def request(*data: bytes, name: str | None = "x", acks: int = -1) -> ProduceRequest:
    """One batch for each partition from 0 on."""
    partitions = [PartitionProduceData(index=i, records=each) for i, each in enumerate(data)]
    return ProduceRequest(
        transactional_id=name,
        acks=acks,
        timeout_ms=1_000,
        topic_data=[TopicProduceData(name="orders", partition_data=partitions)],
    )


def found(answer: Message) -> list[PartitionProduceResponse]:
    assert isinstance(answer, ProduceResponse)
    return answer.responses[0].partition_responses


async def produce(
    broker: OneBroker, *data: bytes, version: int = NEWEST, name: str | None = "x"
) -> list[ErrorCode]:
    answer = await broker.client.ask(request(*data, name=name), version)
    return [ErrorCode(each.error_code) for each in found(answer)]


def partition_of(broker: OneBroker, index: int = 0) -> Partition:
    return broker.services.replicas.partitions["orders", index]


def mark(broker: OneBroker, *, producer_id: int = 7, epoch: int = 0) -> None:
    partition_of(broker).append_marker(
        ControlType.ABORT,
        producer_id=producer_id,
        producer_epoch=epoch,
        coordinator_epoch=0,
        now_ms=NOW_MS,
    )
    broker.broker.tick.end()


@on_virtual_time
async def test_the_coordinator_is_asked_once_in_each_transaction_and_partition() -> None:
    async with one_broker() as broker:
        await broker.create("orders", 2)
        verifier = Verifier(broker)
        assert await produce(broker, records(0), records(0)) == [NONE, NONE]
        assert await produce(broker, records(1), records(1)) == [NONE, NONE]
        assert verifier.asked == [("x", 7, 0, [("orders", 0), ("orders", 1)])]
        mark(broker)
        assert await produce(broker, records(2), records(2)) == [NONE, NONE]
        assert verifier.asked[1:] == [("x", 7, 0, [("orders", 0)])]
        assert await produce(broker, records(0, producer_id=8)) == [NONE]
        assert len(verifier.asked) == 3


@on_virtual_time
async def test_what_is_not_transactional_is_nobody_s_business() -> None:
    async with one_broker() as broker:
        await broker.create("orders")
        verifier = Verifier(broker, E.NOT_COORDINATOR)
        assert await produce(broker, records(transactional=False)) == [NONE]
        assert await produce(broker, bytes(batch(b"plain"))) == [NONE]
        assert await produce(broker, bytes(batch(b"plain")), name=None) == [NONE]
        assert await produce(broker, records(), name=None) == [
            E.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
        ]
        assert verifier.asked == []


@pytest.mark.parametrize(
    ("code", "version", "heard"),
    [
        (E.TRANSACTION_ABORTABLE, 10, E.INVALID_TXN_STATE),
        (E.TRANSACTION_ABORTABLE, 11, E.TRANSACTION_ABORTABLE),
        (E.INVALID_TXN_STATE, 11, E.INVALID_TXN_STATE),
        (E.PRODUCER_FENCED, 11, E.INVALID_PRODUCER_EPOCH),
        (E.INVALID_PRODUCER_ID_MAPPING, 3, E.INVALID_PRODUCER_ID_MAPPING),
        (E.CONCURRENT_TRANSACTIONS, 11, E.NOT_ENOUGH_REPLICAS),
        (E.COORDINATOR_LOAD_IN_PROGRESS, 3, E.NOT_ENOUGH_REPLICAS),
        (E.COORDINATOR_NOT_AVAILABLE, 11, E.NOT_ENOUGH_REPLICAS),
        (E.NOT_COORDINATOR, 11, E.NOT_ENOUGH_REPLICAS),
        (E.NETWORK_EXCEPTION, 11, E.NOT_ENOUGH_REPLICAS),
    ],
)
@on_virtual_time
async def test_a_refusal_is_told_in_words_of_the_version(
    code: ErrorCode, version: int, heard: ErrorCode
) -> None:
    async with one_broker() as broker:
        await broker.create("orders")
        Verifier(broker, code)
        [answer] = found(await broker.client.ask(request(records()), version))
        assert answer.error_code == heard
        assert (answer.base_offset, answer.log_start_offset) == (-1, -1)
        assert partition_of(broker).local_log().next_offset == 0


@on_virtual_time
async def test_with_verification_turned_off_nobody_is_asked() -> None:
    async with one_broker(DISABLED) as broker:
        await broker.create("orders")
        verifier = Verifier(broker, E.TRANSACTION_ABORTABLE)
        assert await produce(broker, records()) == [NONE]
        assert verifier.asked == []


@on_virtual_time
async def test_two_producers_in_one_request_are_refused_both() -> None:
    async with one_broker() as broker:
        await broker.create("orders", 3)
        answers = await produce(broker, records(), records(producer_id=8), bytes(batch(b"plain")))
        assert answers == [E.INVALID_PRODUCER_ID_MAPPING] * 3


@on_virtual_time
async def test_only_what_can_be_appended_is_asked_for() -> None:
    async with one_broker() as broker:
        await broker.create("orders")
        verifier = Verifier(broker)
        assert await produce(broker, records(), records()) == [NONE, E.UNKNOWN_TOPIC_OR_PARTITION]
        assert verifier.asked == [("x", 7, 0, [("orders", 0)])]
        partition_of(broker).is_leader = False
        assert await produce(broker, records(0, producer_id=8)) == [E.NOT_LEADER_OR_FOLLOWER]
        assert len(verifier.asked) == 1
        partition_of(broker).is_leader = True
        assert await produce(broker, records()[:40]) == [E.INVALID_RECORD]
        assert len(verifier.asked) == 1


@on_virtual_time
async def test_while_another_broker_is_asked_all_later_requests_wait_their_turn() -> None:
    async with one_broker() as broker:
        await broker.create("orders")
        verifier = Verifier(broker)
        verifier.holds = True
        asked = [broker.client.ask(request(records(number))) for number in range(3)]
        asked.append(broker.client.ask(request(bytes(batch(b"plain")), name=None)))
        await asyncio.sleep(1)
        log = partition_of(broker).local_log()
        assert (len(verifier.asked), log.next_offset) == (1, 0)
        verifier.answer()
        answers = await asyncio.gather(*asked)
        assert [found(answer)[0].base_offset for answer in answers] == [0, 1, 2, 3]
        assert contents(log) == [(0, b"0"), (1, b"1"), (2, b"2"), (3, b"plain")]
        assert len(verifier.asked) == 1


@on_virtual_time
async def test_the_batch_is_kept_while_the_buffer_it_came_in_is_used_again() -> None:
    async with one_broker() as broker:
        await broker.create("orders")
        verifier = Verifier(broker)
        verifier.holds = True
        asked = broker.client.ask(request(records(0)))
        connection = broker.client.connection
        connection.view[:] = bytes(len(connection.view))
        verifier.answer()
        assert found(await asked)[0].error_code == NONE
        assert contents(partition_of(broker).local_log()) == [(0, b"0")]


@on_virtual_time
async def test_a_marker_meanwhile_voids_what_the_coordinator_said() -> None:
    async with one_broker() as broker:
        await broker.create("orders", 2)
        verifier = Verifier(broker)
        verifier.holds = True
        late = broker.client.ask(request(records(0), records(0)))
        mark(broker)
        verifier.answer()
        codes = [each.error_code for each in found(await late)]
        assert codes == [E.INVALID_TXN_STATE, NONE]
        assert partition_of(broker).local_log().last_stable_offset == 1
        verifier.holds = False
        assert await produce(broker, records(0)) == [NONE]


@on_virtual_time
async def test_two_connections_may_wait_for_one_transaction() -> None:
    async with one_broker() as broker:
        await broker.create("orders")
        verifier = Verifier(broker)
        verifier.holds = True
        other = type(broker.client)(broker.broker)
        asked = [broker.client.ask(request(records(0))), other.ask(request(records(1)))]
        verifier.answer()
        verifier.answer()
        answers = [found(each)[0] for each in await asyncio.gather(*asked)]
        assert [(each.error_code, each.base_offset) for each in answers] == [(NONE, 0), (NONE, 1)]


@on_virtual_time
async def test_what_follows_a_batch_that_was_not_verified_does_not_overtake_it() -> None:
    async with one_broker() as broker:
        await broker.create("orders")
        verifier = Verifier(broker, E.COORDINATOR_LOAD_IN_PROGRESS)
        assert await produce(broker, records(0)) == [E.NOT_ENOUGH_REPLICAS]
        verifier.code = NONE
        assert await produce(broker, records(1)) == [E.OUT_OF_ORDER_SEQUENCE_NUMBER]
        assert await produce(broker, records(0)) == [NONE]
        assert await produce(broker, records(1)) == [NONE]
        assert contents(partition_of(broker).local_log()) == [(0, b"0"), (1, b"1")]


@on_virtual_time
async def test_a_client_that_is_gone_has_its_batch_appended_all_the_same() -> None:
    async with one_broker() as broker:
        await broker.create("orders")
        verifier = Verifier(broker)
        verifier.holds = True
        broker.client.ask(request(records(0)))
        broker.client.connection.close()
        verifier.answer()
        await broker.until(lambda: partition_of(broker).local_log().next_offset == 1)


@on_virtual_time
async def test_within_a_transaction_the_short_way_is_taken_and_only_there() -> None:
    async with one_broker() as broker:
        await broker.create("orders")
        verifier = Verifier(broker)
        for number in range(3):
            assert await produce(broker, records(number)) == [NONE]
        shortcut = broker.client.connection.shortcut
        assert isinstance(shortcut, ProduceShortcut)
        mark(broker)
        verifier.code = E.TRANSACTION_ABORTABLE
        assert await produce(broker, records(3)) == [E.TRANSACTION_ABORTABLE]
        assert await produce(broker, records(3, epoch=1)) == [E.TRANSACTION_ABORTABLE]
        verifier.code = NONE
        assert await produce(broker, records(3)) == [NONE]
        assert await produce(broker, records(4)) == [NONE]
        assert broker.client.connection.shortcut is shortcut
        assert len(verifier.asked) == 4
        assert broker.services.requests.by_version[0, NEWEST] == 7


@pytest.mark.parametrize("version", [3, 5, 6, 7, 9, 10, 11])
@on_virtual_time
async def test_both_ways_answer_alike(version: int) -> None:
    async with one_broker() as broker:
        await broker.create("orders")
        Verifier(broker)
        broker.client.raw.clear()
        for number in range(3):
            assert await produce(broker, records(number), version=version) == [NONE]
        assert len({len(raw) for raw in broker.client.raw}) == 1
        used = isinstance(broker.client.connection.shortcut, ProduceShortcut)
        assert used == (version >= 5)


@on_virtual_time
async def test_nobody_hears_of_a_refusal_without_acks_but_by_the_closing() -> None:
    async with one_broker() as broker:
        await broker.create("orders")
        Verifier(broker, E.NOT_COORDINATOR)
        broker.client.ask(request(records(), acks=0))
        broker.broker.tick.end()
        assert broker.client.connection.is_closed
