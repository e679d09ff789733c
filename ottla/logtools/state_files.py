"""The small files beside a log: transaction index, producer snapshot, checkpoints, properties.

Each parser takes a file's bytes and raises `Malformed` with the byte or line that is wrong.
"""

from __future__ import annotations

from struct import Struct
from typing import NamedTuple


class Malformed(Exception):
    """The file breaks its format at `position`: a byte, or a line of a text file."""

    def __init__(self, position: int, what: str) -> None:
        super().__init__(what)
        self.position = position
        self.what = what


class AbortedTransaction(NamedTuple):
    """An entry of a transaction index."""

    version: int
    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int


class ProducerEntry(NamedTuple):
    """What a snapshot keeps of a producer; `first_open_offset` is -1 without a transaction."""

    producer_id: int
    epoch: int
    last_sequence: int
    last_offset: int
    offset_delta: int
    timestamp: int
    coordinator_epoch: int
    first_open_offset: int


_ABORTED = Struct(">hqqqq")
_SNAPSHOT = Struct(">hIi")
_PRODUCER = Struct(">qhiqiqiq")


def parse_transaction_index(data: bytes) -> list[AbortedTransaction]:
    whole = len(data) - len(data) % _ABORTED.size
    entries = [AbortedTransaction(*entry) for entry in _ABORTED.iter_unpack(data[:whole])]
    for number, entry in enumerate(entries):
        if entry.version != 0:
            raise Malformed(number * _ABORTED.size, f"version {entry.version}")
    if whole != len(data):
        raise Malformed(whole, f"{len(data) - whole} bytes are no whole entry")
    return entries


def parse_snapshot(data: bytes) -> list[ProducerEntry]:
    if len(data) < _SNAPSHOT.size:
        raise Malformed(0, f"{len(data)} bytes are fewer than a header")
    version, _, count = _SNAPSHOT.unpack_from(data)
    if version != 1:
        raise Malformed(0, f"version {version}")
    if len(data) != _SNAPSHOT.size + count * _PRODUCER.size:
        raise Malformed(6, f"{count} producers in {len(data)} bytes")
    return [ProducerEntry(*entry) for entry in _PRODUCER.iter_unpack(data[_SNAPSHOT.size :])]
