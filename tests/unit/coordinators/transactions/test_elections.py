"""A partition of the transaction log is led here, is not, and is again: what was decided stays."""

from __future__ import annotations

import asyncio
import logging

import pytest

from ottla.coordinators.effects import Record
from ottla.coordinators.transactions.records import (
    TransactionValue,
    transaction_key,
    transaction_value,
)
from ottla.coordinators.transactions.requests import InitAnswer
from ottla.coordinators.transactions.state import TransactionState
from ottla.protocol.errors import ErrorCode
from tests.unit.coordinators.transactions.world import NONE, ORDERS, World
from tests.virtual_time import on_virtual_time

E = ErrorCode
SHOP = "shop"


@on_virtual_time
async def test_transactions_come_back_from_the_log() -> None:
    world = await World().start()
    who = await world.begun(SHOP)
    other = await world.begun("other")
    await world.init("empty")
    await world.end("other", other, commit=False)
    before = {name: world.coordinator.describe(name) for name in (SHOP, "other", "empty")}
    world.brokers.sent.clear()
    await world.reload()
    assert {name: world.coordinator.describe(name) for name in before} == before
    assert world.brokers.sent == []
    assert await world.end(SHOP, who, commit=True) is NONE
    assert world.coordinator.loads.loaded_count == 6


@on_virtual_time
async def test_a_transaction_begun_before_a_load_is_overdue_when_it_would_have_been() -> None:
    world = await World().start()
    await world.begun(SHOP)
    await world.wait(55_000)
    await world.reload()
    await world.wait(15_000)
    assert world.state_of(SHOP) == "CompleteAbort"


@pytest.mark.parametrize("commit", [True, False])
def test_markers_that_were_not_written_are_written_after_a_load_with_its_epoch(
    commit: bool,
) -> None:
    @on_virtual_time
    async def test() -> None:
        world = await World().start()
        who = await world.begun(SHOP)
        world.brokers.errors = {ORDERS[1]: E.NOT_ENOUGH_REPLICAS}
        await world.end(SHOP, who, commit=commit)
        world.brokers.errors = {}
        await world.reload()
        assert world.state_of(SHOP) == ("CompleteCommit" if commit else "CompleteAbort")
        [marker] = world.brokers.sent[-1][1]
        assert (marker.coordinator_epoch, marker.is_commit) == (2, commit)
        assert marker.partitions == ORDERS  # the log does not say which had theirs
        await world.wait(10_000)
        assert len(world.brokers.sent) == 2

    test()


@on_virtual_time
async def test_who_waits_hears_when_the_partition_is_led_elsewhere() -> None:
    world = await World().start()
    who = await world.begun(SHOP)
    number, log = world.coordinator.partition_for(SHOP), world.log_of(SHOP)
    log.commits_at_once = False
    ending = world.ask_end(SHOP, who, commit=True)
    await world.settle()
    assert ending == []
    world.coordinator.resigned(number, 2)
    assert ending == [E.NOT_COORDINATOR]
    log.commit()  # too late to tell anybody
    await world.settle()
    assert (len(ending), world.brokers.sent) == (1, [])
    # The log has it, nevertheless: whoever leads it next goes on.
    log.commits_at_once = True
    world.coordinator.elected(number, 3)
    await world.settle()
    assert world.state_of(SHOP) == "CompleteCommit"


@on_virtual_time
async def test_a_new_id_that_was_being_stored_hears_it_too() -> None:
    world = await World().start()
    world.log_of(SHOP).commits_at_once = False
    answers = world.ask_init(SHOP)
    await world.settle()
    world.coordinator.resigned(world.coordinator.partition_for(SHOP), None)
    assert answers == [InitAnswer(E.NOT_COORDINATOR)]


@on_virtual_time
async def test_what_comes_back_for_an_earlier_election_changes_nothing() -> None:
    world = await World().start()
    who = await world.begun(SHOP)
    world.brokers.answers_at_once = False
    await world.end(SHOP, who, commit=True)
    await world.reload()
    old, new = world.brokers.unanswered
    world.brokers.unanswered = []
    old()
    await world.settle()
    assert world.coordinator.describe(SHOP).partitions == ORDERS
    new()
    await world.settle()
    assert world.state_of(SHOP) == "CompleteCommit"
    old()
    await world.settle()
    assert [log.next_offset for log in world.logs if log.next_offset] == [4]


