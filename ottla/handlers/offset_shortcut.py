"""The commit of one offset that looks like the one before it, by far the most of all commits.

The same as `commit_shortcut.py` does of any number, in half the time; it is asked wherever
something is not as it was.
"""

from __future__ import annotations

from ottla.coordinators.groups.offset_rows import OffsetRows
from ottla.coordinators.groups.repeated_commit import Committer, RepeatedCommit
from ottla.handlers.commit_rows import known_rows
from ottla.handlers.commit_shortcut import COMMIT, TAGS_BYTES, CommitShortcut
from ottla.handlers.repeated import CORRELATION_ID, HEAD_BYTES
from ottla.handlers.services import Services
from ottla.network.connection import Connection
from ottla.network.pieces import Piece
from ottla.protocol.apis.offset_commit import OffsetCommitRequest
from ottla.protocol.errors import ErrorCode
from ottla.protocol.plain_commit import FLEXIBLE_FROM, ROW_BYTES, PlainPartitions, are_plain

# Behind the leader epoch: no metadata or an empty text, and no tags of anything.
_ENDS = (bytes(4), b"\1\0\0\0")
_INDEX_BYTES, _OFFSET_AND_EPOCH_BYTES = 4, 12


class OffsetShortcut(CommitShortcut):
    """It blocks its connection until it is answered: so it is itself what is owed."""

    __slots__ = (
        "_answer_rest", "_answer_size", "_commit", "_connection", "_correlation_id",
        "_offset_at", "_place", "_requests", "_start", "_who", "pieces",
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
        super().__init__(services, request, offsets, frame=frame, version=version)
        self._who = Committer(
            request.group_id,
            request.member_id,
            request.group_instance_id,
            request.generation_id_or_member_epoch,
        )
        (self._place,) = offsets.places
        self._requests = services.requests.of(COMMIT, version)
        self._start = self._prefix + offsets.rows[:_INDEX_BYTES]
        self._offset_at = HEAD_BYTES + len(self._start)
        self._answer_size, self._answer_rest = self.answer[:4], self.answer[8:]
        self._commit: RepeatedCommit | None = None
        self._connection: Connection | None = None
        self.pieces: list[Piece] | None = None

    def serve(self, connection: Connection, start: int, end: int) -> bool:
        buffer, services = connection.buffer, self._services
        if (
            end - start != self._frame_bytes
            or connection.waiting
            or not buffer.startswith(self._key_and_version, start)
            or not buffer.startswith(self._start, start + HEAD_BYTES)
            or not buffer.startswith(_ENDS, end - 4)
            or services.metadata.image.topics.get(self._place[0]) is not self._image
        ):
            return False
        at, commit = start + self._offset_at, self._commit
        if commit is None or not commit.begin(
            buffer[at : at + _OFFSET_AND_EPOCH_BYTES], self._told
        ):
            self._commit = services.groups.repeated_commit(self._who, self._place)
            return super().serve(connection, start, end)
        self._requests.count += 1
        self._connection = connection
        self._correlation_id = buffer[start + 4 : start + HEAD_BYTES]
        connection.owe(self, blocks=True)
        return True

    def _told(self, error: ErrorCode) -> None:
        """By the log, which never does so at once."""
        if error:
            self.count_error(error)
            answer = self.answer_to(CORRELATION_ID.unpack(self._correlation_id)[0], error)
        else:
            answer = self._answer_size + self._correlation_id + self._answer_rest
        connection, self._connection = self._connection, None  # which refers to us
        assert connection is not None
        connection.settle_with(answer)


def shortcut_for(
    request: OffsetCommitRequest, services: Services, *, frame: bytes, version: int
) -> CommitShortcut | None:
    """None where there is none: of several topics, or with metadata, or in old versions."""
    if version < FLEXIBLE_FROM or len(request.topics) != 1 or services.quotas is not None:
        return None
    (topic,) = request.topics
    size = len(topic.partitions) * ROW_BYTES
    rows = frame[-size - TAGS_BYTES : -TAGS_BYTES]
    # Bytes may follow the request, and mean nothing: then these are not its rows.
    if not are_plain(rows, len(topic.partitions)) or frame[-TAGS_BYTES:] != bytes(TAGS_BYTES):
        return None
    plain = PlainPartitions(rows)
    named: object = topic.partitions
    if rows != named.rows if isinstance(named, PlainPartitions) else list(plain) != named:
        return None
    offsets = known_rows(topic.name, plain, services.metadata.image)
    if offsets is None:
        return None
    kind = OffsetShortcut if len(plain) == 1 else CommitShortcut
    return kind(services, request, offsets, frame=frame, version=version)
