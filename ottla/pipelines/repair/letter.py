"""A dead letter: a record that could not go on, with where it came from and why."""

from __future__ import annotations

from typing import NamedTuple

Headers = tuple[tuple[str, bytes | None], ...]
# The fields of a DeadLetter, where there are so many that it would take time to give them names.
BareLetter = tuple[str, int, int, int, bytes | None, bytes | None, Headers, str, str]


class DeadLetter(NamedTuple):
    topic: str
    partition: int
    offset: int
    timestamp_ms: int
    key: bytes | None
    value: bytes | None
    headers: Headers
    rule: str  # not_null(user_id), or the exception of whoever could not read it
    error: str  # one sentence
