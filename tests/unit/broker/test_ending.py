"""Signals: the first lets a broker finish, and what a second one does."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Iterator

import pytest

from ottla.broker.ending import Ending


class Exited(Exception):
    """Instead of the end of this process."""


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Iterator[Ending]:
    """A broker that is finishing: its signals are taken, and the first SIGTERM came."""

    def leave(code: int) -> None:
        raise Exited(code)

    monkeypatch.setattr(os, "_exit", leave)
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    ending = Ending()
    ending.take_signals()
    signal.raise_signal(signal.SIGTERM)
    yield ending
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("told")
def test_a_second_sigterm_changes_nothing() -> None:
    signal.raise_signal(signal.SIGTERM)


@pytest.mark.usefixtures("told")
def test_ctrl_c_while_it_finishes_ends_it_at_once() -> None:
    with pytest.raises(Exited, match=str(128 + signal.SIGINT)):
        signal.raise_signal(signal.SIGINT)


def test_a_signal_before_there_is_a_loop_is_heard_when_there_is(told: Ending) -> None:
    ended: list[bool] = []
    loop = asyncio.new_event_loop()
    told.on_told(loop, lambda: ended.append(True))
    loop.close()
    assert ended == [True]
