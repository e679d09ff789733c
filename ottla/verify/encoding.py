"""A history as lines of JSON, to be kept and checked later: a head, then one event a line.

A field that has its usual value is left out.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ottla.verify.history import (
    Assigned,
    Began,
    Ended,
    Event,
    Fenced,
    FinalRead,
    History,
    Initialized,
    Isolation,
    Offsets,
    OffsetsCommitted,
    OffsetsFetched,
    OffsetsSent,
    Outcome,
    Read,
    Seeked,
    Sent,
    Source,
    TopicPartition,
)

_VERSION = 1
_write = json.JSONEncoder(separators=(",", ":")).encode
_EVENTS: dict[str, Callable[..., Event]] = {
    "initialized": Initialized,
    "began": Began,
    "sent": Sent,
    "offsets_sent": OffsetsSent,
    "ended": Ended,
    "fenced": Fenced,
    "assigned": Assigned,
    "seeked": Seeked,
    "read": Read,
    "offsets_committed": OffsetsCommitted,
    "offsets_fetched": OffsetsFetched,
    "final_read": FinalRead,
}
_NAMES: dict[object, str] = {kind: name for name, kind in _EVENTS.items()}


class BadHistory(ValueError):
    """A history that says what no history can say, or does not say enough."""


def to_lines(history: History) -> Iterator[str]:
    head = {"history": _VERSION, "has_one_clock": history.has_one_clock}
    yield _write(head)
    for event in history.events:
        yield encode(event)


def from_lines(lines: Iterable[str]) -> History:
    numbered = enumerate(lines, 1)
    _, first = next(numbered, (1, ""))
    has_one_clock = _head(first)
    events = []
    for number, line in numbered:
        try:
            events.append(decode(line))
        except BadHistory as cause:
            raise BadHistory(f"line {number}: {cause}") from cause
    return History(tuple(events), has_one_clock)


def encode(event: Event) -> str:
    usual = event._field_defaults
    told: dict[str, object] = {"event": _NAMES[type(event)]}
    for name, value in zip(event._fields, event, strict=True):
        if name not in usual or usual[name] != value:
            told[name] = value
    return _write(told)


def decode(line: str) -> Event:
    try:
        told = json.loads(line)
        kind = _EVENTS[told.pop("event")]
        return kind(**{name: _FIELDS[name](value) for name, value in told.items()})
    except (AttributeError, KeyError, TypeError, ValueError) as cause:
        raise BadHistory(f"{line.strip()[:80]!r} is no event ({cause!r})") from cause


def _head(line: str) -> bool:
    try:
        head = json.loads(line)
        version, has_one_clock = head["history"], head["has_one_clock"]
    except (KeyError, TypeError, ValueError) as cause:
        raise BadHistory(
            'line 1: a history begins with {"history":1,"has_one_clock":true}'
        ) from cause
    if version != _VERSION:
        raise BadHistory(f"line 1: version {version} of histories; this program reads {_VERSION}")
    return bool(has_one_clock)


def _number(value: object) -> int:
    if type(value) is not int:
        raise TypeError(f"{value!r} is no whole number")
    return value


def _text(value: object) -> str:
    if type(value) is not str:
        raise TypeError(f"{value!r} is no text")
    return value


def _truth(value: object) -> bool:
    if type(value) is not bool:
        raise TypeError(f"{value!r} is neither true nor false")
    return value


def _partition(value: Any) -> TopicPartition:
    topic, partition = value
    return TopicPartition(_text(topic), _number(partition))


def _offsets(value: Any) -> Offsets:
    return tuple((_partition(partition), _number(offset)) for partition, offset in value)


def _records(value: Any) -> tuple[tuple[int, str], ...]:
    return tuple((_number(offset), _text(record)) for offset, record in value)


def _source(value: Any) -> Source | None:
    if value is None:
        return None
    group, partition, offset = value
    return Source(_text(group), _partition(partition), _number(offset))


_FIELDS: dict[str, Callable[[Any], object]] = {
    "client": _text,
    "transactional_id": _text,
    "transaction": lambda value: None if value is None else _text(value),
    "at": _number,
    "asked": _number,
    "answered": _number,
    "outcome": Outcome,
    "partition": _partition,
    "value": _text,
    "offset": lambda value: None if value is None else _number(value),
    "source": _source,
    "group": lambda value: None if value is None else _text(value),
    "offsets": _offsets,
    "positions": _offsets,
    "is_commit": _truth,
    "is_stable": _truth,
    "isolation": Isolation,
    "records": _records,
}
