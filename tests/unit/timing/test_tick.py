"""What is put off to the end of a round of the loop."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ottla.timing.tick import Tick


class Loop:
    def __init__(self) -> None:
        self.soon: list[Callable[[], None]] = []

    def call_soon(self, callback: Callable[[], None]) -> None:
        self.soon.append(callback)

    def run(self) -> None:
        soon = self.soon[:]
        self.soon.clear()
        for callback in soon:
            callback()


def test_writes_come_first_then_settlements_then_sends() -> None:
    done: list[str] = []
    tick = Tick(Loop().call_soon)
    tick.begin()
    tick.send(lambda: done.append("send"))
    tick.settle(lambda: done.append("settle"))
    tick.write(lambda: done.append("write"))
    assert done == []
    tick.end()
    assert done == ["write", "settle", "send"]


def test_what_the_end_brings_up_is_done_in_the_same_end_and_order() -> None:
    done: list[str] = []
    tick = Tick(Loop().call_soon)

    def settle() -> None:
        done.append("settle")
        tick.send(lambda: done.append("send"))
        tick.write(lambda: done.append("write"))

    tick.begin()
    tick.settle(settle)
    tick.end()
    assert done == ["settle", "write", "send"]


def test_outside_of_a_round_the_loop_is_asked_once() -> None:
    loop = Loop()
    done: list[int] = []
    tick = Tick(loop.call_soon)
    tick.write(lambda: done.append(1))
    tick.write(lambda: done.append(2))
    assert (len(loop.soon), done) == (1, [])
    loop.run()
    assert done == [1, 2]
    tick.send(lambda: done.append(3))
    assert len(loop.soon) == 1


def test_within_a_round_the_loop_is_not_asked() -> None:
    loop = Loop()
    tick = Tick(loop.call_soon)
    tick.begin()
    tick.write(lambda: None)
    tick.end()
    assert loop.soon == []


def test_work_that_a_round_took_over_is_not_done_again_by_the_loop() -> None:
    loop = Loop()
    done: list[int] = []
    tick = Tick(loop.call_soon)
    tick.write(lambda: done.append(1))
    tick.begin()
    tick.end()
    loop.run()
    assert done == [1]


def test_what_was_put_off_before_a_round_is_done_before_it_reads() -> None:
    """A request that was served outside of a round lies in a buffer that the round may fill."""
    done: list[str] = []
    tick = Tick(Loop().soon.append)
    tick.write(lambda: done.append("write"))
    tick.begin()
    done.append("read")
    tick.end()
    assert done == ["write", "read"]


def test_work_that_fails_does_not_keep_the_others_from_theirs() -> None:
    loop = Loop()
    done: list[str] = []
    tick = Tick(loop.call_soon)

    def fail() -> None:
        raise ValueError("a bug")

    tick.begin()
    tick.send(lambda: done.append("send"))
    tick.write(fail)
    tick.write(lambda: done.append("write"))
    tick.settle(lambda: done.append("settle"))
    with pytest.raises(ValueError, match="a bug"):
        tick.end()
    assert done == []
    loop.run()
    assert done == ["write", "settle", "send"]
    tick.write(lambda: done.append("later"))
    loop.run()
    assert done[-1] == "later"
