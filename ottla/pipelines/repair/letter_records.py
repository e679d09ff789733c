"""How a dead letter is kept as a record of a topic: itself unchanged, and headers that tell of it.

Key, value and headers are those of the record that could not go on; ours come after them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from ottla.pipelines.repair.letter import BareLetter, DeadLetter, Headers

TOPIC = "ottla.topic"
PARTITION = "ottla.partition"
OFFSET = "ottla.offset"
TIMESTAMP = "ottla.timestamp"  # ms since 1970, as all numbers here in decimal digits
PIPELINE = "ottla.pipeline"
RULE = "ottla.rule"
ERROR = "ottla.error"
ATTEMPTS = "ottla.attempts"  # how often it has failed; also on a record that was redriven

_OURS = (TOPIC, PARTITION, OFFSET, TIMESTAMP, PIPELINE, RULE, ERROR, ATTEMPTS)
_FIRST = (ATTEMPTS, b"1")
_MOST_DIGITS = 10
_MOST_CHARACTERS = 2_000  # of an exception that quotes the whole record


# Key, value, headers. Any: bytes or None, and the client's lists may hold text too.
Record = tuple[bytes | None, bytes | None, list[tuple[str, Any]]]


class StoredLetter(NamedTuple):
    letter: DeadLetter
    pipeline: str
    attempts: int


class NotALetter(ValueError):
    """The record was not written by a pipeline; the message says what it lacks."""


def to_records(letters: Iterable[BareLetter], *, pipeline: str) -> Iterator[Record]:
    """Written out, as a batch may be nothing but dead letters, mostly of one mistake."""
    for topic, partition, offset, timestamp_ms, key, value, headers, rule, error in letters:
        told = [
            *headers,
            *_where(topic, partition),
            (OFFSET, b"%d" % offset),
            (TIMESTAMP, b"%d" % timestamp_ms),
            *_why(pipeline, rule, error[:_MOST_CHARACTERS]),
            (ATTEMPTS, b"%d" % (attempts_before(headers) + 1)) if headers else _FIRST,
        ]
        yield key, value, told


@lru_cache
def _where(topic: str, partition: int) -> Headers:
    return ((TOPIC, topic.encode()), (PARTITION, b"%d" % partition))


@lru_cache
def _why(pipeline: str, rule: str, error: str) -> Headers:
    return (
        (PIPELINE, pipeline.encode()),
        (RULE, rule.encode()),
        # An exception may quote anything, even what is no valid text.
        (ERROR, error.encode(errors="backslashreplace")),
    )


def from_record(
    key: bytes | None, value: bytes | None, headers: Iterable[tuple[str, bytes | None]]
) -> StoredLetter:
    """NotALetter if it is none."""
    told, original = _apart(tuple(headers))
    if missing := [name for name in _OURS if name not in told]:
        raise NotALetter(f"it has no header {missing[0]}")
    letter = DeadLetter(
        topic=_text(told[TOPIC]),
        partition=_number(told, PARTITION),
        offset=_number(told, OFFSET),
        timestamp_ms=_number(told, TIMESTAMP),
        key=key,
        value=value,
        headers=original,
        rule=_text(told[RULE]),
        error=_text(told[ERROR]),
    )
    return StoredLetter(letter, _text(told[PIPELINE]), _number(told, ATTEMPTS))


def headers_to_redrive(stored: StoredLetter) -> Headers:
    """As it first came, but for the count of its failures, which goes on if it fails again."""
    original = (header for header in stored.letter.headers if header[0] != ATTEMPTS)
    return (*original, (ATTEMPTS, b"%d" % stored.attempts))


def attempts_before(headers: Headers) -> int:
    """How often this record has failed; anyone may write a header, so it may be no count."""
    counts = [value or b"" for name, value in headers if name == ATTEMPTS]
    is_count = bool(counts) and counts[-1].isdigit() and len(counts[-1]) < _MOST_DIGITS
    return int(counts[-1]) if is_count else 0


def _apart(headers: Headers) -> tuple[dict[str, bytes | None], Headers]:
    """Ours are the last of their names: the record may have been a dead letter before."""
    places = {name: place for place, (name, _) in enumerate(headers) if name in _OURS}
    told = {name: headers[place][1] for name, place in places.items()}
    ours = frozenset(places.values())
    return told, tuple(each for place, each in enumerate(headers) if place not in ours)


def _number(told: dict[str, bytes | None], name: str) -> int:
    try:
        return int(_text(told[name]))
    except ValueError:
        raise NotALetter(f"its header {name} is no number: {told[name]!r}") from None


def _text(value: bytes | None) -> str:
    return (value or b"").decode(errors="backslashreplace")
