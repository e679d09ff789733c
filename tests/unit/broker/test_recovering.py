"""How far the check of logs is, told every two seconds."""

from __future__ import annotations

import logging

import pytest

from ottla.broker.recovering import Recovering
from ottla.storage.directories import LogDirectories


class StepClock:
    """Half a second passes with each look."""

    def __init__(self) -> None:
        self.ms = 0

    def now_ms(self) -> int:
        self.ms += 500
        return self.ms


def test_progress_is_told_every_two_seconds(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        report = Recovering(LogDirectories([], {}), StepClock())
        for _ in range(8):
            report(3_000_000)
    assert caplog.messages == ["checked 12 MB of logs so far", "checked 24 MB of logs so far"]
