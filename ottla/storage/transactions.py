"""Transactions that ended in this log, and the index of those that were aborted."""

from __future__ import annotations

from collections.abc import Iterable
from struct import Struct
from typing import NamedTuple

from ottla.storage.files import CorruptLog

_ENTRY = Struct(">hqqqq")
_VERSION = 0

ENTRY_BYTES = _ENTRY.size


class CompletedTransaction(NamedTuple):
    """A transaction whose marker is in the log, at `last_offset`.

    `last_stable_offset` is what readers could see up to, were everything replicated by then.
    """

    producer_id: int
    first_offset: int
    last_offset: int
    is_aborted: bool
    last_stable_offset: int


class AbortedTransaction(NamedTuple):
    """An entry of the transaction index: what a read_committed consumer must skip."""

    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int

    @classmethod
    def of(cls, completed: CompletedTransaction) -> AbortedTransaction:
        assert completed.is_aborted
        return cls(
            completed.producer_id,
            completed.first_offset,
            completed.last_offset,
            completed.last_stable_offset,
        )

    def encode(self) -> bytes:
        return _ENTRY.pack(_VERSION, *self)


def parse_transaction_index(
    data: bytes, path: str, *, base_offset: int = 0
) -> list[AbortedTransaction]:
    """All entries of the index of the segment that starts at `base_offset`."""
    whole = len(data) - len(data) % ENTRY_BYTES
    if whole != len(data):
        raise CorruptLog(path, whole, f"{len(data) - whole} bytes are no whole entry")
    entries = []
    for number, (version, *values) in enumerate(_ENTRY.iter_unpack(data)):
        entry = AbortedTransaction(*values)
        if version != _VERSION:
            raise CorruptLog(path, number * ENTRY_BYTES, f"version {version}")
        if entry.last_offset < base_offset or entry.last_offset < entry.first_offset:
            cause = f"a transaction from {entry.first_offset} to {entry.last_offset}"
            raise CorruptLog(path, number * ENTRY_BYTES, cause)
        entries.append(entry)
    return entries


def aborted_in(
    entries: Iterable[AbortedTransaction], *, fetch_offset: int, upper_bound: int
) -> tuple[list[AbortedTransaction], bool]:
    """Those that reach into [fetch_offset, upper_bound), and whether later segments add none.

    They add none once an entry was written when all below `upper_bound` was decided: a transaction
    that ended after it also began after it.
    """
    found = []
    for entry in entries:
        if entry.last_offset >= fetch_offset and entry.first_offset < upper_bound:
            found.append(entry)
        if entry.last_stable_offset >= upper_bound:
            return found, True
    return found, False


def count_below(entries: Iterable[AbortedTransaction], offset: int) -> int:
    """How many entries stay when the log is cut at `offset`; markers are in offset order."""
    count = 0
    for entry in entries:
        if entry.last_offset >= offset:
            break
        count += 1
    return count
