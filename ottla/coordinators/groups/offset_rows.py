"""A commit of many offsets at once.

Their rows in the request are of one length, and so are the values and most else of their records:
all are taken apart and put together in a few calls, where a hundred would take a hundred each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import chain
from struct import Struct
from typing import NamedTuple

from ottla.coordinators.groups.answers import TopicPartition
from ottla.coordinators.groups.committing import meaning
from ottla.coordinators.groups.partition import GroupPartition, HostedGroup
from ottla.coordinators.groups.records import PLAIN_BYTES, offset_key, plain_value
from ottla.protocol.errors import ErrorCode
from ottla.protocol.plain_commit import index_columns
from ottla.protocol.varint import write_varint

# Of offset deltas as varints: where they grow by a byte, and the bytes of those of two.
_TWO_FROM, _THREE_FROM = 1 << 6, 1 << 13
_LOW = bytes(2 * delta & 0x7F | 0x80 for delta in range(_THREE_FROM))
_HIGH = bytes(2 * delta >> 7 for delta in range(_THREE_FROM))
_INDEX_BYTES = 4
_NO_HEADERS = b"\0"
_OFFSET_AND_EPOCH = "4x12s2x"  # of a row of the request, as they stand in a value
_BEFORE_OFFSET, _BEHIND_EPOCH = slice(0, 2), slice(14, None)  # of a value
_MOST_KEPT = 1_000  # partitions of a topic; more take more memory than they save time


class OffsetRows(NamedTuple):
    """Of one topic: which partitions, and the rows of the request, `ROW_BYTES` for each."""

    topic: str
    places: Sequence[TopicPartition]
    rows: bytes


class _Form(NamedTuple):
    """From the end of a record to the value of the next; its delta and partition are left open."""

    start: bytes
    delta_at: int
    index_at: int


@lru_cache(maxsize=10_000)  # groups and topics come again with each commit
def _form(key_start: bytes, topic: str, delta_bytes: int) -> _Form:
    key = offset_key(key_start, topic, 0)
    value_bytes = write_varint(PLAIN_BYTES)
    # Attributes and timestamp come first, and are 0.
    head = b"\0\0" + bytes(delta_bytes) + write_varint(len(key)) + key + value_bytes
    length = write_varint(len(head) + PLAIN_BYTES + len(_NO_HEADERS))
    start = _NO_HEADERS + length + head
    index_at = len(start) - len(value_bytes) - _INDEX_BYTES
    return _Form(start, len(start) - len(head) + 2, index_at)


class CommittedRows:
    """The records of one topic in a commit. Keeps the port `effects.RecordRows`."""

    __slots__ = ("_key_start", "_now_ms", "_offsets", "_values", "count", "size_bytes")

    def __init__(self, offsets: OffsetRows, key_start: bytes, *, now_ms: int) -> None:
        self.count = len(offsets.places)
        self._key_start = key_start
        self._offsets = offsets
        self._now_ms = now_ms
        self._values: Sequence[bytes] = ()
        widest = len(_form(key_start, offsets.topic, 3).start) + PLAIN_BYTES + len(_NO_HEADERS)
        self.size_bytes = self.count * widest

    @property
    def places(self) -> Sequence[TopicPartition]:
        return self._offsets.places

    @property
    def values(self) -> Sequence[bytes]:
        if not self._values:
            value = plain_value(0, 0, self._now_ms)
            start, end = value[_BEFORE_OFFSET], value[_BEHIND_EPOCH]
            rows = _split(_OFFSET_AND_EPOCH, self.count, self._offsets.rows)
            joined = start + (end + start).join(rows) + end
            self._values = _split(f"{PLAIN_BYTES}s", self.count, joined)
        return self._values

    def encode(self, first: int) -> bytes:
        """As the records from that number on of a batch."""
        starts = _starts if self.count <= _MOST_KEPT else _starts.__wrapped__
        parts = [_NO_HEADERS] * (2 * self.count + 1)
        columns = index_columns(self._offsets.rows)
        parts[0:-1:2] = starts(self._key_start, self._offsets.topic, columns, first)
        parts[1::2] = self.values
        return b"".join(parts)


def _split(each: str, count: int, data: bytes | bytearray) -> Sequence[bytes]:
    if count <= _MOST_KEPT:
        return _struct(each * count).unpack(data)
    return [*chain.from_iterable(_struct(each).iter_unpack(data))]


_struct = lru_cache(maxsize=1_000)(Struct)


@lru_cache(maxsize=100)  # a consumer commits the same partitions again and again
def _starts(key_start: bytes, topic: str, columns: bytes, first: int) -> Sequence[bytes]:
    """What stands before the values. But for the first, they begin with the end of the last."""
    count = len(columns) // _INDEX_BYTES
    end, starts = first + count, list[bytes]()
    limits = (0, _TWO_FROM, _THREE_FROM, end)
    for width in (1, 2, 3):
        deltas = range(max(first, limits[width - 1]), min(end, limits[width]))
        if deltas:
            form, skipped = _form(key_start, topic, width), deltas[0] - first
            rows = [columns[at + skipped :][: len(deltas)] for at in range(0, len(columns), count)]
            starts += _filled(form, deltas, width, rows)
    starts[0] = starts[0][len(_NO_HEADERS) :]
    return starts


def _filled(form: _Form, deltas: range, width: int, rows: Sequence[bytes]) -> Sequence[bytes]:
    """A start for each delta; of `rows`, the first is the first byte of every partition."""
    size, out = len(form.start), bytearray(form.start * len(deltas))
    for at, column in enumerate(_delta_columns(deltas, width), form.delta_at):
        out[at::size] = column
    for at, column in enumerate(rows, form.index_at):
        out[at::size] = column
    return _split(f"{size}s", len(deltas), out)


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
                offsets.apply_together(each.places, each.values, position=self._position)
        self._to(meaning(error))
