"""All log directories of a broker: where a new partition goes, what a failed disk takes with it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from ottla.storage.checkpoints import TopicPartition
from ottla.storage.cutting import advance_start, follow, restart
from ottla.storage.directory import ConfigOf, DirectoryRefused, LogDirectory
from ottla.storage.files import CorruptLog, Disk, DiskFailed
from ottla.storage.following import append_as_follower
from ottla.storage.log import Log
from ottla.storage.slice import Slice
from ottla.storage.threads import Background

_logger = logging.getLogger(__name__)


class Move(NamedTuple):
    """A copy of a partition in the making, and where."""

    target: LogDirectory
    future: Log


class LogDirectories:
    """The directories that work, and why the others do not."""

    def __init__(self, directories: Sequence[LogDirectory], offline: dict[str, str]) -> None:
        self.online = {directory.path: directory for directory in directories}
        self.offline = offline
        self.moves: dict[TopicPartition, Move] = {}
        # Where somebody wants a partition to be that is not here yet.
        self.preferred: dict[TopicPartition, str] = {}

    @classmethod
    def open(
        cls,
        disk: Disk,
        paths: Sequence[str],
        config_of: ConfigOf,
        *,
        broker_id: int,
        cluster_id: str | None,
        now_ms: int,
    ) -> LogDirectories:
        """A directory on a broken disk is left out; one that is not ours stops the start."""
        directories: list[LogDirectory] = []
        offline: dict[str, str] = {}
        for path in paths:
            try:
                directory = LogDirectory.open(
                    disk, path, config_of, broker_id=broker_id, cluster_id=cluster_id, now_ms=now_ms
                )
            except (OSError, DiskFailed, CorruptLog) as error:
                _logger.error("log directory %s is offline: %s", path, error)
                offline[path] = str(error)
            else:
                directories.append(directory)
        if not directories:
            reasons = "; ".join(f"{path}: {reason}" for path, reason in offline.items())
            raise DirectoryRefused(f"no log directory can be used ({reasons})")
        found = cls(directories, offline)
        found._settle_duplicates(now_ms)
        return found

    def _settle_duplicates(self, now_ms: int) -> None:
        """A move that a crash cut short leaves a partition twice: the longer one goes on."""
        holders: dict[TopicPartition, LogDirectory] = {}
        for directory in self.online.values():
            for partition in list(directory.folders):
                other = holders.setdefault(partition, directory)
                if other is directory:
                    continue
                ends = [each.end_offset(partition, now_ms=now_ms) for each in (other, directory)]
                shorter = directory if ends[0] >= ends[1] else other
                holders[partition] = other if shorter is directory else directory
                _logger.warning(
                    "%s-%d is in two log directories; the one in %s is set aside",
                    *partition,
                    shorter.path,
                )
                shorter.set_aside(partition)

    def recover(
        self, background: Background, *, now_ms: int, on_progress: Callable[[int], None]
    ) -> None:
        """The partitions of all directories side by side; a disk that fails then fails alone."""
        failed: dict[str, Exception] = {}

        def attempt(path: str, work: Callable[[], None]) -> None:
            if path not in failed:
                try:
                    work()
                except (OSError, DiskFailed) as error:
                    failed[path] = error

        background.run_all(
            [
                partial(attempt, directory.path, work)
                for directory in self.online.values()
                for work in directory.recoveries(now_ms=now_ms, on_progress=on_progress)
            ]
        )
        for path, error in failed.items():
            self.fail(path, error)

    def find(self, partition: TopicPartition) -> LogDirectory | None:
        for directory in self.online.values():
            if partition in directory.folders:
                return directory
        return None

    def home_for(self, partition: TopicPartition, coming: Mapping[str, int]) -> LogDirectory | None:
        """Where a new log is wanted, or the directory with the fewest; None if all are offline.

        `coming` is how many more each will have.
        """
        directory = self.online.get(self.preferred.pop(partition, ""))
        if directory is not None:
            return directory
        return min(
            self.online.values(),
            key=lambda each: len(each.folders) + coming.get(each.path, 0),
            default=None,
        )

    def create(self, partition: TopicPartition, *, topic_id: bytes | None, now_ms: int) -> Log:
        """A new log, here and now: for those who may wait."""
        directory = self.home_for(partition, {})
        assert directory is not None, "every log directory is offline"
        return directory.create(partition, topic_id=topic_id, now_ms=now_ms)

    def fail(self, path: str, error: Exception) -> list[TopicPartition]:
        """A disk has failed: its directory is out for good, with the partitions returned."""
        directory = self.online.pop(path, None)
        if directory is None:
            return []
        _logger.error("log directory %s is offline: %s", path, error)
        self.offline[path] = str(error)
        for partition, move in list(self.moves.items()):
            if move.target is directory or partition in directory.folders:
                del self.moves[partition]
        return list(directory.folders)

    def start_move(self, partition: TopicPartition, to_path: str, *, tag: str, now_ms: int) -> None:
        """Begin to copy a partition to another directory of this broker."""
        directory, target = self.find(partition), self.online[to_path]
        assert directory is not None, f"{partition} is in no log directory"
        topic_id = directory.topic_id(partition)
        future = target.create_future(partition, topic_id=topic_id, tag=tag, now_ms=now_ms)
        self.moves[partition] = Move(target, future)

    def next_of_move(
        self, partition: TopicPartition, *, max_bytes: int, now_ms: int
    ) -> Slice | None:
        """What `continue_move` is about to copy: so that others can read it from the disk first."""
        source, future = self._source(partition, now_ms), self.moves[partition].future
        start = max(future.next_offset, source.log_start_offset)
        if start >= source.next_offset:
            return None
        return source.read(start, max_bytes=max_bytes, up_to=source.next_offset)

    def continue_move(self, partition: TopicPartition, *, max_bytes: int, now_ms: int) -> bool:
        """Copy some more; True once the copy has everything."""
        source, future = self._source(partition, now_ms), self.moves[partition].future
        follow(source, future, now_ms=now_ms)
        found = self.next_of_move(partition, max_bytes=max_bytes, now_ms=now_ms)
        if found is not None:
            if found.first_offset < future.next_offset or not future.size_bytes:
                restart(future, found.first_offset, now_ms=now_ms)
            append_as_follower(future, memoryview(bytearray(found.read())), now_ms=now_ms)
            future.commit()
        elif future.next_offset < source.next_offset:
            # Compaction has left nothing from here to the end.
            future.next_offset = source.next_offset
            future.roll(now_ms=now_ms)
        return future.next_offset >= source.next_offset

    def finish_move(self, partition: TopicPartition, *, tag: str, now_ms: int) -> str:
        """Let the copy take over; returns the old folder's new name, to be removed later."""
        source, directory = self._source(partition, now_ms), self.find(partition)
        assert directory is not None
        target, future = self.moves[partition]
        assert future.next_offset == source.next_offset, f"{partition} is not copied yet"
        advance_start(future, source.log_start_offset)
        future.epochs.entries = source.epochs.entries  # a leader without records left a mark too
        future.save_epochs()
        future.advance_high_watermark(source.high_watermark)
        future.configure(source.config)
        del self.moves[partition]
        target.adopt(partition, future)
        return directory.delete(partition, tag=tag)

    def cancel_move(self, partition: TopicPartition, *, tag: str) -> None:
        """The copy is not wanted any more."""
        move = self.moves.pop(partition)
        for segment in move.future.segments:
            segment.close()
        move.target.discard_future(partition, tag=tag)

    def interrupted_moves(self, new_tag: Callable[[], str]) -> list[tuple[TopicPartition, str]]:
        """At start: which moves a stop has cut short, and where to. Their copies are thrown away,
        for the partitions may have changed since."""
        found = []
        for directory in self.online.values():
            for partition in list(directory.future_folders):
                directory.discard_future(partition, tag=new_tag())
                if self.find(partition) not in (None, directory):
                    found.append((partition, directory.path))
        return found

    def _source(self, partition: TopicPartition, now_ms: int) -> Log:
        directory = self.find(partition)
        assert directory is not None, f"{partition} is in no log directory"
        return directory.log(partition, now_ms=now_ms)

    def close(self, background: Background, *, broker_epoch: int = -1) -> None:
        for directory in list(self.online.values()):
            try:
                directory.close(background, broker_epoch=broker_epoch)
            except (OSError, DiskFailed) as error:
                self.fail(directory.path, error)
