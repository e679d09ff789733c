"""A commit of many offsets at once, column by column.

Their rows in the request are of one length, and so are their records: a byte of all of them is a
slice with a step. A hundred offsets take a few dozen slices, instead of a hundred objects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import chain
from struct import Struct
from typing import NamedTuple

from ottla.coordinators.groups.answers import TopicPartition
from ottla.coordinators.groups.committing import meaning
from ottla.coordinators.groups.partition import GroupPartition, HostedGroup
from ottla.coordinators.groups.records import (
    PLAIN_BYTES,
    offset_key,
    plain_value,
)
from ottla.protocol.errors import ErrorCode
from ottla.protocol.plain_commit import ROW_BYTES
from ottla.protocol.varint import write_varint

# Of offset deltas as varints: where they grow by a byte, and the bytes of those of two.
_TWO_FROM, _THREE_FROM = 1 << 6, 1 << 13
_LOW = bytes(2 * delta & 0x7F | 0x80 for delta in range(_THREE_FROM))
_HIGH = bytes(2 * delta >> 7 for delta in range(_THREE_FROM))
_VALUE = Struct(f"{PLAIN_BYTES}s")
_OFFSET_AT = 2  # in a value; the leader epoch follows
_FROM_ROW = range(4, 16)  # offset and leader epoch, in a row of the request
_INDEX_BYTES = 4
_NO_HEADERS = b"\0"


class OffsetRows(NamedTuple):
    """Of one topic: which partitions, and the rows of the request, `ROW_BYTES` for each."""

    topic: str
    places: Sequence[TopicPartition]
    rows: bytes


class _Form(NamedTuple):
    """A record up to its value, where the offset delta and the partition are to be filled in."""

    start: bytes
    delta_at: int
    index_at: int


@lru_cache(maxsize=10_000)  # groups and topics come again with each commit
def _form(key_start: bytes, topic: str, delta_bytes: int) -> _Form:
    key = offset_key(key_start, topic, 0)
    value_bytes = write_varint(PLAIN_BYTES)
    # Attributes and timestamp come first, and are 0.
    head = b"\0\0" + bytes(delta_bytes) + write_varint(len(key)) + key + value_bytes
    start = write_varint(len(head) + PLAIN_BYTES + len(_NO_HEADERS)) + head
    index_at = len(start) - len(value_bytes) - _INDEX_BYTES
    return _Form(start, len(start) - len(head) + 2, index_at)


class CommittedRows:
    """The records of one topic in a commit. Keeps the port `effects.RecordRows`."""

    __slots__ = ("_key_start", "_now_ms", "_offsets", "count", "size_bytes")

    def __init__(self, offsets: OffsetRows, key_start: bytes, *, now_ms: int) -> None:
        self.count = len(offsets.places)
        self._key_start = key_start
        self._offsets = offsets
        self._now_ms = now_ms
        widest = len(_form(key_start, offsets.topic, 3).start) + PLAIN_BYTES + len(_NO_HEADERS)
        self.size_bytes = self.count * widest

    def encode(self, first: int) -> bytes:
        """As the records from that number on of a batch."""
        end, parts = first + self.count, list[bytes]()
        limits = (0, _TWO_FROM, _THREE_FROM, end)
        for width in (1, 2, 3):
            deltas = range(max(first, limits[width - 1]), min(end, limits[width]))
            if deltas:
                parts.append(self._records(deltas, width, skipped=deltas[0] - first))
        return b"".join(parts)

    def _records(self, deltas: range, width: int, *, skipped: int) -> bytes:
        form = _form(self._key_start, self._offsets.topic, width)
        rows = self._offsets.rows[skipped * ROW_BYTES : (skipped + len(deltas)) * ROW_BYTES]
        out = self._values(rows, before=form.start, after=_NO_HEADERS)
        size = len(out) // len(deltas)
        for at, column in enumerate(_delta_columns(deltas, width), form.delta_at):
            out[at::size] = column
        for byte in range(_INDEX_BYTES):
            out[form.index_at + byte :: size] = rows[byte::ROW_BYTES]
        return bytes(out)

    def _values(self, rows: bytes, *, before: bytes, after: bytes) -> bytearray:
        one = before + plain_value(0, 0, self._now_ms) + after
        out = bytearray(one * (len(rows) // ROW_BYTES))
        for at, byte in enumerate(_FROM_ROW, len(before) + _OFFSET_AT):
            out[at :: len(one)] = rows[byte::ROW_BYTES]
        return out

    @property
    def places(self) -> Sequence[TopicPartition]:
        return self._offsets.places

    @property
    def each_value(self) -> Iterator[bytes]:
        values = self._values(self._offsets.rows, before=b"", after=b"")
        return chain.from_iterable(_VALUE.iter_unpack(values))


def _delta_columns(deltas: range, width: int) -> list[bytes]:
    if width == 1:
        return [bytes(range(2 * deltas[0], 2 * deltas[-1] + 1, 2))]
    if width == 2:
        return [_LOW[deltas[0] : deltas[-1] + 1], _HIGH[deltas[0] : deltas[-1] + 1]]
    return [
        bytes(2 * delta & 0x7F | 0x80 for delta in deltas),
        bytes(2 * delta >> 7 & 0x7F | 0x80 for delta in deltas),
        bytes(2 * delta >> 14 for delta in deltas),
    ]


class RowsCommit:
    """As `committing.Commit`, with one outcome for all."""

    __slots__ = ("_hosted", "_position", "_rows", "_to")

    def __init__(
        self,
        hosted: HostedGroup,
        offsets: Sequence[OffsetRows],
        to: Callable[[ErrorCode], None],
        *,
        now_ms: int,
    ) -> None:
        self._hosted = hosted
        self._to = to
        self._position = 0
        self._rows = [CommittedRows(each, hosted.key_start, now_ms=now_ms) for each in offsets]

    def begin(self, partition: GroupPartition) -> None:
        self._position = partition.next_position()
        self._hosted.offsets.stage_together(self, [each.places for each in self._rows])
        size_bytes = sum(each.size_bytes for each in self._rows)
        partition.runtime.append_rows(self._rows, self._stored, size_bytes=size_bytes)

    def _stored(self, error: ErrorCode) -> None:
        offsets = self._hosted.offsets
        offsets.unstage_together(self)
        if error is ErrorCode.NONE:
            for each in self._rows:
                offsets.apply_together(each.places, each.each_value, position=self._position)
        self._to(meaning(error))
