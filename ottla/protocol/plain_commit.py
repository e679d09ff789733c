"""A commit of many offsets without metadata, as nearly all are: read without taking it apart."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct, error
from typing import Any, NamedTuple, overload

from ottla.protocol.apis.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from ottla.protocol.varint import read_uvarint

FLEXIBLE_FROM = 8
# Partition, offset, leader epoch; then metadata that is null or empty, and no tags.
ROW_BYTES = 18
_ROW = Struct(">iqi2x")
_METADATA_AT, _TAGS_AT = 16, 17
_INT32 = Struct(">i")
_FEWEST_BYTES = 10 * ROW_BYTES  # with fewer, each for itself is as fast


class PlainPartitions(Sequence[OffsetCommitRequestPartition]):
    """The rows of a request; each is made an object only when it is looked at."""

    __slots__ = ("rows",)

    def __init__(self, rows: bytes) -> None:
        self.rows = rows

    def __len__(self) -> int:
        return len(self.rows) // ROW_BYTES

    @overload
    def __getitem__(self, at: int) -> OffsetCommitRequestPartition: ...
    @overload
    def __getitem__(self, at: slice) -> list[OffsetCommitRequestPartition]: ...
    def __getitem__(
        self, at: int | slice
    ) -> OffsetCommitRequestPartition | list[OffsetCommitRequestPartition]:
        if isinstance(at, slice):
            return [self[number] for number in range(*at.indices(len(self)))]
        if not 0 <= at < len(self):
            raise IndexError(at)
        index, offset, leader_epoch = _ROW.unpack_from(self.rows, at * ROW_BYTES)
        is_null = not self.rows[at * ROW_BYTES + _METADATA_AT]
        return OffsetCommitRequestPartition(
            partition_index=index,
            committed_offset=offset,
            committed_leader_epoch=leader_epoch,
            committed_metadata=None if is_null else "",
        )


def index_columns(rows: bytes) -> bytes:
    """The partitions' first bytes, then their second, and so on: what `read_indexes` takes."""
    if len(rows) == ROW_BYTES:
        return rows[:4]
    return rows[0::ROW_BYTES] + rows[1::ROW_BYTES] + rows[2::ROW_BYTES] + rows[3::ROW_BYTES]


def read_indexes(columns: bytes) -> list[int]:
    count = len(columns) // 4
    data = bytearray(len(columns))
    for byte in range(4):
        data[byte::4] = columns[byte * count : (byte + 1) * count]
    return list(Struct(f">{count}i").unpack(data))


class _Text(NamedTuple):
    text: str | None
    end: int


def read_plain_commit(frame: bytes, version: int, position: int) -> OffsetCommitRequest | None:
    """None if it is another kind of request, or none at all: the codec has to judge."""
    if version < FLEXIBLE_FROM or len(frame) - position < _FEWEST_BYTES:
        return None
    try:
        return _read(frame, position)
    except (IndexError, ValueError, error):
        return None


def _read(frame: bytes, position: int) -> OffsetCommitRequest | None:
    group_id, position = _text(frame, position)
    (generation,) = _INT32.unpack_from(frame, position)
    member_id, position = _text(frame, position + _INT32.size)
    instance_id, position = _text(frame, position)
    count, position = read_uvarint(frame, position)
    topics = []
    for _ in range(count - 1):
        name, position = _text(frame, position)
        size, position = read_uvarint(frame, position)
        rows = frame[position : position + (size - 1) * ROW_BYTES]
        position += len(rows)
        if name is None or not are_plain(rows, size - 1) or frame[position]:
            return None
        position += 1
        partitions: Any = PlainPartitions(rows)  # as good as the list that is declared
        topics.append(OffsetCommitRequestTopic(name=name, partitions=partitions))
    if group_id is None or member_id is None or not topics or frame[position]:
        return None
    return OffsetCommitRequest(
        group_id=group_id,
        generation_id_or_member_epoch=generation,
        member_id=member_id,
        group_instance_id=instance_id,
        topics=topics,
    )


def _text(frame: bytes, position: int) -> _Text:
    size, start = read_uvarint(frame, position)
    if not size:
        return _Text(None, start)
    end = start + size - 1
    if end > len(frame):
        raise IndexError(end)
    return _Text(frame[start:end].decode(), end)


def are_plain(rows: bytes, count: int) -> bool:
    """Whether they are so many rows, each without metadata and tags."""
    return (
        len(rows) == count * ROW_BYTES > 0
        and not rows[_METADATA_AT::ROW_BYTES].strip(b"\0\1")
        and rows[_TAGS_AT::ROW_BYTES] == bytes(count)
    )
