"""Producers before their coordinator: who is turned away, who waits, and what tools are told."""

from __future__ import annotations

import pytest

from ottla.coordinators.transactions.requests import (
    DescribedTransaction,
    InitAnswer,
    ListedTransaction,
    ListedTransactions,
    ProducerIdentity,
)
from ottla.protocol.errors import ErrorCode
from tests.unit.coordinators.transactions.world import NONE, ORDERS, TIMEOUT_MS, World
from tests.virtual_time import on_virtual_time

E = ErrorCode
SHOP = "shop"
SOMEBODY = InitAnswer(NONE, 5, 0)


def elsewhere(world: World) -> str:
    """An id whose partition is led by another broker."""
    names = (f"id-{number}" for number in range(100))
    return next(name for name in names if world.coordinator.partition_for(name) == 3)


async def answers_of_all(world: World, transactional_id: str) -> dict[str, ErrorCode]:
    """What every request hears that names this id."""
    [verified] = world.verify(transactional_id, SOMEBODY, ("orders", 0)).values()
    [added] = world.ask_add(transactional_id, SOMEBODY)
    return {
        "init": (await world.init(transactional_id)).error,
        "add": added,
        "verify": verified,
        "end": await world.end(transactional_id, SOMEBODY, commit=True),
        "describe": world.coordinator.describe(transactional_id).error,
    }


@on_virtual_time
async def test_who_asks_the_wrong_broker_hears_so() -> None:
    world = await World().start()
    answers = await answers_of_all(world, elsewhere(world))
    assert set(answers.values()) == {E.NOT_COORDINATOR}


@on_virtual_time
async def test_before_it_starts_and_after_it_stops_there_is_no_coordinator() -> None:
    world = World()
    for _ in range(2):
        answers = await answers_of_all(world, SHOP)
        assert set(answers.values()) == {E.COORDINATOR_NOT_AVAILABLE}
        not_available = ListedTransactions(E.COORDINATOR_NOT_AVAILABLE)
        assert world.coordinator.list_transactions() == not_available
        await world.start()
        world.coordinator.shut_down()
    assert world.timer.size == 0


@on_virtual_time
async def test_while_it_loads_everybody_waits() -> None:
    world = World()
    for log in world.logs:
        log.holds_reads = True
    await world.start()
    answers = await answers_of_all(world, SHOP)
    assert set(answers.values()) == {E.COORDINATOR_LOAD_IN_PROGRESS}
    assert world.coordinator.list_transactions().error is E.COORDINATOR_LOAD_IN_PROGRESS


@on_virtual_time
async def test_without_a_transactional_id_there_is_no_transaction() -> None:
    world = await World().start()
    answers = await answers_of_all(world, "")
    assert set(answers.values()) == {E.INVALID_REQUEST}


@on_virtual_time
async def test_an_id_that_nobody_initialized_has_no_producer() -> None:
    world = await World().start()
    answers = await answers_of_all(world, SHOP)
    assert answers == {
        "init": NONE,
        "add": E.INVALID_PRODUCER_ID_MAPPING,
        "verify": E.INVALID_PRODUCER_ID_MAPPING,
        "end": E.INVALID_PRODUCER_ID_MAPPING,
        "describe": NONE,
    }
    assert world.coordinator.describe("other").error is E.TRANSACTIONAL_ID_NOT_FOUND


@pytest.mark.parametrize("timeout_ms", [-1, 0, 900_001])
def test_a_timeout_that_is_too_long_or_none_is_refused(timeout_ms: int) -> None:
    @on_virtual_time
    async def test() -> None:
        world = await World().start()
        answer = await world.init(SHOP, timeout_ms=timeout_ms)
        assert answer == InitAnswer(E.INVALID_TRANSACTION_TIMEOUT)
        assert (await world.init(SHOP, timeout_ms=900_000)).error is NONE

    test()


@on_virtual_time
async def test_each_id_gets_a_producer_id_of_its_own_and_keeps_it() -> None:
    world = await World().start()
    assert await world.init(SHOP) == (NONE, 1000, 0)
    assert await world.init("till") == (NONE, 1001, 0)
    assert await world.init(SHOP) == (NONE, 1000, 1)
    assert await world.init(SHOP, expected=ProducerIdentity(1000, 1)) == (NONE, 1000, 2)


