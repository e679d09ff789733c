"""Produce requests read where they lie: which bytes of the frame are whose records.

Says the same as the declared schema's reader, but copies nothing, so that batches can be patched
and written from the buffer they were received in.
"""

from __future__ import annotations

from struct import Struct
from typing import NamedTuple

from ottla.protocol.errors import ProtocolError

_INT16 = Struct(">h")
_INT32 = Struct(">i")
_FLEXIBLE_FROM = 9
_TRANSACTIONAL_ID_FROM = 3


class PartitionRecords(NamedTuple):
    """Where a partition's records are in the buffer; null records have no `start`."""

    partition_index: int
    start: int
    end: int


class ProduceFrame(NamedTuple):
    """A request; `prefix_end` is where the length of the first records stands."""

    client_id: str | None
    transactional_id: str | None
    acks: int
    timeout_ms: int
    topics: list[tuple[str, list[PartitionRecords]]]
    prefix_end: int


class _Cursor:
    def __init__(self, buffer: bytearray | bytes, position: int, end: int, version: int) -> None:
        self.buffer = buffer
        self.position = position
        self.end = end
        self.version = version
        self.is_flexible = version >= _FLEXIBLE_FROM

    def take(self, count: int, what: str) -> int:
        position = self.position
        if count < 0 or position + count > self.end:
            cause = f"{self.end - position} bytes are left, {count} are needed"
            reading = f"ProduceRequest v{self.version}"
            raise ProtocolError(cause, reading=reading, path=what, offset=position)
        self.position = position + count
        return position

    def int16(self, what: str) -> int:
        value: int = _INT16.unpack_from(self.buffer, self.take(2, what))[0]
        return value

    def int32(self, what: str) -> int:
        value: int = _INT32.unpack_from(self.buffer, self.take(4, what))[0]
        return value

    def uvarint(self, what: str) -> int:
        position = self.position
        if position < self.end and (value := self.buffer[position]) < 0x80:
            self.position = position + 1  # of one byte, as nearly all are
            return value
        value = shift = 0
        while shift < 35:
            byte = self.buffer[self.take(1, what)]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7
        cause = "a varint of more than five bytes"
        raise ProtocolError(cause, reading=f"ProduceRequest v{self.version}", path=what)

    def length(self, what: str) -> int:
        """Of an array or of records; -1 is null."""
        return self.uvarint(what) - 1 if self.is_flexible else self.int32(what)

    def text(self, what: str, *, compact: bool) -> str | None:
        length = self.uvarint(what) - 1 if compact else self.int16(what)
        if length == -1:
            return None
        start = self.take(length, what)
        try:
            return self.buffer[start : start + length].decode()
        except UnicodeDecodeError as error:
            reading = f"ProduceRequest v{self.version}"
            cause = f"not UTF-8: {error.reason}"
            raise ProtocolError(cause, reading=reading, path=what, offset=start) from None

    def skip_tags(self) -> None:
        if self.is_flexible:
            for _ in range(self.uvarint("tags")):
                self.uvarint("tags")
                self.take(self.uvarint("tags"), "tags")


def read_produce(buffer: bytearray | bytes, start: int, end: int, *, version: int) -> ProduceFrame:
    """The request in `buffer[start:end]`, whose key, version and correlation id were read."""
    cursor = _Cursor(buffer, start + 8, end, version)
    client_id = cursor.text("client_id", compact=False)
    cursor.skip_tags()
    transactional_id = None
    if version >= _TRANSACTIONAL_ID_FROM:
        transactional_id = cursor.text("transactional_id", compact=cursor.is_flexible)
    acks = cursor.int16("acks")
    timeout_ms = cursor.int32("timeout_ms")
    topics = []
    prefix_end = 0
    for _ in range(_count(cursor, "topic_data")):
        name = cursor.text("name", compact=cursor.is_flexible)
        if name is None:
            raise ProtocolError("null", reading=f"ProduceRequest v{version}", path="name")
        partitions = []
        for _ in range(_count(cursor, "partition_data")):
            index = cursor.int32("index")
            prefix_end = prefix_end or cursor.position
            length = cursor.length("records")
            records = cursor.take(length, "records") if length != -1 else -1
            cursor.skip_tags()
            partitions.append(PartitionRecords(index, records, records + length))
        cursor.skip_tags()
        topics.append((name, partitions))
    cursor.skip_tags()
    return ProduceFrame(client_id, transactional_id, acks, timeout_ms, topics, prefix_end)


def _count(cursor: _Cursor, what: str) -> int:
    count = cursor.length(what)
    # Every element takes at least a byte, so a lie about the number ends before memory does.
    if not 0 <= count <= cursor.end - cursor.position:
        reading = f"ProduceRequest v{cursor.version}"
        raise ProtocolError(f"{count} elements", reading=reading, path=what)
    return count
