"""What a coordinator's rules may ask for. A decision returns them in the order they are to be done.

A decision has at most one Append. Once it is committed, the machine that decided is told
`stored(token)` and its effects are carried out, then the Replies listed after the Append are sent.
If it is refused those Replies are dropped, and the machine is told `refused(token, error)` instead.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, NamedTuple, Protocol


class Record(NamedTuple):
    key: bytes
    value: bytes | None


class RecordRows(Protocol):
    """Many records that are made bytes together."""

    @property
    def count(self) -> int: ...
    @property
    def size_bytes(self) -> int:
        """At most."""
        ...

    def encode(self, first: int) -> bytes:
        """As they stand in a batch, the first of them with this number."""
        ...


class Append(NamedTuple):
    """One batch for the partition. `token` tells the machine which of its appends came through."""

    records: tuple[Record, ...]
    token: Hashable = None


class SetTimer(NamedTuple):
    """Replaces the timer of the same key. `due_ms` is of the clock that `now_ms` was read from."""

    key: tuple[str, ...]
    due_ms: int


class CancelTimer(NamedTuple):
    key: tuple[str, ...]


class Reply(NamedTuple):
    # Who waits is opaque to the rules; tests pass `list.append`.
    to: Callable[[Any], None]
    answer: Any


Effect = Append | SetTimer | CancelTimer | Reply
Effects = list[Effect]