@on_virtual_time
async def test_without_producer_ids_nobody_new_is_initialized() -> None:
    world = await World().start()
    world.ids.error = E.COORDINATOR_LOAD_IN_PROGRESS
    assert await world.init(SHOP) == InitAnswer(E.COORDINATOR_LOAD_IN_PROGRESS)
    assert world.coordinator.describe(SHOP).error is E.TRANSACTIONAL_ID_NOT_FOUND


@on_virtual_time
async def test_two_who_wait_for_a_producer_id_get_one_after_the_other() -> None:
    world = await World().start()
    world.ids.answers_at_once = False
    first, second = world.ask_init(SHOP), world.ask_init(SHOP)
    world.ids.answer()
    await world.settle()
    assert first == [(NONE, 1000, 0)]
    assert second == [InitAnswer(E.CONCURRENT_TRANSACTIONS)]
    assert await world.init(SHOP) == (NONE, 1000, 1)


@on_virtual_time
async def test_who_waits_for_a_producer_id_hears_when_the_coordinator_has_moved() -> None:
    world = await World().start()
    world.ids.answers_at_once = False
    answers = world.ask_init(SHOP)
    world.coordinator.resigned(world.coordinator.partition_for(SHOP), 2)
    world.ids.answer()
    assert answers == [InitAnswer(E.NOT_COORDINATOR)]


@on_virtual_time
async def test_an_id_without_epochs_gets_a_new_producer_id() -> None:
    world = await World().start()
    who = await world.init(SHOP)
    [(_, transaction)] = world.coordinator.partitions.hosted()
    transaction.epoch = 32766
    expected = ProducerIdentity(who.producer_id, 32766)
    assert await world.init(SHOP, expected=expected) == (NONE, 1001, 0)
    assert await world.init(SHOP, expected=expected) == (NONE, 1001, 0)
    assert await world.init(SHOP) == (NONE, 1001, 1)
    assert world.ids.next_id == 1002


@on_virtual_time
async def test_a_transaction_from_its_beginning_to_its_end() -> None:
    world = await World().start()
    who = await world.begun(SHOP)
    assert world.verify(SHOP, who, ORDERS[0], ("orders", 9)) == {
        ORDERS[0]: NONE,
        ("orders", 9): E.TRANSACTION_ABORTABLE,
    }
    world.brokers.answers_at_once = False
    assert await world.end(SHOP, who, commit=True) is NONE
    assert world.state_of(SHOP) == "PrepareCommit"
    world.brokers.answer()
    await world.settle()
    assert world.state_of(SHOP) == "CompleteCommit"
    assert await world.end(SHOP, who, commit=True) is NONE
    assert await world.end(SHOP, who, commit=False) is E.INVALID_TXN_STATE
    assert len(world.log_of(SHOP).appends) == 4


@on_virtual_time
async def test_all_that_is_stored_in_one_round_is_one_batch() -> None:
    world = await World().start()
    number = world.coordinator.partition_for(SHOP)
    names = [f"id-{each}" for each in range(100)]
    same = [name for name in names if world.coordinator.partition_for(name) == number]
    asked = [world.ask_init(name) for name in same]
    await world.settle()
    assert len(same) > 10
    assert [answer.error for [answer] in asked] == [NONE] * len(same)
    assert len(world.logs[number].appends) == 1


@on_virtual_time
async def test_a_transaction_is_described_with_the_partitions_that_lack_their_marker() -> None:
    world = await World().start()
    who = await world.begun(SHOP)
    began_ms = world.clock.now_ms()
    described = DescribedTransaction(
        NONE, "Ongoing", TIMEOUT_MS, began_ms, who.producer_id, 0, ORDERS
    )
    assert world.coordinator.describe(SHOP) == described
    world.brokers.errors = {ORDERS[1]: E.NOT_ENOUGH_REPLICAS}
    await world.end(SHOP, who, commit=False)
    expected = described._replace(state="PrepareAbort", partitions=ORDERS[1:2])
    assert world.coordinator.describe(SHOP) == expected


