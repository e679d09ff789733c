"""One commit of offsets on its way: into the log, then into the group, then back to its client."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ottla.coordinators.effects import Record
from ottla.coordinators.groups.answers import NO_TIMESTAMP, OffsetToCommit, TopicPartition
from ottla.coordinators.groups.partition import GroupPartition, HostedGroup
from ottla.coordinators.groups.records import CommittedOffset, offset_key, offset_value
from ottla.coordinators.log import Producer
from ottla.protocol.errors import ErrorCode

Answer = dict[TopicPartition, ErrorCode]

_LATEST_MS = 2**63 - 1
_E = ErrorCode
_MEANINGS = {
    _E.UNKNOWN_TOPIC_OR_PARTITION: _E.COORDINATOR_NOT_AVAILABLE,
    _E.NOT_ENOUGH_REPLICAS: _E.COORDINATOR_NOT_AVAILABLE,
    _E.NOT_ENOUGH_REPLICAS_AFTER_APPEND: _E.COORDINATOR_NOT_AVAILABLE,
    _E.NOT_LEADER_OR_FOLLOWER: _E.NOT_COORDINATOR,
    _E.KAFKA_STORAGE_ERROR: _E.NOT_COORDINATOR,
    _E.MESSAGE_TOO_LARGE: _E.INVALID_COMMIT_OFFSET_SIZE,
    _E.RECORD_LIST_TOO_LARGE: _E.INVALID_COMMIT_OFFSET_SIZE,
    _E.INVALID_FETCH_SIZE: _E.INVALID_COMMIT_OFFSET_SIZE,
    _E.NETWORK_EXCEPTION: _E.COORDINATOR_LOAD_IN_PROGRESS,
}


def meaning(error: ErrorCode) -> ErrorCode:
    """What whoever commits hears when the log refuses the offsets with this error."""
    return _MEANINGS.get(error, error)


class Commit:
    """Staged in the group from `begin` until `_stored`, once.

    A producer's counts only once its transaction does.
    """

    __slots__ = ("_answer", "_hosted", "_partition", "_position", "_producer", "_staged", "_to")

    def __init__(
        self,
        partition: GroupPartition,
        hosted: HostedGroup,
        to: Callable[[Answer], None],
        *,
        producer: Producer | None = None,
    ) -> None:
        self._partition = partition
        self._hosted = hosted
        self._to = to
        self._producer = producer
        self._staged: list[tuple[TopicPartition, bytes]] = []
        self._answer: Answer = {}
        self._position = 0

    def begin(
        self,
        offsets: Sequence[OffsetToCommit],
        *,
        max_metadata: int,
        now_ms: int,
        retention_ms: int = -1,
    ) -> None:
        """Those with too long a text are refused, the others stored; with none left, at once."""
        records = self._stage(offsets, max_metadata, retention_ms, now_ms)
        if not records:
            self._to(self._answer)
            return
        self._position = self._partition.next_position()
        runtime = self._partition.runtime
        if self._producer is None:
            runtime.append(records, self._stored)
        else:
            runtime.append_transactional(records, self._stored, producer=self._producer)

    def _stage(
        self, offsets: Sequence[OffsetToCommit], max_metadata: int, retention_ms: int, now_ms: int
    ) -> list[Record]:
        # A client may ask for longer than there is time in 64 bits.
        expire_ms = None if retention_ms == -1 else min(now_ms + retention_ms, _LATEST_MS)
        hosted, answer, staged = self._hosted, self._answer, self._staged
        records: list[Record] = []
        for topic, partition, offset, leader_epoch, metadata, commit_ms in offsets:
            place = (topic, partition)
            if metadata and not _fits(metadata, max_metadata):
                answer[place] = ErrorCode.OFFSET_METADATA_TOO_LARGE
                continue
            answer[place] = ErrorCode.NONE
            at_ms = now_ms if commit_ms == NO_TIMESTAMP else commit_ms
            committed = CommittedOffset(offset, leader_epoch, metadata or "", at_ms, expire_ms)
            value = offset_value(committed)
            records.append(Record(offset_key(hosted.key_start, topic, partition), value))
            staged.append((place, value))
            hosted.offsets.stage(place)
        return records

    def _stored(self, error: ErrorCode) -> None:
        offsets, answer, producer = self._hosted.offsets, self._answer, self._producer
        code = error and meaning(error)
        for place, value in self._staged:
            offsets.unstage(place)
            if code:
                answer[place] = code
            elif producer is not None:
                offsets.begin_transactional(producer[0], place, value, position=self._position)
            else:
                offsets.apply(place, value, position=self._position)
        if producer is not None and not code:
            self._partition.transaction_began(producer[0], self._hosted)
        self._to(answer)


def _fits(metadata: str, most: int) -> bool:
    """As long as Java says it is: a character beyond the first 65,536 counts as two."""
    length = len(metadata)
    return length <= most and (
        2 * length <= most or length + sum(character > "\uffff" for character in metadata) <= most
    )
