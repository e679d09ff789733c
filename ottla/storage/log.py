"""The segments of a partition as one sequence of offsets.

Appends of one tick are queued and written together by `commit`: all of them or none. Everything
that an append changes is provisional until then. Time comes with each call. What cuts the log is in
`cutting.py`, what opens it in `recovery.py`, what a follower appends in `following.py`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from contextlib import suppress

from ottla.protocol.errors import ErrorCode, KafkaError
from ottla.protocol.records.batch import patch_into, seal_plain
from ottla.protocol.records.control import ControlType, build_end_transaction
from ottla.storage.append_group import Appended, AppendGroup
from ottla.storage.checkpoint_file import EpochFile
from ottla.storage.config import LogConfig
from ottla.storage.dropped import Dropped
from ottla.storage.epochs import LeaderEpochs
from ottla.storage.files import Disk, DiskFailed
from ottla.storage.incoming import (
    Incoming,
    check_size,
    fields_as_they_are,
    take_as_it_is,
    takes_batches_as_they_are,
    takes_own_batches,
)
from ottla.storage.long_way import take
from ottla.storage.producers import ProducerStates
from ottla.storage.segment import MAX_RELATIVE_OFFSET, Append, Segment
from ottla.storage.slice import Slice
from ottla.storage.snapshots import encode_snapshot
from ottla.storage.timestamp_search import TimestampSearch
from ottla.storage.transactions import AbortedTransaction, aborted_in
from ottla.storage.write_back import WriteBack

_MAX_GROUP_BYTES = 64 * 1024 * 1024
_WRITE_BACK_BYTES = 64 * 1024 * 1024
_AS_SENT = bytes(8)
_new_tuple = tuple.__new__  # a NamedTuple's own constructor costs as much as a checksum


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
        epoch_file: EpochFile,
        jitter: Callable[[int], int] = lambda most_ms: 0,
    ) -> None:
        assert segments, f"{folder}: a log has at least one segment"
        self.disk = disk
        self.folder = folder
        self.config = config
        self.segments = segments
        self.next_offset = next_offset
        self.log_start_offset = log_start_offset
        self.recovery_point = recovery_point
        self.high_watermark = log_start_offset
        self.flushed_ms = 0
        self.cuts = 0  # how often records were taken from the log, at either end
        self.unfinished: list[Dropped] = []  # what file threads are still doing with its files
        self.producers = producers
        self.epochs = LeaderEpochs(epoch_file.load())
        self._epoch_file = epoch_file
        self._jitter = jitter
        self.takes_as_sent = takes_batches_as_they_are(config)
        self.takes_own = takes_own_batches(config)
        self._group: AppendGroup | None = None

    @property
    def active(self) -> Segment:
        return self.segments[-1]

    @property
    def size_bytes(self) -> int:
        queued = self._group.size_bytes if self._group else 0
        return sum(segment.size_bytes for segment in self.segments) + queued

    def configure(self, config: LogConfig) -> None:
        """From now on; segments that are closed stay as they are."""
        self.config = config
        self.takes_as_sent = takes_batches_as_they_are(config)
        self.takes_own = takes_own_batches(config)
        self.active.configure(config)

    def append(
        self, view: memoryview, *, leader_epoch: int, now_ms: int, from_client: bool = True
    ) -> Appended:
        """Queue what a producer sent. `view` is patched, and must stay as it is until `commit`.

        What a coordinator of this broker made has its keys, and no sequence to check.
        """
        entries = self.epochs.entries
        if not entries or entries[-1][0] != leader_epoch:
            self.start_epoch(leader_epoch)
        is_plain = self.takes_as_sent or (self.takes_own and not from_client)
        fields = fields_as_they_are(view, self.config) if is_plain else None
        if fields is None or fields[9] >= 0:
            return self._append_with_care(
                view, fields, leader_epoch=leader_epoch, now_ms=now_ms, from_client=from_client
            )
        # What nearly all appends are. The same as below, with as few calls as it can be done.
        size_bytes, first_offset, timestamp = len(view), self.next_offset, fields[8]
        last_offset = first_offset + fields[6]
        group = self._group
        if (
            group is None
            or group.size_bytes + size_bytes > group.most_bytes
            or last_offset > group.most_offset
            or timestamp >= group.old_from_ms
        ):
            group = self.make_room(size_bytes, last_offset, timestamp, now_ms)
        patch_into(view, 0, first_offset, fields[1], leader_epoch)
        group.appends.append((view, first_offset, last_offset, timestamp, last_offset))
        group.size_bytes += size_bytes
        self.next_offset = last_offset + 1
        return _new_tuple(Appended, (first_offset, last_offset, -1, group))

    def append_prepared(self, view: memoryview, *, leader_epoch: int, now_ms: int) -> Appended:
        """As `append`, of what `prepare` made of it."""
        self.start_epoch(leader_epoch)
        incoming = take(
            view,
            self.config,
            next_offset=self.next_offset,
            leader_epoch=leader_epoch,
            now_ms=now_ms,
            is_prepared=True,
        )
        return self._queue_checked(incoming, now_ms, from_client=True)

    def append_own(self, records: bytes, count: int, *, leader_epoch: int, now_ms: int) -> Appended:
        """Queue what a coordinator of this broker made, as one batch; only if `takes_own`."""
        entries = self.epochs.entries
        if not entries or entries[-1][0] != leader_epoch:
            self.start_epoch(leader_epoch)
        first_offset, config = self.next_offset, self.config
        last_offset = first_offset + count - 1
        batch = seal_plain(
            records, count, timestamp=now_ms, base_offset=first_offset, leader_epoch=leader_epoch
        )
        size_bytes = len(batch)
        if size_bytes > config.max_message_bytes or size_bytes > config.segment_bytes:
            check_size(size_bytes, config)
        group = self.make_room(size_bytes, last_offset, now_ms, now_ms)
        group.appends.append((batch, first_offset, last_offset, now_ms, last_offset))
        group.size_bytes += size_bytes
        self.next_offset = last_offset + 1
        return _new_tuple(Appended, (first_offset, last_offset, -1, group))

    def _append_with_care(
        self,
        view: memoryview,
        fields: tuple[int, ...] | None,
        *,
        leader_epoch: int,
        now_ms: int,
        from_client: bool,
    ) -> Appended:
        """What has a producer to be checked, or is not taken as it is."""
        offset, config = self.next_offset, self.config
        if fields is not None:
            incoming = take_as_it_is(view, fields, next_offset=offset, leader_epoch=leader_epoch)
        else:
            incoming = take(
                view, config, next_offset=offset, leader_epoch=leader_epoch, now_ms=now_ms
            )
        try:
            return self._queue_checked(incoming, now_ms, from_client=from_client)
        except (KafkaError, OSError, DiskFailed):
            if incoming.header is not None:
                view[:8] = _AS_SENT  # the offset that it did not get; it may be judged again
            raise

    def _queue_checked(self, incoming: Incoming, now_ms: int, *, from_client: bool) -> Appended:
        append, header, log_append_time = incoming
        has_producer = header is not None and header[9] >= 0
        if header is not None and has_producer:
            duplicate = self.producers.check(header, from_client=from_client)
            if duplicate is not None:
                first_offset, last_offset, timestamp = duplicate
                queued = self._group is not None and first_offset >= self._group.next_offset
                return Appended(
                    first_offset, last_offset, timestamp, self._group if queued else None
                )
        group = self.make_room(len(append[0]), append[2], append[3], now_ms)
        if header is not None and has_producer:
            self.track_producers(group)
            self.producers.append(header, base_offset=append[1], max_timestamp=append[3])
        self.queue(group, append)
        return _new_tuple(Appended, (append[1], append[2], log_append_time, group))

    def append_marker(
        self,
        control_type: ControlType,
        *,
        producer_id: int,
        producer_epoch: int,
        coordinator_epoch: int,
        leader_epoch: int,
        now_ms: int,
    ) -> Appended:
        """Queue the end of a producer's transaction, as the coordinator asked for."""
        self.producers.check_marker(
            producer_id=producer_id,
            producer_epoch=producer_epoch,
            coordinator_epoch=coordinator_epoch,
        )
        self.start_epoch(leader_epoch)
        offset = self.next_offset
        data = build_end_transaction(
            control_type,
            offset=offset,
            timestamp=now_ms,
            producer_id=producer_id,
            producer_epoch=producer_epoch,
            coordinator_epoch=coordinator_epoch,
            leader_epoch=leader_epoch,
        )
        append = Append(data, offset, offset, now_ms, offset)
        group = self.make_room(append.size_bytes, append[2], append[3], now_ms)
        self.track_producers(group)
        completed = self.producers.end_transaction(
            producer_id=producer_id,
            producer_epoch=producer_epoch,
            coordinator_epoch=coordinator_epoch,
            offset=offset,
            timestamp=now_ms,
            is_aborted=control_type is ControlType.ABORT,
        )
        group.note_end(completed)
        self.queue(group, append)
        return Appended(offset, offset, -1, group)

    def queue(self, group: AppendGroup, append: Append) -> None:
        """In the group that `make_room` gave for it."""
        group.appends.append(append)
        group.size_bytes += len(append[0])
        self.next_offset = append[2] + 1

    def make_room(
        self, size_bytes: int, last_offset: int, timestamp: int, now_ms: int
    ) -> AppendGroup:
        """The group to put an append in, after a commit or a roll where one is due."""
        group, segment = self._group, self.segments[-1]
        total_bytes = size_bytes if group is None else group.size_bytes + size_bytes
        if (
            timestamp >= segment.may_be_old_from
            or total_bytes > _MAX_GROUP_BYTES
            or not segment.has_room_for(last_offset, total_bytes)
        ):
            self._commit_or_roll(size_bytes, last_offset, timestamp, now_ms)
            group, segment = self._group, self.segments[-1]
        if group is None:
            group = self._group = AppendGroup(
                self.next_offset,
                now_ms,
                most_bytes=min(_MAX_GROUP_BYTES, segment.room_bytes),
                most_offset=segment.base_offset + MAX_RELATIVE_OFFSET,
                old_from_ms=segment.may_be_old_from,
            )
        return group

    def _commit_or_roll(
        self, size_bytes: int, last_offset: int, timestamp: int, now_ms: int
    ) -> None:
        segment = self.active
        queued_bytes = self._group.size_bytes if self._group is not None else 0
        is_empty = not segment.size_bytes + queued_bytes
        has_room = segment.has_room_for(last_offset, queued_bytes + size_bytes)
        if (not has_room and not is_empty) or segment.is_old(timestamp, now_ms=now_ms):
            self.roll(now_ms=now_ms)
        elif queued_bytes + size_bytes > _MAX_GROUP_BYTES:
            self.commit()

    def track_producers(self, group: AppendGroup) -> None:
        """Before what an append changes of them: it is undone if the group is not written."""
        if not group.tracks_producers:
            self.producers.begin()
            group.tracks_producers = True

    def commit(self) -> None:
        """Write the queued appends. If that fails nothing of them has happened, and it raises."""
        group, self._group = self._group, None
        if group is None:
            return
        try:
            self.segments[-1].write(group.appends, now_ms=group.now_ms)
        except (OSError, DiskFailed) as error:
            group.error = error
            self.next_offset = group.next_offset
            if group.tracks_producers:
                self.producers.rollback()
            self.epochs.truncate_from_end(self.next_offset)
            if isinstance(error, OSError):
                # A part of it was written and cut off again. Were that lost by a power cut, this
                # log would hold what was refused where others hold what came next.
                self.active.log.sync()
            raise
        if group.tracks_producers:
            self.producers.commit()
        if group.aborted:
            self.active.aborted.extend(group.aborted)

    def _settle(self) -> None:
        """Commit before a read. Whoever queued what cannot be written learns it from its group."""
        if self._group is not None:
            with suppress(OSError):
                self.commit()

    def start_epoch(self, leader_epoch: int) -> None:
        """What is appended from now on is this leader's. The formats before 0.11 keep no epochs."""
        if self.config.message_magic == 2:
            self.epochs.assign(leader_epoch, start_offset=self.next_offset)

    def prepare_epochs(self) -> Callable[[], None] | None:
        """What makes the epochs last that have records: the others are begun anew at each start.

        On any thread; None if they do already. Whoever moves the recovery point must run it first,
        for only behind that are epochs found in the batches again.
        """
        entries = self.epochs.entries
        if entries and entries[-1].start_offset >= self.next_offset:
            entries = entries[:-1]
        return self._epoch_file.prepare(entries)

    def save_epochs(self) -> None:
        write = self.prepare_epochs()
        if write is not None:
            write()

    def save_fewer_epochs(self) -> None:
        """After a cut. If the disk is full it is done with the next flush."""
        with suppress(OSError):
            self.save_epochs()

    def roll(self, *, now_ms: int) -> Segment:
        """Close the active segment and start the next one where the log ends."""
        self.commit()
        if not self.active.size_bytes and self.active.base_offset == self.next_offset:
            return self.active
        self.seal()
        segment = Segment.create(
            self.disk, self.folder, self.next_offset, self.config, now_ms=now_ms
        )
        segment.jitter_ms = self._jitter(self.config.segment_jitter_ms)
        self.segments.append(segment)
        return segment

    def seal(self) -> None:
        """The active segment's indexes get their files, and so do the producers as they are now."""
        if self.producers.has_seen_ends:
            self.active.transactions.keep_file()
        self.active.seal()
        self.save_snapshot()

    def write_back_due(self) -> WriteBack | None:
        """What was appended since the last time, once it is 64 MB; who asks must `run` it."""
        active = self.active
        start = active.written_back_bytes
        if active.size_bytes - start < _WRITE_BACK_BYTES:
            return None
        active.written_back_bytes = active.size_bytes
        active.log.pin()
        return WriteBack(active.log, start, active.size_bytes - start)

    def move_to(self, folder: str) -> None:
        """The folder was renamed; open files have followed."""
        self.folder = self._epoch_file.folder = folder
        for segment in self.segments:
            segment.move_to(folder)

    def save_snapshot(self) -> None:
        """The producers' state here, so that recovery need not read the log from its beginning.

        Not synced: a torn one fails its checksum, and the one before it is taken.
        """
        path = f"{self.folder}/{self.next_offset:020d}.snapshot"
        file = self.disk.open(path, create=True)
        try:
            file.truncate(0)
            file.append([encode_snapshot(self.producers.active_producers())])
        finally:
            file.close()

    def read(
        self, offset: int, *, max_bytes: int, up_to: int, min_one_batch: bool = True
    ) -> Slice | None:
        """Batches from the one that holds `offset`, below the offset `up_to`; None if none.

        The bytes may end inside a batch, but never inside the first, however large it is.
        """
        self._settle()
        if not self.log_start_offset <= offset <= self.next_offset:
            detail = f"{offset} is not in {self.log_start_offset} to {self.next_offset}"
            raise KafkaError(ErrorCode.OFFSET_OUT_OF_RANGE, detail)
        if offset >= up_to:
            return None
        active = self.segments[-1]
        tail_offset, position, end = active.tail
        if (
            offset == tail_offset
            and up_to == self.next_offset
            and end == active.size_bytes
            and end - position <= max_bytes
        ):
            # Who has read all gets what is new: nothing has to be looked up.
            return Slice(active.log, position, end - position, offset)
        number = self.segment_number(offset)
        for following, segment in enumerate(self.segments[number:], number + 1):
            place = segment.find(offset)
            if place is None:
                continue  # compaction left nothing from here to the segment's end
            end = segment.size_bytes
            last = following == len(self.segments)
            if up_to < (self.next_offset if last else self.segments[following].base_offset):
                beyond = segment.find(up_to)
                end = beyond.position if beyond else end
            available = end - place.position
            if available <= 0:
                return None
            length = min(max_bytes, available)
            if min_one_batch:
                length = max(length, min(place.size_bytes, available))
            return Slice(segment.log, place.position, length, place.base_offset)
        return None

    def aborted_transactions(self, found: Slice, offset: int) -> list[AbortedTransaction]:
        """What a read_committed consumer must skip in what `read` found at `offset`."""
        number = self.segment_number(found.first_offset)
        bound = self.segments[number].offset_index.first_from(found.position + found.length)
        if bound is None:
            following = self.segments[number + 1 : number + 2]
            bound = following[0].base_offset if following else self.next_offset
        result: list[AbortedTransaction] = []
        for segment in self.segments[number:]:
            entries, complete = aborted_in(segment.aborted, fetch_offset=offset, upper_bound=bound)
            result += entries
            if complete:
                break
        return result

    def search_timestamp(self, timestamp: int) -> TimestampSearch:
        """For the first record of this time or later, in steps."""
        self._settle()
        return TimestampSearch(self, timestamp)

    def find_timestamp(self, timestamp: int) -> tuple[int, int] | None:
        """(timestamp, offset) of the first record of this time or later: for those who may wait."""
        search = self.search_timestamp(timestamp)
        while not search.step():
            pass
        return search.found

    def segment_number(self, offset: int) -> int:
        """Which of `segments` holds the offset, or would."""
        return max(0, bisect_right(self.segments, offset, key=_base_offset) - 1)

    @property
    def last_stable_offset(self) -> int:
        return self.producers.last_stable_offset(
            self.high_watermark, log_start_offset=self.log_start_offset
        )

    def advance_high_watermark(self, offset: int) -> None:
        if not self.log_start_offset <= offset <= self.next_offset:
            offset = min(max(offset, self.log_start_offset), self.next_offset)
        self.high_watermark = offset
        self.producers.on_high_watermark_updated(offset)


def _base_offset(segment: Segment) -> int:
    return segment.base_offset
