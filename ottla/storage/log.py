"""The segments of a partition as one sequence of offsets.

Appends of one tick are queued and written together by `commit`: all of them or none. Everything that
an append changes is provisional until then. Time comes with each call; threads and processes stay
outside, and get what they need as values.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from ottla.protocol.errors import ErrorCode, KafkaError
from ottla.protocol.records.batch import BatchHeader
from ottla.storage.config import LogConfig
from ottla.storage.epochs import LeaderEpochs
from ottla.storage.files import Disk, File
from ottla.storage.incoming import Incoming, take, take_as_it_is, takes_batches_as_they_are
from ottla.storage.producers import ProducerStates
from ottla.storage.segment import Append, Segment

_MAX_GROUP_BYTES = 64 * 1024 * 1024


class AppendGroup:
    """The appends that share one write, and why it failed, if it did."""

    __slots__ = ("appends", "error", "next_offset", "size_bytes")

    def __init__(self, next_offset: int) -> None:
        self.appends: list[Append] = []
        self.size_bytes = 0
        self.next_offset = next_offset  # where the log ends if the write fails
        self.error: Exception | None = None


class Appended(NamedTuple):
    """What an append was given. It counts once its group is written; no group: it was a duplicate."""

    first_offset: int
    last_offset: int
    log_append_time: int
    group: AppendGroup | None


class Slice(NamedTuple):
    """Bytes of a segment file, to be read or sent; they begin with a whole batch."""

    file: File
    position: int
    length: int
    first_offset: int

    def read(self) -> bytes:
        return self.file.read(self.position, self.length)


class Log:
    """One partition's batches, from `log_start_offset` up to `next_offset`."""

    def __init__(
        self,
        disk: Disk,
        folder: str,
        config: LogConfig,
        *,
        segments: list[Segment],
        next_offset: int,
        log_start_offset: int,
        recovery_point: int,
        producers: ProducerStates,
        epochs: LeaderEpochs,
        jitter: Callable[[int], int] = lambda most_ms: 0,
    ) -> None:
        assert segments, f"{folder}: a log has at least one segment"
        self.folder = folder
        self.config = config
        self.segments = segments
        self.next_offset = next_offset
        self.log_start_offset = log_start_offset
        self.recovery_point = recovery_point
        self.high_watermark = log_start_offset
        self.producers = producers
        self.epochs = epochs
        self._disk = disk
        self._jitter = jitter
        self._jitter_ms = jitter(config.segment_jitter_ms)
        self._plain = takes_batches_as_they_are(config)
        self._group: AppendGroup | None = None

    # Append

    def append(self, view: memoryview, *, leader_epoch: int, now_ms: int) -> Appended:
        """Queue what a producer sent, its offsets assigned. `view` must stay as it is until `commit`."""
        if self.epochs.latest_epoch != leader_epoch:
            self.start_epoch(leader_epoch)
        incoming = None
        if self._plain:
            incoming = take_as_it_is(
                view, self.config, next_offset=self.next_offset, leader_epoch=leader_epoch
            )
        if incoming is None:
            incoming = take(
                view,
                self.config,
                next_offset=self.next_offset,
                leader_epoch=leader_epoch,
                now_ms=now_ms,
            )
        return self._queue_from_client(incoming, now_ms)

    def _queue_from_client(self, incoming: Incoming, now_ms: int) -> Appended:
        append, header, log_append_time = incoming
        if header is None or header.producer_id < 0:
            group = self._make_room(append, now_ms)
        else:
            header = header._replace(base_offset=append.first_offset)
            duplicate = self.producers.check(header, from_client=True)
            if duplicate is not None:
                return Appended(
                    duplicate.first_offset, duplicate.last_offset, duplicate.timestamp, None
                )
            group = self._make_room(append, now_ms)
            self.producers.append(header)
        self._queue(group, append)
        return Appended(append.first_offset, append.last_offset, log_append_time, group)

    def append_as_follower(
        self, append: Append, headers: Sequence[BatchHeader], *, now_ms: int
    ) -> AppendGroup:
        """Queue what a leader sent, its offsets as they are."""
        if append.first_offset < self.next_offset:
            detail = f"offset {append.first_offset} after {self.next_offset - 1} in {self.folder}"
            raise KafkaError(ErrorCode.OFFSET_OUT_OF_RANGE, detail)
        group = self._make_room(append, now_ms)
        for header in headers:
            if header.partition_leader_epoch > self.epochs.latest_epoch:
                self.epochs.assign(header.partition_leader_epoch, header.base_offset)
            if header.producer_id >= 0:
                self.producers.append(header)
        self._queue(group, append)
        return group

    def _queue(self, group: AppendGroup, append: Append) -> None:
        group.appends.append(append)
        group.size_bytes += len(append.data)
        self.next_offset = append.last_offset + 1

    def _make_room(self, append: Append, now_ms: int) -> AppendGroup:
        """The group to put it in, after a commit or a roll where one is due."""
        group = self._group
        if group is not None and group.size_bytes + len(append.data) > _MAX_GROUP_BYTES:
            self.commit()
            group = None
        if self._must_roll(append, group.size_bytes if group else 0, now_ms):
            self.roll(now_ms=now_ms)
            group = None
        if group is None:
            group = self._group = AppendGroup(self.next_offset)
            self.producers.begin()
        return group

    def commit(self) -> None:
        """Write the queued appends. If that fails, nothing of them has happened."""
        group, self._group = self._group, None
        if group is None:
            return
        try:
            self.active.write(group.appends)
        except Exception as error:
            group.error = error
            self.next_offset = group.next_offset
            self.producers.rollback()
            raise
        self.producers.commit()
