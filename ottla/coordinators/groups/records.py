"""The records of `__consumer_offsets`, as Kafka 3.9 writes them and as any Kafka wrote them.

Offsets are read and written by hand: there are a hundred thousand a second, and a million in a log.
The declared messages in `protocol/internal` say the same, and the tests hold both together.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from struct import Struct
from struct import error as StructError
from typing import NamedTuple

from ottla.coordinators.effects import Record
from ottla.protocol.codec import decode
from ottla.protocol.errors import ProtocolError
from ottla.protocol.internal.group_metadata import GroupMetadataKey, GroupMetadataValue
from ottla.protocol.internal.offset_commit import OffsetCommitKey, OffsetCommitValue

GROUP_KEY_VERSION = 2

_SIZE = Struct(">h")
_KEY_START = Struct(">hh")
_INT32 = Struct(">i")
_INT64 = Struct(">q")
_OFFSET_EPOCH_SIZE = Struct(">hqih")  # value version 3 up to its metadata
_OFFSET_SIZE = Struct(">hqh")  # value version 1 up to its metadata
_TWO_INT64 = Struct(">qq")
_WITHOUT_METADATA = Struct(">hqihq")  # a whole value of version 3, when there is no metadata
_VERSION_3, _END_OF_PLAIN = b"\0\3", Struct(">2xq")  # of one such
PLAIN_BYTES = _WITHOUT_METADATA.size
NOTHING_COMMITTED = _WITHOUT_METADATA.pack(3, -1, -1, 0, 0)  # in a row of plain values


class CommittedOffset(NamedTuple):
    offset: int
    leader_epoch: int
    metadata: str
    commit_ms: int
    expire_ms: int | None = None  # None: when it expires depends on the group


class OffsetKey(NamedTuple):
    group: str
    topic: str
    partition: int


class GroupKey(NamedTuple):
    group: str


def parse_key(key: bytes | None) -> OffsetKey | GroupKey | None:
    """None: a kind of record that this coordinator does not know, and passes over."""
    if key is None or len(key) < 2:
        raise ProtocolError("the key is too short", reading="a record's key")
    (version,) = _SIZE.unpack_from(key)
    if version in (0, 1):
        offset = decode(OffsetCommitKey, key[2:], version)
        return OffsetKey(offset.group, offset.topic, offset.partition)
    if version == GROUP_KEY_VERSION:
        return GroupKey(decode(GroupMetadataKey, key[2:], version).group)
    return None


def parse_offset_value(value: bytes) -> CommittedOffset:
    try:
        version, offset, leader_epoch, size = _OFFSET_EPOCH_SIZE.unpack_from(value)
        if version == 3 and size >= 0:
            metadata = value[16 : 16 + size].decode() if size else ""
            (commit_ms,) = _INT64.unpack_from(value, 16 + size)
            return CommittedOffset(offset, leader_epoch, metadata, commit_ms)
    except (StructError, UnicodeDecodeError):
        pass  # perhaps an older, shorter form; if not, the decoder says what is wrong
    found = decode(OffsetCommitValue, value[2:], _version(value))
    expire_ms = found.expire_timestamp if found.expire_timestamp >= 0 else None
    return CommittedOffset(
        found.offset, found.leader_epoch, found.metadata, found.commit_timestamp, expire_ms
    )


def check_offset_value(value: bytes) -> None:
    """Raises ProtocolError unless it can be read; in nearly all cases without reading it."""
    if len(value) != _WITHOUT_METADATA.size or value[:2] != b"\0\3" or value[14:16] != b"\0\0":
        parse_offset_value(value)


def join_plain(values: Sequence[bytes]) -> bytes | None:
    """All in one, if each is a whole PLAIN_BYTES long: of version 3 and without metadata."""
    joined, count = b"".join(values), len(values)
    zeros = bytes(count)
    is_plain = (
        set(map(len, values)) <= {PLAIN_BYTES}
        and joined[0::PLAIN_BYTES] == joined[14::PLAIN_BYTES] == joined[15::PLAIN_BYTES] == zeros
        and joined[1::PLAIN_BYTES] == b"\3" * count
    )
    return joined if is_plain else None


def parse_group_value(value: bytes) -> GroupMetadataValue:
    return decode(GroupMetadataValue, value[2:], _version(value))


def _version(value: bytes) -> int:
    if len(value) < 2:
        raise ProtocolError("the value is too short", reading="a record's value")
    return int.from_bytes(value[:2], "big", signed=True)


def offset_key_start(group_id: str) -> bytes:
    """What the keys of all offsets of a group begin with."""
    name = group_id.encode()
    return _KEY_START.pack(1, len(name)) + name


@lru_cache(maxsize=10_000)  # topics are few and come again with each commit
def _string(text: str) -> bytes:
    data = text.encode()
    return _SIZE.pack(len(data)) + data


def offset_key(start: bytes, topic: str, partition: int) -> bytes:
    return start + _string(topic) + _INT32.pack(partition)


def offset_value(committed: CommittedOffset) -> bytes:
    """Version 3; with a time of its own to expire at, version 1, which has no leader epoch."""
    offset, leader_epoch, metadata, commit_ms, expire_ms = committed
    if expire_ms is not None:
        data = metadata.encode()
        start = _OFFSET_SIZE.pack(1, offset, len(data))
        return start + data + _TWO_INT64.pack(commit_ms, expire_ms)
    if not metadata:
        return plain_value(offset, leader_epoch, commit_ms)
    data = metadata.encode()
    start = _OFFSET_EPOCH_SIZE.pack(3, offset, leader_epoch, len(data))
    return start + data + _INT64.pack(commit_ms)


def plain_value(offset: int, leader_epoch: int, commit_ms: int) -> bytes:
    """`offset_value` of what has neither metadata nor a time to expire at."""
    return _WITHOUT_METADATA.pack(3, offset, leader_epoch, 0, commit_ms)


def plain_value_of(offset_and_epoch: bytes | bytearray, commit_ms: int) -> bytes:
    """`plain_value`, of an offset and a leader epoch as they stand in a request."""
    return _VERSION_3 + offset_and_epoch + _END_OF_PLAIN.pack(commit_ms)


def group_tombstone(group_id: str) -> Record:
    name = group_id.encode()
    return Record(_KEY_START.pack(GROUP_KEY_VERSION, len(name)) + name, None)
