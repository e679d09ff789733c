"""What a run opened is closed, also where it could not open all of it."""

from __future__ import annotations

from typing import Any

import pytest

from ottla.pipelines.running import delivery
from ottla.pipelines.running.delivery import Delivery


class Part:
    """A sink, or letters; it tells what is done to it."""

    takes_offsets = False

    def __init__(self, name: str, told: list[str], *, opens: bool = True) -> None:
        self._name, self._told, self._opens = name, told, opens

    def open(self) -> None:
        if not self._opens:
            raise ConnectionError(self._name)
        self._told.append(f"{self._name} opened")

    def close(self) -> None:
        self._told.append(f"{self._name} closed")


def delivered(monkeypatch: pytest.MonkeyPatch, sink: Part, letters: Part) -> Delivery:
    monkeypatch.setattr(delivery, "make_sink", lambda *_, **__: sink)
    monkeypatch.setattr(delivery, "make_letters", lambda *_, **__: letters)
    anything: Any = None
    return Delivery(anything, app="views.0", spark=anything, cluster=anything)


def test_both_are_open_until_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    made = delivered(monkeypatch, Part("sink", told), Part("letters", told))
    assert told == ["sink opened", "letters opened"]
    made.close()
    assert told[2:] == ["letters closed", "sink closed"]


def test_a_sink_is_closed_if_the_letters_cannot_be_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    with pytest.raises(ConnectionError, match="letters"):
        delivered(monkeypatch, Part("sink", told), Part("letters", told, opens=False))
    assert told == ["sink opened", "sink closed"]
