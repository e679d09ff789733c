"""All that the log directories of a broker need now and then, in slices that a timer drives.

Each method is an iterator: a step looks at one log, or takes one result, and the caller goes on
when it has time. What waits for the disk goes to the file threads, and `poll` brings the results
back to the caller's thread. When and how often is the caller's business.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ottla.storage.checkpoints import (
    CLEANED_UP_TO,
    HIGH_WATERMARKS,
    LOG_STARTS,
    RECOVERY_POINTS,
    TopicPartition,
)
from ottla.storage.compactor import Compactor
from ottla.storage.cutting import note_dropped
from ottla.storage.directories import LogDirectories
from ottla.storage.directory import LogDirectory
from ottla.storage.dropped import Dropped
from ottla.storage.file_work import FileWork
from ottla.storage.files import DiskFailed
from ottla.storage.flushing import Flush, begin_flush, end_flush
from ottla.storage.housekeeping import begin_retention, flush_is_due, forget_idle_producers
from ottla.storage.log import Log
from ottla.storage.removals import Removals
from ottla.storage.threads import Background

_MOST_REMOVED = 50  # files and folders, in one work


class Upkeep:
    """`on_disk_failed` gets the path of a log directory and must take it offline.

    A full disk is logged, and what it refused is tried again the next time.
    """

    def __init__(
        self,
        directories: LogDirectories,
        background: Background,
        compactor: Compactor,
        *,
        on_disk_failed: Callable[[str, DiskFailed], None],
        delete_delay_ms: int = 60_000,
    ) -> None:
        self.compactor = compactor
        self.delete_delay_ms = delete_delay_ms  # may change, and counts for what is deleted then
        self._directories = directories
        self._files = FileWork(background, on_disk_failed)
        self._compacting: LogDirectory | None = None
        self._is_finishing = False
        self._removals: dict[str, Removals] = {}
        self._dated: dict[str, None] = {}  # deleted folders whose removal has a date
        for directory in directories.online.values():
            self._removals[directory.path] = Removals(directory.disk)
            directory.on_cut = compactor.forget

    @property
    def is_busy(self) -> bool:
        """Whether `poll` has, or will have, something to take."""
        return bool(len(self._files)) or self.compactor.is_busy

    def _logs(self) -> Iterator[tuple[LogDirectory, TopicPartition, Log]]:
        """The open ones. Between two steps any of them may go, or its disk."""
        for directory in list(self._directories.online.values()):
            for partition, log in list(directory.logs.items()):
                if self._is_there(directory, partition, log):
                    yield directory, partition, log

    def _is_there(self, directory: LogDirectory, partition: TopicPartition, log: Log) -> bool:
        return directory.path in self._directories.online and directory.logs.get(partition) is log

    def check_retention(self, now_ms: int) -> Iterator[None]:
        """Every log.retention.check.interval.ms."""
        for directory, _, log in self._logs():
            if self._files.has_room_for(("drop", log)):
                with self._files.judging(directory.path):
                    # What could not be set aside goes first: there is never more than one.
                    dropped = next(iter(log.unfinished), None)
                    dropped = dropped or begin_retention(log, now_ms=now_ms)
                    if dropped is not None:
                        self._drop(directory, log, dropped, now_ms)
            yield

    def _drop(self, directory: LogDirectory, log: Log, dropped: Dropped, now_ms: int) -> None:
        def take(renamed: list[str]) -> None:
            note_dropped(log, dropped)
            due_ms = now_ms + log.config.file_delete_delay_ms
            self._removals[directory.path].add(renamed, due_ms=due_ms)

        self._files.submit(("drop", log), directory.path, dropped.run, take=take)

    def flush_due(self, now_ms: int) -> Iterator[None]:
        """Every log.flush.scheduler.interval.ms: flush.messages, flush.ms, and closed segments."""
        for directory, partition, log in self._logs():
            is_due = flush_is_due(log, now_ms=now_ms)
            has_closed = log.recovery_point < log.active.base_offset
            if (is_due or has_closed) and self._files.has_room_for(("flush", log)):
                with self._files.judging(directory.path):
                    flush = begin_flush(log, only_closed=not is_due)
                    if flush is not None:
                        flushed_ms = now_ms if is_due else 0
                        self._flush(directory, partition, log, flush, flushed_ms)
            yield

    def _flush(
        self,
        directory: LogDirectory,
        partition: TopicPartition,
        log: Log,
        flush: Flush,
        flushed_ms: int,
    ) -> None:
        def take(_: None) -> None:
            if self._is_there(directory, partition, log):
                end_flush(log, flush, now_ms=flushed_ms)

        self._files.submit(("flush", log), directory.path, flush.run, take=take)

    def save_checkpoints(self) -> Iterator[None]:
        """All but the high watermarks, every log.flush.offset.checkpoint.interval.ms."""
        for directory in list(self._directories.online.values()):
            directory.checkpoints.note_flushed(directory.logs)
            yield
            for name in (RECOVERY_POINTS, LOG_STARTS, CLEANED_UP_TO):
                self._save(directory, name)
                yield

    def save_high_watermarks(self) -> Iterator[None]:
        """Every replica.high.watermark.checkpoint.interval.ms."""
        for directory in list(self._directories.online.values()):
            directory.checkpoints.note_high_watermarks(directory.logs)
            yield
            self._save(directory, HIGH_WATERMARKS)
            yield

    def _save(self, directory: LogDirectory, name: str) -> None:
        key = ("checkpoint", directory.path, name)
        if directory.path in self._directories.online and self._files.has_room_for(key):
            write = directory.checkpoints.files[name].prepare()
            if write is not None:
                self._files.submit(key, directory.path, write, take=lambda _: None)

    def forget_idle_producers(self, now_ms: int) -> Iterator[None]:
        """Every producer.id.expiration.check.interval.ms."""
        for directory, _, log in self._logs():
            with self._files.judging(directory.path):
                forget_idle_producers(log, now_ms=now_ms)
            yield

    def write_back(self) -> Iterator[None]:
        """Let the disk begin on what was appended, so that no sync has much to wait for.

        A few times a second: as often as the disk can take 64 MB.
        """
        for directory, _, log in self._logs():
            key = ("write back", log)
            due = log.write_back_due() if self._files.has_room_for(key) else None
            if due is not None:
                self._files.submit(key, directory.path, due.run, take=lambda _: None)
            yield

    def remove_files(self, now_ms: int) -> Iterator[None]:
        """What was renamed file.delete.delay.ms ago; every few seconds will do."""
        for directory in list(self._directories.online.values()):
            removals = self._removals[directory.path]
            folders = [f"{directory.path}/{name}" for name in directory.deleted_folders]
            fresh = [folder for folder in folders if folder not in self._dated]
            self._dated.update(dict.fromkeys(fresh))
            removals.add(fresh, due_ms=now_ms + self.delete_delay_ms)
            if self._files.has_room_for(("remove", directory.path)):
                self._remove_due(directory, removals, now_ms)
            yield

    def _remove_due(self, directory: LogDirectory, removals: Removals, now_ms: int) -> None:
        """Some, and when they are gone the next: a topic may have thousands of partitions."""
        if self._is_finishing:
            return  # found again by their names at the next start
        due = removals.take_due(now_ms=now_ms, most=_MOST_REMOVED)
        if due:
            self._remove(directory, removals, due, now_ms)

    def _remove(
        self, directory: LogDirectory, removals: Removals, due: list[str], now_ms: int
    ) -> None:
        def take(_: None) -> None:
            for path in due:
                if path in self._dated:
                    del self._dated[path]
                    directory.deleted_folders.remove(path.rpartition("/")[2])
            self._remove_due(directory, removals, now_ms)

        self._files.submit(
            ("remove", directory.path),
            directory.path,
            lambda: removals.remove(due),
            take=take,
            refused=lambda: removals.add(due, due_ms=now_ms + self.delete_delay_ms),
        )

    def clean(self, now_ms: int) -> Iterator[None]:
        """Look for the dirtiest log and begin to compact it, every log.cleaner.backoff.ms."""
        if self.compactor.is_busy:
            return
        for directory, partition, log in self._logs():
            with self._files.judging(directory.path):
                checkpoint = directory.checkpoints.cleaned_up_to
                self.compactor.consider(partition, log, checkpoint, now_ms=now_ms)
            yield
        self.compactor.looked(now_ms)
        chosen = self.compactor.dirtiest
        if chosen is None or self.compactor.is_busy:
            return
        found = self._directories.find(chosen)
        if found is None:
            self.compactor.forget(chosen)
            return
        with self._files.judging(found.path):
            self.compactor.start_dirtiest(now_ms=now_ms)
            self._compacting = found

    def poll(self, now_ms: int) -> Iterator[None]:
        """Take what the file threads and the cleaner have done: a few times a second."""
        yield from self._files.take_results()
        directory = self._compacting
        if directory is None or not self.compactor.is_busy:
            return
        if directory.path not in self._directories.online:
            for partition in directory.folders:
                self.compactor.forget(partition)
        replaced: list[str] | None = []
        while replaced is not None:
            replaced = None
            with self._files.judging(directory.path):
                replaced = self.compactor.step()
            due_ms = now_ms + self.delete_delay_ms
            self._removals[directory.path].add(replaced or (), due_ms=due_ms)
            yield

    def finish(self) -> None:
        """Wait for the file threads and end the cleaner: before the directories are closed."""
        self._is_finishing = True
        self.compactor.close()
        for _ in self._files.take_results(wait=True):
            pass
