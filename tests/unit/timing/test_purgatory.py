"""Waiting in a purgatory: completed once, by an event or by the deadline, and then forgotten."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.timing.purgatory import Delayed, Purgatory
from ottla.timing.timer import Timer
from tests.virtual_time import on_virtual_time, virtual_loop


class Waiting:
    """Completes when its condition holds; notes each answer and what it answered."""

    def __init__(
        self, condition: Callable[[], bool] = lambda: False, *, then: Callable[[], object] = int
    ) -> None:
        self.condition = condition
        self.then = then
        self.completed = False
        self.answers: list[str] = []

    def try_complete(self) -> bool:
        if not self.completed and self.condition():
            self._answer("done")
            self.then()
        return self.completed

    def expire(self) -> None:
        self._answer("expired")
        self.then()

    def _answer(self, word: str) -> None:
        assert not self.completed
        self.completed = True
        self.answers.append(word)


class Flag:
    """A condition that a test can turn on."""

    def __init__(self) -> None:
        self.is_up = False

    def __call__(self) -> bool:
        return self.is_up


def any_up(flags: list[Flag]) -> bool:
    return any(flag.is_up for flag in flags)


def purgatory(*, purge_interval: int = 1000) -> Purgatory:
    return Purgatory("Fetch", Timer(virtual_loop()), purge_interval=purge_interval)


@on_virtual_time
async def test_what_can_be_answered_is_not_parked() -> None:
    fetches, fetch = purgatory(), Waiting(lambda: True)
    assert fetches.park(fetch, watch=["a"], timeout_ms=500)
    assert (fetches.watched, fetches.delayed) == (0, 0)
    await asyncio.sleep(1)
    assert fetch.answers == ["done"]


@on_virtual_time
async def test_an_event_answers_those_who_wait_for_it_and_the_deadline_is_off() -> None:
    fetches, has_data = purgatory(), Flag()
    first, second, other = Waiting(has_data), Waiting(), Waiting(has_data)
    for fetch, key in ((first, "a"), (second, "a"), (other, "b")):
        assert not fetches.park(fetch, watch=[key], timeout_ms=500)
    has_data.is_up = True
    assert fetches.recheck("a") == 1
    assert (fetches.watched, fetches.delayed) == (2, 2)
    assert fetches.recheck("nobody waits for this") == 0
    await asyncio.sleep(1)
    assert [fetch.answers for fetch in (first, second, other)] == [["done"], *[["expired"]] * 2]


@pytest.mark.parametrize("timeout_ms", [500, 30_000, 10_000, 300_000, 1, 0, -1])
@on_virtual_time
async def test_the_deadline_comes_on_its_millisecond(timeout_ms: int) -> None:
    fetches, answered = purgatory(), asyncio.Event()
    fetch = Waiting(then=answered.set)
    assert not fetches.park(fetch, watch=["a", "b"], timeout_ms=timeout_ms)
    await answered.wait()
    assert virtual_loop().time() * 1000 == max(0, timeout_ms)
    assert fetch.answers == ["expired"]
    assert fetches.delayed == 0


@on_virtual_time
async def test_an_event_in_the_millisecond_of_the_deadline_answers_once() -> None:
    fetches, timer = purgatory(), Timer(virtual_loop())
    before, after = Waiting(lambda: timer.now_ms() >= 500), Waiting(lambda: timer.now_ms() >= 500)
    timer.call_after(500, lambda: fetches.recheck("before"))
    fetches.park(before, watch=["before"], timeout_ms=500)
    fetches.park(after, watch=["after"], timeout_ms=500)
    await asyncio.sleep(0.5)
    fetches.recheck("after")
    assert [before.answers, after.answers] == [["done"], ["expired"]]


@on_virtual_time
async def test_what_was_answered_elsewhere_is_neither_counted_nor_expired() -> None:
    fetches, fetch, late = purgatory(), Waiting(), Waiting()
    fetches.park(fetch, watch=["a"], timeout_ms=500)
    fetches.park(late, watch=["b"], timeout_ms=500)
    fetch.completed = late.completed = True
    assert fetches.recheck("a") == 0
    await asyncio.sleep(1)
    assert fetches.delayed == 0
    assert fetch.answers == late.answers == []


@on_virtual_time
async def test_the_finished_are_purged_from_the_lists_of_their_other_keys() -> None:
    fetches, has_data = purgatory(purge_interval=10), Flag()
    for number in range(5):
        fetches.park(Waiting(has_data), watch=["hot", f"cold-{number}", "cool"], timeout_ms=500)
    has_data.is_up = True
    assert fetches.recheck("hot") == 5
    assert (fetches.watched, fetches.delayed) == (10, 0)
    fetches.park(Waiting(), watch=["hot"], timeout_ms=500)
    assert fetches.watched == 11  # for ten finished are not more than ten
    fetches.park(Waiting(), watch=["a"], timeout_ms=1)
    await asyncio.sleep(0.1)
    fetches.park(Waiting(), watch=["hot"], timeout_ms=500)
    assert fetches.watched == fetches.delayed == 2


@on_virtual_time
async def test_a_few_finished_among_many_that_wait_are_left_on_their_lists() -> None:
    fetches, has_data = purgatory(purge_interval=10), Flag()
    for _ in range(100):
        fetches.park(Waiting(), watch=["cold"], timeout_ms=500)
    for number in range(100):
        has_data.is_up = False
        fetches.park(Waiting(has_data), watch=["hot", "cold"], timeout_ms=500)
        has_data.is_up = True
        assert fetches.recheck("hot") == 1
        assert fetches.watched == 101 + number


@on_virtual_time
async def test_a_finished_operation_is_let_go_before_it_is_purged() -> None:
    fetches, has_data = purgatory(), Flag()
    fetch = Waiting(has_data)
    fetches.park(fetch, watch=["hot", "cold"], timeout_ms=500)
    has_data.is_up = True
    gc.disable()  # no circle may hold it either
    try:
        fetches.recheck("hot")
        gone = weakref.ref(fetch)
        del fetch
        assert gone() is None
    finally:
        gc.enable()
    assert fetches.watched == 1


@on_virtual_time
async def test_cancelling_a_key_forgets_its_operations_under_all_their_keys() -> None:
    fetches, has_data = purgatory(), Flag()
    both, one, answered = Waiting(has_data), Waiting(has_data), Waiting()
    fetches.park(both, watch=["a", "b"], timeout_ms=500)
    fetches.park(one, watch=["b"], timeout_ms=500)
    fetches.park(answered, watch=["a"], timeout_ms=500)
    answered.completed = True
    assert fetches.cancel("a") == [both]
    assert fetches.cancel("a") == []
    has_data.is_up = True
    assert fetches.recheck("b") == 1
    await asyncio.sleep(1)
    assert both.answers == []
    assert (fetches.watched, fetches.delayed) == (0, 0)


@on_virtual_time
async def test_those_who_wait_for_a_key_can_be_looked_at_without_the_finished() -> None:
    fetches, has_data = purgatory(), Flag()
    done, first, second = Waiting(has_data), Waiting(), Waiting()
    for operation in (first, done, second):
        fetches.park(operation, watch=["orders-0", "orders-1"], timeout_ms=1000)
    has_data.is_up = True
    fetches.recheck("orders-1")
    assert fetches.waiting_for("orders-0") == [first, second]
    assert fetches.waiting_for("orders-2") == []
    assert fetches.delayed == 2


@on_virtual_time
async def test_draining_hands_back_all_that_wait_in_the_order_they_came() -> None:
    fetches = purgatory()
    waiting = [Waiting() for _ in range(4)]
    for fetch, watch in zip(waiting, ([1, 2], [2], [], [1]), strict=True):
        fetches.park(fetch, watch=watch, timeout_ms=500)
    assert fetches.drain() == waiting
    assert (fetches.watched, fetches.delayed) == (0, 0)
    await asyncio.sleep(1)
    assert all(fetch.answers == [] for fetch in waiting)


@on_virtual_time
async def test_an_answer_may_park_the_next_operation_on_the_same_key() -> None:
    heartbeats, beaten, sessions = purgatory(), Flag(), list[Waiting]()

    def begin_session() -> None:
        beaten.is_up = False
        sessions.append(Waiting(beaten, then=begin_session))
        heartbeats.park(sessions[-1], watch=["member"], timeout_ms=10_000)

    begin_session()
    for _ in range(3):
        await asyncio.sleep(3)
        beaten.is_up = True
        assert heartbeats.recheck("member") == 1
    assert [session.answers for session in sessions] == [["done"]] * 3 + [[]]
    assert (heartbeats.watched, heartbeats.delayed) == (1, 1)


@on_virtual_time
async def test_a_change_made_by_an_answer_reaches_those_who_were_tried_before_it() -> None:
    produces, high_watermark, acked = purgatory(), Flag(), Flag()

    def raise_high_watermark() -> None:
        high_watermark.is_up = True
        assert produces.recheck("a") == 0  # it is taken up when this answer is given

    before, after = Waiting(high_watermark), Waiting(high_watermark)
    produces.park(before, watch=["a"], timeout_ms=500)
    produces.park(Waiting(acked, then=raise_high_watermark), watch=["a"], timeout_ms=500)
    produces.park(after, watch=["a"], timeout_ms=500)
    acked.is_up = True
    assert produces.recheck("a") == 3
    assert before.answers == after.answers == ["done"]
    assert (produces.watched, produces.delayed) == (0, 0)


@on_virtual_time
async def test_a_change_made_while_an_operation_is_being_parked_reaches_it() -> None:
    fetches, has_data = purgatory(), Flag()

    def not_yet() -> bool:
        if has_data.is_up:
            return True
        has_data.is_up = True
        fetches.recheck("a")
        return False

    fetch = Waiting(not_yet)
    assert fetches.park(fetch, watch=["a"], timeout_ms=500)
    assert fetch.answers == ["done"]
    assert (fetches.watched, fetches.delayed) == (0, 0)


@on_virtual_time
async def test_an_answer_may_cancel_its_own_key_and_drain_the_rest() -> None:
    fetches, has_data = purgatory(), Flag()
    cancelled, drained = Waiting(has_data), Waiting(has_data)
    fetches.park(
        Waiting(has_data, then=lambda: (fetches.cancel("a"), fetches.drain())),
        watch=["a"],
        timeout_ms=500,
    )
    fetches.park(cancelled, watch=["a"], timeout_ms=500)
    fetches.park(drained, watch=["b"], timeout_ms=500)
    has_data.is_up = True
    assert fetches.recheck("a") == 1
    assert cancelled.answers == drained.answers == []
    assert (fetches.watched, fetches.delayed) == (0, 0)


@on_virtual_time
async def test_one_that_raises_takes_nobody_with_it() -> None:
    fetches, has_data = purgatory(), Flag()

    def fail() -> bool:
        assert not has_data.is_up, "our bug"
        return False

    first, bad, last = Waiting(has_data), Waiting(fail), Waiting(has_data)
    for fetch in (first, bad, last):
        fetches.park(fetch, watch=["a"], timeout_ms=500)
    has_data.is_up = True
    with pytest.raises(AssertionError, match="our bug"):
        fetches.recheck("a")
    assert fetches.delayed == 2
    bad.condition = Flag()
    assert fetches.recheck("a") == 1
    await asyncio.sleep(1)
    assert [fetch.answers for fetch in (first, bad, last)] == [["done"], ["expired"], ["done"]]


@on_virtual_time
async def test_a_hundred_thousand_operations_leave_nothing_behind() -> None:
    timer, has_data = Timer(virtual_loop()), Flag()
    fetches = Purgatory("Fetch", timer)
    for number in range(100_000):
        has_data.is_up = False
        fetches.park(Waiting(has_data), watch=[number % 7, "all", -number], timeout_ms=30_000)
        has_data.is_up = True
        assert fetches.recheck(number % 7) == 1
        assert fetches.watched <= 1_003
    assert timer.size == fetches.delayed == 0


@on_virtual_time
async def test_the_purgatory_describes_itself() -> None:
    fetches = purgatory()
    for watch in (["a", ("orders", 0)], ["a"]):
        fetches.park(Waiting(), watch=watch, timeout_ms=500)
    assert fetches.describe() == {
        "name": "Fetch",
        "delayed": 2,
        "watched": 3,
        "finished": 0,
        "keys": 2,
        "largest": [{"key": "a", "watchers": 2}, {"key": "('orders', 0)", "watchers": 1}],
    }


KEYS = st.integers(0, 3)
STEPS = st.one_of(
    st.tuples(st.just("park"), st.lists(KEYS, max_size=4)),
    st.tuples(st.just("ready"), st.lists(KEYS, min_size=1, max_size=1)),
    st.tuples(st.just("cancel"), st.lists(KEYS, min_size=1, max_size=1)),
    st.tuples(st.just("wait"), st.just([7])),
)


@given(st.lists(STEPS, max_size=40), st.integers(0, 5))
@on_virtual_time
async def test_the_counts_are_those_of_the_lists_whatever_happens(
    steps: list[tuple[str, list[int]]], purge_interval: int
) -> None:
    fetches, forgotten = purgatory(purge_interval=purge_interval), list[Delayed]()
    flags, parked = [Flag() for _ in range(4)], list[Waiting]()
    for step, keys in steps:
        if step == "park":
            parked.append(Waiting(partial(any_up, [flags[key] for key in keys])))
            fetches.park(parked[-1], watch=keys, timeout_ms=20)
        elif step == "ready":
            flags[keys[0]].is_up = True
            fetches.recheck(keys[0])
            flags[keys[0]].is_up = False
        elif step == "cancel":
            forgotten += fetches.cancel(keys[0])
        else:
            await asyncio.sleep(0.007)
        open_now = [w for w in parked if not w.completed and w not in forgotten]
        shown = fetches.describe()
        largest = shown["largest"]
        assert isinstance(largest, list)
        assert fetches.delayed == len(open_now)
        assert fetches.watched == sum(entry["watchers"] for entry in largest)
    await asyncio.sleep(1)
    assert all(len(fetch.answers) == (fetch not in forgotten) for fetch in parked)
