"""The commit that looks like the one before it.

A consumer commits the same partitions again and again; only the offsets change. If all other bytes
are those of the last request, nothing is parsed, and the form of the answer is known.
"""

from __future__ import annotations

from functools import partial

from ottla.coordinators.groups.offset_rows import OffsetRows
from ottla.handlers.commit_rows import answer_parts
from ottla.handlers.offset_rows import join_flexible
from ottla.handlers.repeated import HEAD_BYTES, KEY_AND_VERSION, Repeated
from ottla.handlers.services import Services
from ottla.network.connection import Connection
from ottla.protocol.apis.offset_commit import OffsetCommitRequest
from ottla.protocol.errors import ErrorCode
from ottla.protocol.plain_commit import (
    are_plain,
    index_columns,
)

COMMIT = 8
TAGS_BYTES = 2  # none of the topic, none of the request
_MARKED = 0x0102_0304  # a correlation id


class CommitShortcut:
    """For one connection, version, client, member, generation, topic and set of partitions."""

    __slots__ = (
        "_columns", "_count", "_frame_bytes", "_image", "_key_and_version", "_offsets",
        "_prefix", "_request", "_services", "_version", "answer",
    )  # fmt: skip

    def __init__(
        self,
        services: Services,
        request: OffsetCommitRequest,
        offsets: OffsetRows,
        *,
        frame: bytes,
        version: int,
    ) -> None:
        self._services = services
        self._image = services.metadata.image.topics[offsets.topic]
        self._request = request
        self._offsets = offsets
        self._version = version
        self._count = len(offsets.places)
        self._columns = index_columns(offsets.rows)
        self._frame_bytes = len(frame)
        self._prefix = frame[HEAD_BYTES : -len(offsets.rows) - TAGS_BYTES]
        self._key_and_version = KEY_AND_VERSION.pack(COMMIT, version)
        self.answer = self.answer_to(_MARKED, ErrorCode.NONE)

    def serve(self, connection: Connection, start: int, end: int) -> bool:
        """False, and nothing is done, if anything but the offsets is new."""
        buffer, rows_at = connection.buffer, start + HEAD_BYTES + len(self._prefix)
        if (
            end - start != self._frame_bytes
            or connection.waiting
            or buffer[start : start + 4] != self._key_and_version
            or buffer[start + HEAD_BYTES : rows_at] != self._prefix
            or buffer[end - TAGS_BYTES : end] != b"\0\0"
        ):
            return False
        rows, topic = bytes(connection.view[rows_at : end - TAGS_BYTES]), self._offsets.topic
        if (
            index_columns(rows) != self._columns
            or not are_plain(rows, self._count)
            or self._services.metadata.image.topics.get(topic) is not self._image
        ):
            return False
        self._services.requests.count(COMMIT, self._version)
        repeated = Repeated(connection, start)
        self._begin(rows, repeated)
        repeated.served()
        return True

    def _begin(self, rows: bytes, repeated: Repeated) -> None:
        request, (topic, places, _) = self._request, self._offsets
        self._services.groups.commit_rows(
            request.group_id,
            (OffsetRows(topic, places, rows),),
            partial(self._reply, repeated),
            member_id=request.member_id,
            instance_id=request.group_instance_id,
            generation=request.generation_id_or_member_epoch,
        )

    def _reply(self, repeated: Repeated, error: ErrorCode) -> None:
        if error is ErrorCode.NONE:
            repeated.reply_as(self.answer)
        else:
            self.count_error(error)
            repeated.reply(self.answer_to(repeated.correlation_id, error))

    def count_error(self, error: ErrorCode) -> None:
        """Each partition hears of it."""
        self._services.requests.count_errors(COMMIT, [error] * self._count)

    def answer_to(self, correlation_id: int, error: ErrorCode) -> bytes:
        parts = answer_parts([self._offsets], error)
        return join_flexible(parts, correlation_id=correlation_id, throttle_time_ms=0)
