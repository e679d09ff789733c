"""Effects are carried out in their order, and replies wait for what they show."""

from __future__ import annotations

import asyncio
from collections.abc import Hashable

from ottla.coordinators.effects import Append, CancelTimer, Effects, Record, Reply, SetTimer
from ottla.coordinators.runtime import Runtime
from ottla.coordinators.timers import Timers
from ottla.protocol.errors import ErrorCode
from ottla.timing.tick import Tick
from ottla.timing.timer import Timer
from tests.unit.coordinators.fake_log import FakeLog
from tests.virtual_time import on_virtual_time

ONE, TWO = Record(b"1", b"one"), Record(b"2", b"two")


class FixedClock:
    def now_ms(self) -> int:
        return 1_000


class Told:
    """A machine that writes down what it is told, and answers with what it was given."""

    def __init__(self) -> None:
        self.log: list[object] = []
        self.effects: Effects = []

    def timer_due(self, key: tuple[str, ...], *, now_ms: int) -> Effects:
        self.log.append(("due", key))
        return self.effects

    def stored(self, token: Hashable, *, now_ms: int) -> Effects:
        self.log.append(("stored", token))
        return self.effects

    def refused(self, token: Hashable, error: ErrorCode, *, now_ms: int) -> Effects:
        self.log.append(("refused", token, error.name))
        return self.effects


class Bench:
    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self.log = FakeLog()
        self.runtime = Runtime(self.log, Tick(loop.call_soon), FixedClock(), timeout_ms=5_000)
        self.machine = Told()
        self.timer = Timer(loop)
        self.timers = Timers(self.timer, lambda key, now_ms: None)

    def carry_out(self, *effects: Append | SetTimer | CancelTimer | Reply) -> None:
        self.runtime.carry_out(self.machine, list(effects), self.timers, now_ms=1_000)

    def reply(self, answer: str) -> Reply:
        return Reply(self.machine.log.append, answer)


async def rounds(count: int = 5) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


@on_virtual_time
async def test_a_reply_before_the_append_goes_at_once_one_after_it_when_it_is_stored() -> None:
    bench = Bench()
    bench.log.commits_at_once = False
    bench.carry_out(bench.reply("early"), Append((ONE,), "token"), bench.reply("late"))
    await rounds()
    assert bench.machine.log == ["early"]
    bench.log.commit()
    assert bench.machine.log == ["early", ("stored", "token"), "late"]


@on_virtual_time
async def test_what_the_machine_wants_once_it_is_stored_comes_before_the_held_replies() -> None:
    bench = Bench()
    bench.machine.effects = [bench.reply("to all who waited")]
    bench.carry_out(Append((ONE,)), bench.reply("late"))
    await rounds()
    assert bench.machine.log == [("stored", None), "to all who waited", "late"]


@on_virtual_time
async def test_a_refused_append_drops_its_replies_and_asks_the_machine() -> None:
    bench = Bench()
    bench.log.refuses_with = ErrorCode.NOT_ENOUGH_REPLICAS
    bench.machine.effects = [bench.reply("sorry")]
    bench.carry_out(Append((ONE,), 1), bench.reply("late"))
    await rounds()
    assert bench.machine.log == [("refused", 1, "NOT_ENOUGH_REPLICAS"), "sorry"]


@on_virtual_time
async def test_timers_are_set_and_cancelled_at_once() -> None:
    bench = Bench()
    bench.carry_out(SetTimer(("join",), 1_500), SetTimer(("sync",), 1_600), CancelTimer(("sync",)))
    assert len(bench.timers) == 1


@on_virtual_time
async def test_all_appends_of_a_round_are_one_batch_and_those_of_the_next_another() -> None:
    bench = Bench()
    stored: list[str] = []
    bench.runtime.append([ONE], lambda error: stored.append(f"first {error.name}"))
    bench.runtime.append([TWO, ONE], lambda error: stored.append(f"second {error.name}"))
    await rounds()
    bench.runtime.append([TWO], lambda error: stored.append("third"))
    await rounds()
    assert bench.log.appends == [[ONE, TWO, ONE], [TWO]]
    assert bench.log.timeouts_ms == [5_000, 5_000]
    assert stored == ["first NONE", "second NONE", "third"]


@on_virtual_time
async def test_a_batch_never_grows_beyond_what_the_topic_takes_unless_one_append_does() -> None:
    bench = Bench()
    bench.log.max_batch_bytes = 1_000
    large, huge = Record(b"k", bytes(400)), Record(b"k", bytes(5_000))
    for record in (large, large, large, huge, ONE):
        bench.runtime.append([record], lambda error: None)
    await rounds()
    assert bench.log.appends == [[large, large], [large], [huge], [ONE]]


@on_virtual_time
async def test_when_it_closes_all_who_wait_hear_once_and_what_they_want_then_is_dropped() -> None:
    bench = Bench()
    bench.log.commits_at_once = False
    bench.carry_out(Append((ONE,), "in flight"))
    await rounds()
    bench.carry_out(Append((TWO,), "queued"))
    bench.machine.effects = [Append((TWO,), "again"), bench.reply("never")]
    bench.runtime.close()
    bench.log.commit()
    await rounds()
    expected = [("refused", token, "NOT_LEADER_OR_FOLLOWER") for token in ("in flight", "queued")]
    assert bench.machine.log == expected
    assert bench.log.appends == [[ONE]]


@on_virtual_time
async def test_what_is_transactional_is_appended_at_once_alone_and_behind_what_was_queued() -> None:
    bench = Bench()
    stored: list[str] = []
    bench.runtime.append([ONE], lambda error: stored.append("before"))
    bench.runtime.append_transactional(
        [TWO], lambda error: stored.append("transactional"), producer=(7, 3)
    )
    assert bench.log.appends == [[ONE], [TWO]]
    bench.runtime.append([ONE, TWO], lambda error: stored.append("after"))
    await rounds()
    assert bench.log.appends == [[ONE], [TWO], [ONE, TWO]]
    assert bench.log.producers == [None, (7, 3), None]
    assert bench.log.timeouts_ms == [5_000, 5_000, 5_000]
    assert stored == ["before", "transactional", "after"]


@on_virtual_time
async def test_what_is_transactional_hears_of_the_end_too() -> None:
    bench = Bench()
    bench.log.commits_at_once = False
    stored: list[ErrorCode] = []
    bench.runtime.append_transactional([ONE], stored.append, producer=(7, 3))
    bench.runtime.close()
    bench.log.commit()
    assert stored == [ErrorCode.NOT_LEADER_OR_FOLLOWER]
