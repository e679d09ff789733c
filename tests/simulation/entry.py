"""A batch as it was written, or as it was found."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from ottla.protocol.records.record import Record
from ottla.protocol.records.record_set import Batch, read_batches


class Entry(NamedTuple):
    """A batch as it was written: its offsets and all its bytes."""

    first: int
    last: int
    data: bytes

    def batch(self) -> Batch:
        return _parse(self.data)

    def records(self) -> list[Record]:
        return _parse_records(self.data)


# The same batches are looked at again and again.
@lru_cache(maxsize=10_000)
def _parse(data: bytes) -> Batch:
    return next(iter(read_batches(data)))


@lru_cache(maxsize=10_000)
def _parse_records(data: bytes) -> list[Record]:
    return _parse(data).records()
