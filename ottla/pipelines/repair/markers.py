"""What was decided on a dead letter, as a record beside it: sent again, or discarded."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Any, NamedTuple

from ottla.pipelines.kafka import Place
from ottla.pipelines.repair.letter import DeadLetter

MARKERS_SUFFIX = ".redriven"


class State(StrEnum):
    WAITING = "waiting"
    REDRIVEN = "redriven"
    DISCARDED = "discarded"


class Marker(NamedTuple):
    state: State
    at_ms: int
    to: str  # the topic it went to; "" if it went nowhere
    times: int  # that it was redriven, in all
    origin: str  # of the letter, so that a topic of dead letters made anew has none of these

    def value(self) -> bytes:
        return json.dumps(self._asdict(), separators=(",", ":")).encode()


def marker_key(topic: str, partition: int, offset: int) -> bytes:
    return f"{topic}:{partition}:{offset}".encode()


def parse_marker_key(key: bytes) -> tuple[Place, int] | None:
    """The letter's place and offset."""
    topic, _, rest = key.decode(errors="replace").partition(":")
    partition, _, offset = rest.partition(":")
    if not partition.isdecimal() or not offset.isdecimal():
        return None
    return (topic, int(partition)), int(offset)


def origin_of(letter: DeadLetter) -> str:
    return f"{letter.topic}:{letter.partition}:{letter.offset}"


def parse_marker(value: bytes | None) -> Marker | None:
    """None if it is none, or was taken back."""
    try:
        told: Any = json.loads(value or b"null")
        return Marker(**{**told, "state": State(told["state"])})
    except (ValueError, TypeError, KeyError):
        return None
