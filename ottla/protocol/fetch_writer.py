"""Fetch answers as nearly all are: partitions without errors, and records that lie elsewhere.

Says the same as the declared schema's writer, in a third of the time. For the versions from 10 on,
which may carry every codec; whatever has errors or aborted transactions is the schema's.
"""

from __future__ import annotations

from struct import Struct

from ottla.protocol.primitives import RecordsElsewhere
from ottla.protocol.varint import write_uvarint

PLAIN_FROM = 10
_FLEXIBLE_FROM = 12
_TOPIC_IDS_FROM = 13
_INT16 = Struct(">h")
_INT32 = Struct(">i")
_HEAD = Struct(">iihii")  # correlation id, throttle time, error, session, number of topics
_FLEXIBLE_HEAD = Struct(">iBihi")  # the same with a header's tags; the number follows
# Index, error, three offsets, number of aborted transactions, preferred replica, length of records.
_PARTITION = {10: Struct(">ihqqqii"), 11: Struct(">ihqqqiii")}
_FLEXIBLE_PARTITION = Struct(">ihqqqBi")  # the length follows
_NOBODY = -1
_NO_TAGS = b"\0"

Piece = bytes | RecordsElsewhere


class FetchWriter:
    """Call `topic`, then `partition` for each of its partitions, and so on; at last `pieces`."""

    __slots__ = ("_is_flexible", "_open", "_parts", "_pieces", "_version")

    def __init__(
        self, version: int, *, correlation_id: int, session_id: int, topic_count: int
    ) -> None:
        self._version = version
        self._is_flexible = version >= _FLEXIBLE_FROM
        self._pieces: list[Piece] = []
        self._open = 0  # partitions that the topic still has to get
        if self._is_flexible:
            head = _FLEXIBLE_HEAD.pack(correlation_id, 0, 0, 0, session_id)
            self._parts = [head, write_uvarint(topic_count + 1)]
        else:
            self._parts = [_HEAD.pack(correlation_id, 0, 0, session_id, topic_count)]

    def topic(self, name: str, topic_id: bytes, *, partition_count: int) -> None:
        self._open = partition_count
        if not self._is_flexible:
            encoded = name.encode()
            self._parts += (_INT16.pack(len(encoded)), encoded, _INT32.pack(partition_count))
            return
        if self._version >= _TOPIC_IDS_FROM:
            self._parts.append(topic_id)
        else:
            encoded = name.encode()
            self._parts += (write_uvarint(len(encoded) + 1), encoded)
        self._parts.append(write_uvarint(partition_count + 1))

    def partition(
        self,
        index: int,
        high_watermark: int,
        last_stable_offset: int,
        log_start_offset: int,
        *,
        reads_committed: bool,
        records: Piece,
    ) -> None:
        """Who reads committed records is told of no aborted transactions; others of nothing."""
        size_bytes = len(records)
        offsets = high_watermark, last_stable_offset, log_start_offset
        aborted = reads_committed - 1  # an empty list, or null
        self._open -= 1
        if self._is_flexible:
            self._parts += (
                _FLEXIBLE_PARTITION.pack(index, 0, *offsets, aborted + 1, _NOBODY),
                write_uvarint(size_bytes + 1),
            )
        else:
            replica = (_NOBODY,) if self._version > PLAIN_FROM else ()
            pack = _PARTITION[self._version].pack
            self._parts.append(pack(index, 0, *offsets, aborted, *replica, size_bytes))
        if size_bytes:
            self._pieces += (b"".join(self._parts), records)
            self._parts = []
        if self._is_flexible:
            self._parts.append(_NO_TAGS if self._open else _NO_TAGS * 2)  # the topic's, too

    def pieces(self) -> list[Piece]:
        """The whole frame, size included."""
        if self._is_flexible:
            self._parts.append(_NO_TAGS)
        if self._parts:
            self._pieces.append(b"".join(self._parts))
        pieces, first = self._pieces, self._pieces[0]
        assert isinstance(first, bytes)
        pieces[0] = _INT32.pack(sum(map(len, pieces))) + first
        return pieces
