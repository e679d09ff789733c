"""Ctrl-C while the client library is at work: noted, and raised only where a line is waited for."""

from __future__ import annotations

import signal
from io import BytesIO

import pytest

from ottla.cli.interruption import Interruption


class Typed(BytesIO):
    """Somebody who types two lines and then presses Ctrl-C."""

    def readline(self, size: int | None = -1, /) -> bytes:
        line = super().readline()
        if not line:
            signal.raise_signal(signal.SIGINT)
        return line


def test_between_two_lines_it_is_only_noted() -> None:
    with Interruption() as interruption:
        lines = interruption.lines(BytesIO(b"a\nb\n"))
        assert next(lines) == b"a\n"
        signal.raise_signal(signal.SIGINT)
        assert interruption.requested
        assert list(lines) == []


def test_the_wait_for_a_line_ends() -> None:
    with Interruption() as interruption:
        assert list(interruption.lines(Typed(b"a\nb\n"))) == [b"a\n", b"b\n"]
        assert interruption.requested


def test_an_end_of_the_input_is_no_interruption() -> None:
    with Interruption() as interruption:
        assert list(interruption.lines(BytesIO(b"a\nb"))) == [b"a\n", b"b"]
        assert not interruption.requested


def test_afterwards_ctrl_c_is_again_what_it_was() -> None:
    # A shell starts what it runs in the background with the signal ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with Interruption():
            signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_wait_ends_with_it() -> None:
    with Interruption(signal.SIGTERM) as interruption:
        signal.raise_signal(signal.SIGTERM)
        interruption.wait(3_600)
        assert interruption.requested
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_a_wait_of_no_time_is_none() -> None:
    with Interruption() as interruption:
        interruption.wait(-1.0)
        assert not interruption.requested
