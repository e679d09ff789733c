"""The wheel against Kafka's worked timings, and against a sorted list."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.timing.wheel import Deadline, Wheel


def nothing() -> None: ...


def set_for(wheel: Wheel, delay_ms: int, *, now_ms: int = 0) -> Deadline:
    deadline = Deadline(now_ms + delay_ms, nothing)
    wheel.add(deadline, now_ms=now_ms)
    return deadline


def turn(wheel: Wheel, now_ms: int) -> list[Deadline]:
    wheel.turn(now_ms)
    return taken(wheel)


def taken(wheel: Wheel) -> list[Deadline]:
    due = []
    while deadline := wheel.pop_due():
        due.append(deadline)
    return due


def ticks_visited(wheel: Wheel) -> list[int]:
    """The ticks of the levels on which the only deadline waits, until it is due."""
    visited = []
    while wheel.size:
        levels = wheel.describe()["levels"]
        assert isinstance(levels, list)
        visited += [level["tick_ms"] for level in levels if level["pending"]]
        next_ms = wheel.next_ms()
        assert next_ms is not None
        turn(wheel, next_ms)
    return visited


@pytest.mark.parametrize(
    ("what", "delay_ms", "ticks"),
    [
        ("a delay of the first level", 19, [1]),
        ("the first of the second", 20, [20]),
        ("fetch.max.wait.ms", 500, [400, 20]),
        ("fetch.max.wait.ms, with some milliseconds", 525, [400, 20, 1]),
        ("request.timeout.ms", 30_000, [8_000, 400]),
        ("request.timeout.ms, on a crooked millisecond", 30_427, [8_000, 400, 20, 1]),
        ("session.timeout.ms", 10_000, [8_000, 400]),
        ("max.poll.interval.ms", 300_000, [160_000, 8_000, 400]),
        ("a transaction marker, which waits a hundred years", 100 * 365 * 86_400_000, None),
    ],
)
def test_a_deadline_falls_from_level_to_level(
    what: str, delay_ms: int, ticks: list[int] | None
) -> None:
    wheel = Wheel(0)
    set_for(wheel, delay_ms)
    visited = ticks_visited(wheel)
    assert visited == sorted(visited, reverse=True), what
    assert ticks is None or visited == ticks, what


@pytest.mark.parametrize("delay_ms", [1, 19, 20, 500, 10_000, 30_000, 300_000])
@pytest.mark.parametrize("now_ms", [0, 7, 399, 7_999, 123_456_789])
def test_a_deadline_is_due_in_its_millisecond_and_not_before(delay_ms: int, now_ms: int) -> None:
    wheel = Wheel(now_ms)
    deadline = set_for(wheel, delay_ms, now_ms=now_ms)
    assert turn(wheel, now_ms + delay_ms - 1) == []
    assert turn(wheel, now_ms + delay_ms) == [deadline]


@pytest.mark.parametrize("delay_ms", [0, -1, -100_000])
def test_a_deadline_that_has_passed_is_due_at_once(delay_ms: int) -> None:
    wheel = Wheel(1_000)
    deadline = set_for(wheel, delay_ms, now_ms=1_000)
    assert wheel.next_ms() == 1_000
    assert taken(wheel) == [deadline]


def test_a_session_renewed_by_each_heartbeat_never_ends() -> None:
    wheel = Wheel(0)
    session = set_for(wheel, 10_000)
    for now_ms in range(3_000, 300_000, 3_000):
        session.cancel()
        session = set_for(wheel, 10_000, now_ms=now_ms)
        assert turn(wheel, now_ms) == []
    assert wheel.size == 1
    assert turn(wheel, 297_000 + 10_000) == [session]


def test_a_cancelled_deadline_leaves_the_count_at_once() -> None:
    wheel = Wheel(0)
    kept, dropped = set_for(wheel, 500), set_for(wheel, 500)
    dropped.cancel()
    dropped.cancel()
    assert wheel.size == 1
    assert turn(wheel, 500) == [kept]
    kept.cancel()
    assert wheel.size == 0


def test_a_deadline_can_be_cancelled_while_it_waits_to_be_taken() -> None:
    wheel = Wheel(0)
    first, second = set_for(wheel, 5), set_for(wheel, 5)
    wheel.turn(5)
    assert wheel.pop_due() is first
    second.cancel()
    assert wheel.pop_due() is None


def test_nobody_wakes_for_buckets_whose_deadlines_were_cancelled() -> None:
    wheel = Wheel(0)
    cancelled = [set_for(wheel, delay_ms) for delay_ms in (5, 50, 500, 5_000)]
    set_for(wheel, 60_000)
    for deadline in cancelled:
        deadline.cancel()
    assert wheel.next_ms() == 56_000  # the start of its bucket of 8 s


def test_a_wheel_that_slept_files_new_deadlines_by_the_time_it_is() -> None:
    wheel = Wheel(0)
    later = 86_400_000
    assert wheel.add(Deadline(later + 5, nothing), now_ms=later) == later + 5


def test_a_hundred_thousand_deadlines_set_and_cancelled_leave_nothing() -> None:
    wheel = Wheel(0)
    for now_ms in range(100_000):
        set_for(wheel, 30_000 + now_ms % 977, now_ms=now_ms).cancel()
        if now_ms % 100 == 0:
            wheel.turn(now_ms)
    shown = wheel.describe()
    levels, busy = shown["levels"], shown["busy_buckets"]
    assert isinstance(levels, list)
    assert isinstance(busy, int)
    assert shown["pending"] == 0
    assert busy <= 20 * len(levels) <= 100


STEPS = st.one_of(
    st.tuples(st.just("set"), st.integers(-5, 50) | st.integers(0, 10_000_000)),
    st.tuples(st.just("turn"), st.integers(0, 50) | st.integers(0, 1_000_000)),
    st.tuples(st.just("cancel"), st.integers(0, 1_000)),
)


@given(st.integers(0, 10**9), st.lists(STEPS, max_size=60))
def test_the_wheel_does_what_a_sorted_list_does(
    start_ms: int, steps: list[tuple[str, int]]
) -> None:
    wheel, now_ms = Wheel(start_ms), start_ms
    waiting: list[Deadline] = []
    for step, value in [*steps, ("turn", 10_000_000)]:
        if step == "set":
            waiting.append(set_for(wheel, value, now_ms=now_ms))
        elif step == "cancel" and waiting:
            waiting.pop(value % len(waiting)).cancel()
        elif step == "turn":
            now_ms += value
            due = turn(wheel, now_ms)
            past = [deadline for deadline in due if deadline.due_ms <= now_ms - value]
            ordered = [d.due_ms for d in due if d not in past]
            assert ordered == sorted(ordered)
            assert set(due) == {d for d in waiting if d.due_ms <= now_ms}
            waiting = [deadline for deadline in waiting if deadline.due_ms > now_ms]
        assert wheel.size == len(waiting)
        next_ms = wheel.next_ms()
        assert (next_ms is None) == (not waiting)
        assert next_ms is None or next_ms <= max(now_ms, min(d.due_ms for d in waiting))