@on_virtual_time
async def test_nothing_is_asked_again_for_a_partition_that_is_led_elsewhere() -> None:
    world = await World().start()
    who = await world.begun(SHOP)
    world.brokers.error = E.NOT_ENOUGH_REPLICAS
    await world.end(SHOP, who, commit=True)
    world.coordinator.resigned(world.coordinator.partition_for(SHOP), 2)
    sent = len(world.brokers.sent)
    await world.wait(60_000)
    assert len(world.brokers.sent) == sent
    assert world.coordinator.unknown_destination_count == 0
    world.coordinator.shut_down()
    assert world.timer.size == 0


@on_virtual_time
async def test_a_completion_that_waits_for_its_log_is_not_stored_by_who_leads_no_more() -> None:
    world = await World().start()
    who = await world.begun(SHOP)
    world.brokers.answers_at_once = False
    await world.end(SHOP, who, commit=True)
    world.log_of(SHOP).refuses_with = E.NOT_ENOUGH_REPLICAS
    world.brokers.answer()
    await world.settle()
    world.coordinator.resigned(world.coordinator.partition_for(SHOP), 2)
    appends = len(world.log_of(SHOP).appends)
    await world.wait(60_000)
    assert len(world.log_of(SHOP).appends) == appends


@on_virtual_time
async def test_markers_of_a_round_in_which_the_partition_is_lost_are_harmless() -> None:
    world = await World().start()
    who = await world.begun(SHOP)
    log = world.log_of(SHOP)
    log.commits_at_once = False
    world.ask_end(SHOP, who, commit=True)
    await world.settle()
    log.commit()
    world.coordinator.resigned(world.coordinator.partition_for(SHOP), 2)
    await world.settle()
    assert log.next_offset == 3  # sent or not, nothing is complete here


@on_virtual_time
async def test_news_that_are_not_new_change_nothing() -> None:
    world = await World().start()
    await world.begun(SHOP)
    number = world.coordinator.partition_for(SHOP)
    world.coordinator.elected(number, world.epoch)
    world.coordinator.resigned(number, world.epoch)
    world.coordinator.resigned(number, world.epoch - 1)
    assert world.state_of(SHOP) == "Ongoing"


@on_virtual_time
async def test_a_load_that_ends_too_late_does_not_write_markers() -> None:
    world = await World().start()
    who = await world.begun(SHOP)
    world.brokers.error = E.NOT_ENOUGH_REPLICAS
    await world.end(SHOP, who, commit=True)
    number, log = world.coordinator.partition_for(SHOP), world.log_of(SHOP)
    log.holds_reads = True
    world.coordinator.elected(number, 5)
    await world.settle()
    world.coordinator.resigned(number, 6)
    sent = len(world.brokers.sent)
    for read in log.held_reads:
        read()
    await world.wait(5_000)
    assert len(world.brokers.sent) == sent


@on_virtual_time
async def test_what_cannot_be_read_is_passed_over(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.ERROR)
    world = await World().start()
    await world.begun(SHOP)
    log = world.log_of(SHOP)
    ids = [name for name in map(str, range(50)) if world.log_of(name) is log]
    dead = TransactionValue(5, 0, 1, TransactionState.DEAD, (), 1)
    unreadable = bytearray(transaction_value(dead))
    unreadable[16] = 77
    log.append(
        [
            Record(transaction_key(ids[0]), bytes(unreadable)),
            Record(transaction_key(ids[1]), transaction_value(dead)),
            Record(b"\0\7\0\1x", b"of a later kind"),
        ],
        lambda _: None,
        timeout_ms=1,
    )
    await world.reload()
    found = world.coordinator.list_transactions().transactions
    assert [each.transactional_id for each in found] == [SHOP]
    assert "77 is no state of a transaction" in caplog.text


@on_virtual_time
async def test_while_much_is_loaded_the_loop_goes_round() -> None:
    world = await World().start()
    number, log = world.coordinator.partition_for(SHOP), world.log_of(SHOP)
    value = transaction_value(TransactionValue(5, 0, 1, TransactionState.EMPTY, (), 1))
    records = [Record(transaction_key(f"id-{each}"), value) for each in range(3_000)]
    log.append(records, lambda _: None, timeout_ms=1)
    # Time passes with every look at it, as if each step took a millisecond.
    loop = asyncio.get_running_loop()
    now, turns = loop.time, 0

    def passing() -> float:
        loop.now += 0.001  # type: ignore[attr-defined]
        return now()

    loop.time = passing  # type: ignore[method-assign]
    world.coordinator.elected(number, 9)
    while world.coordinator.partitions.is_loading:
        turns += 1
        await asyncio.sleep(0)
    loop.time = now  # type: ignore[method-assign]
    assert turns > 5
    assert len(world.coordinator.list_transactions().transactions) == 3_000