@on_virtual_time
async def test_transactions_are_listed_by_state_producer_and_age() -> None:
    world = await World().start()
    first, second = await world.begun("first"), await world.begun("second")
    await world.init("till")
    await world.end("second", second, commit=True)
    listed = {
        "first": ListedTransaction("first", first.producer_id, "Ongoing"),
        "second": ListedTransaction("second", second.producer_id, "CompleteCommit"),
        "till": ListedTransaction("till", 1002, "Empty"),
    }

    def names(**filters: object) -> set[str]:
        found = world.coordinator.list_transactions(**filters)  # type: ignore[arg-type]
        assert found.error is NONE
        assert all(each == listed[each.transactional_id] for each in found.transactions)
        return {each.transactional_id for each in found.transactions}

    assert names() == set(listed)
    assert names(states=["Ongoing", "CompleteCommit"]) == {"first", "second"}
    assert names(states=["Dead"]) == set()
    assert names(producer_ids=[first.producer_id, 5]) == {"first"}
    assert names(states=["Empty"], producer_ids=[first.producer_id]) == set()
    await world.wait(1_000)
    assert names(min_duration_ms=1_000) == {"till"}  # which has not begun: since ever, in Kafka
    await world.wait(1)
    assert names(min_duration_ms=1_000, states=["Ongoing"]) == {"first"}


@on_virtual_time
async def test_filters_that_name_no_state_are_told_and_match_nothing() -> None:
    world = await World().start()
    await world.init(SHOP)
    found = world.coordinator.list_transactions(["Nonsense", "empty"])
    assert found == ListedTransactions(NONE, ("Nonsense", "empty"), ())


@on_virtual_time
async def test_an_overdue_transaction_is_aborted_at_the_next_look() -> None:
    world = await World().start()
    who = await world.begun(SHOP)
    await world.wait(60_000)
    assert world.state_of(SHOP) == "Ongoing"
    await world.wait(10_000)
    assert world.state_of(SHOP) == "CompleteAbort"
    [(_, [marker])] = world.brokers.sent
    assert (marker.is_commit, marker.producer_epoch) == (False, 1)
    assert await world.end(SHOP, who, commit=True) is E.PRODUCER_FENCED
    assert world.coordinator.timed_out_count == 1
    await world.wait(60_000)
    assert world.coordinator.timed_out_count == 1


@on_virtual_time
async def test_an_abort_that_the_log_refuses_comes_again_at_the_next_look() -> None:
    world = await World().start()
    await world.begun(SHOP)
    world.log_of(SHOP).refuses_with = E.NOT_ENOUGH_REPLICAS
    await world.wait(90_000)
    assert world.state_of(SHOP) == "Ongoing"
    assert world.coordinator.timed_out_count == 0
    world.log_of(SHOP).refuses_with = None
    await world.wait(10_000)
    assert world.state_of(SHOP) == "CompleteAbort"
    assert world.coordinator.describe(SHOP).producer_epoch == 1


@on_virtual_time
async def test_an_id_that_is_not_used_any_more_is_forgotten() -> None:
    world = await World(id_expiration_ms=2 * 3_600_000).start()
    await world.init(SHOP)
    await world.begun("busy", ())
    await world.wait(3_600_000)
    used = await world.init("used")
    await world.wait(3_600_000 + 100)
    assert world.coordinator.describe(SHOP).error is E.TRANSACTIONAL_ID_NOT_FOUND
    assert world.coordinator.expired_count == 1
    [tombstone] = world.log_of(SHOP).appends[-1]
    assert tombstone.value is None
    assert world.state_of("used") == "Empty"
    assert await world.init(SHOP, expected=ProducerIdentity(1000, 0)) == (NONE, 1003, 0)
    assert used.error is NONE


@on_virtual_time
async def test_a_forgotten_id_is_not_loaded_again() -> None:
    world = await World(id_expiration_ms=3_600_000).start()
    await world.init(SHOP)
    await world.wait(2 * 3_600_000)
    await world.reload()
    assert world.coordinator.list_transactions().transactions == ()
