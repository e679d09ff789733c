"""One log directory: its lock, whose it is, its checkpoints, and the partitions in it.

After a clean stop a partition is opened when it is first asked for; until then its checkpoints say
all that is needed of it. After an unclean one `recover` opens them all.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial

from ottla.storage.checkpoint_file import Checkpoints
from ottla.storage.checkpoints import (
    CLEAN_SHUTDOWN,
    PARTITION_METADATA,
    TopicPartition,
    format_clean_shutdown,
    format_partition_metadata,
    parse_partition_metadata,
)
from ottla.storage.config import LogConfig
from ottla.storage.cutting import advance_start, restart, truncate
from ottla.storage.files import CorruptLog, Disk, Lock
from ottla.storage.flushing import close as close_log
from ottla.storage.log import Log
from ottla.storage.names import BadName, Fate, FolderName, Kind, parse_folder_name
from ottla.storage.properties import (
    META_PROPERTIES,
    MetaProperties,
    format_meta_properties,
    parse_meta_properties,
)
from ottla.storage.recovery import Found, open_log
from ottla.storage.threads import Background

_logger = logging.getLogger(__name__)
ConfigOf = Callable[[str], LogConfig]


class DirectoryRefused(Exception):
    """The directory cannot be used by this broker. Says why, and what an operator can do."""


def make_log_directory(disk: Disk, path: str) -> None:
    """And what is missing above it. Their names last: what is synced in them would go with them."""
    if disk.status(path) is None:
        parent = path.rpartition("/")[0] or ("/" if path.startswith("/") else ".")
        make_log_directory(disk, parent)
        disk.make_folder(path)
        disk.sync_folder(parent)


class LogDirectory:
    """The partitions that one disk holds. `open` takes its lock, `close` gives it back."""

    def __init__(self, disk: Disk, path: str, lock: Lock, config_of: ConfigOf) -> None:
        self.path = path
        self.disk = disk
        self.checkpoints = Checkpoints(disk, path)
        self.folders: dict[TopicPartition, FolderName] = {}
        self.future_folders: dict[TopicPartition, FolderName] = {}
        self.deleted_folders: list[str] = []
        self.was_clean = False
        # Told of each partition whose log is not any more what it was: the compactor listens.
        self.on_cut: Callable[[TopicPartition], None] = lambda partition: None
        self.config_of = config_of
        self._lock = lock
        self._logs: dict[TopicPartition, Log] = {}

    @classmethod
    def open(
        cls,
        disk: Disk,
        path: str,
        config_of: ConfigOf,
        *,
        broker_id: int,
        cluster_id: str | None,
        now_ms: int,
    ) -> LogDirectory:
        make_log_directory(disk, path)
        try:
            lock = disk.lock(f"{path}/.lock")
        except BlockingIOError as error:
            cause = f"{path} is in use by another broker: stop that one, or give this one another"
            raise DirectoryRefused(f"{cause} log directory") from error
        directory = cls(disk, path, lock, config_of)
        with ExitStack() as undo:
            undo.callback(lock.release)
            directory._identify(broker_id, cluster_id, now_ms)
            directory.checkpoints.load()
            directory._list_folders()
            marker = f"{path}/{CLEAN_SHUTDOWN}"
            directory.was_clean = disk.status(marker) is not None or not directory.folders
            # From here on a crash is unclean, whatever was.
            disk.remove(marker)
            disk.sync_folder(path)
            undo.pop_all()
        return directory

    def _identify(self, broker_id: int, cluster_id: str | None, now_ms: int) -> None:
        path = f"{self.path}/{META_PROPERTIES}"
        meta = MetaProperties()
        if self.disk.status(path) is not None:
            meta = parse_meta_properties(self.disk.read(path), path)
        if meta.node_id not in (None, broker_id):
            raise DirectoryRefused(
                f"Configured broker.id {broker_id} doesn't match stored broker.id {meta.node_id} "
                f"in {path}: give the broker its old id, or the new broker an empty directory"
            )
        if cluster_id is not None and meta.cluster_id not in (None, cluster_id):
            raise DirectoryRefused(
                f"The Cluster ID {cluster_id} doesn't match stored clusterId {meta.cluster_id} in "
                f"{path}. The broker is trying to join the wrong cluster. Configured "
                "ottla.metadata.path or log.dirs may be wrong."
            )
        wanted = replace(meta, node_id=broker_id, cluster_id=cluster_id or meta.cluster_id)
        if wanted != meta:
            self.disk.replace(path, format_meta_properties(wanted, now_ms=now_ms))

    def _list_folders(self) -> None:
        for name in self.disk.names(self.path):
            try:
                folder = parse_folder_name(name)
            except BadName:
                continue
            partition = (folder.topic, folder.partition)
            if folder.fate is Fate.LIVE:
                self.folders[partition] = folder
            elif folder.fate is Fate.FUTURE:
                self.future_folders[partition] = folder
            elif folder.fate is Fate.DELETE:
                self.deleted_folders.append(name)

    def recoveries(
        self, *, now_ms: int, on_progress: Callable[[int], None]
    ) -> list[Callable[[], None]]:
        """What an unclean stop has left to do, a piece of work for each partition.

        A partition that is corrupt fails alone: whoever asks for its log hears why.
        """

        def recover(partition: TopicPartition) -> None:
            try:
                log = self._open(partition, now_ms=now_ms, on_progress=on_progress)
            except CorruptLog as error:
                _logger.error("%s-%d cannot be opened: %s", *partition, error)
            else:
                self._logs[partition] = log

        return [] if self.was_clean else [partial(recover, each) for each in self.folders]

    @property
    def logs(self) -> Mapping[TopicPartition, Log]:
        """Those that are open."""
        return self._logs

    def log(self, partition: TopicPartition, *, now_ms: int) -> Log:
        """The partition's log, opened if this is the first time. KeyError if it is not here."""
        found = self._logs.get(partition)
        if found is None:
            found = self._logs[partition] = self._open(partition, now_ms=now_ms)
        return found

    def _open(
        self,
        partition: TopicPartition,
        config: LogConfig | None = None,
        *,
        now_ms: int,
        on_progress: Callable[[int], None] = lambda size_bytes: None,
    ) -> Log:
        folder = self.folders[partition]
        found = Found(
            self.was_clean,
            self.checkpoints.recovery_points.get(partition),
            self.checkpoints.log_starts.get(partition, 0),
        )
        log = open_log(
            self.disk,
            f"{self.path}/{folder}",
            config or self.config_of(folder.topic),
            found,
            now_ms=now_ms,
            on_progress=on_progress,
        )
        log.advance_high_watermark(self.checkpoints.high_watermarks.get(partition, 0))
        return log

    def end_offset(self, partition: TopicPartition, *, now_ms: int) -> int:
        """Where the log ends, without opening it if the last stop was clean."""
        if partition not in self._logs and self.was_clean:
            known = self.checkpoints.recovery_points.get(partition)
            if known is not None:
                return known
        return self.log(partition, now_ms=now_ms).next_offset

    def create(self, partition: TopicPartition, *, topic_id: bytes | None, now_ms: int) -> Log:
        """A new, empty log, here and now; `opening.py` has the steps for many."""
        for save in self.checkpoints.forget_for_good([partition]):
            save()
        config = self.config_of(partition[0])
        log = self.made(partition, config, topic_id=topic_id, now_ms=now_ms)
        self.sync()
        self.note(partition, log)
        return log

    def made(
        self,
        partition: TopicPartition,
        config: LogConfig,
        *,
        topic_id: bytes | None,
        now_ms: int,
    ) -> Log:
        """A new, empty log that counts after `sync` and `note`; without room, nothing is left.

        On any thread. `topic_id` goes into `partition.metadata`.
        """
        assert partition not in self.folders, f"{partition} is in {self.path} already"
        path = f"{self.path}/{FolderName(*partition)}"
        was_there = self.disk.status(path) is not None
        log: Log | None = None
        try:
            log = open_log(self.disk, path, config, Found(was_clean=True), now_ms=now_ms)
            if topic_id is not None:
                self._save_topic_id(path, topic_id)
        except OSError:
            if log is not None:
                log.active.close()
            if not was_there:
                with suppress(OSError):
                    self.disk.remove_folder(path)
            raise
        return log

    def opened(
        self,
        partition: TopicPartition,
        config: LogConfig,
        *,
        topic_id: bytes | None,
        now_ms: int,
    ) -> Log:
        """A log that is there, on any thread; whoever asked for it must `note` it."""
        log = self._logs.get(partition) or self._open(partition, config, now_ms=now_ms)
        if topic_id is not None and not self._has_topic_id(partition):
            self._save_topic_id(log.folder, topic_id)
        return log

    def note(self, partition: TopicPartition, log: Log) -> None:
        self.folders.setdefault(partition, FolderName(*partition))
        self._logs[partition] = log

    def sync(self) -> None:
        """The names of new, renamed and removed folders last."""
        self.disk.sync_folder(self.path)

    def _has_topic_id(self, partition: TopicPartition) -> bool:
        try:
            return self.topic_id(partition) is not None
        except CorruptLog as error:
            _logger.warning("%s; the topic's id is written again", error)
            return False

    def _save_topic_id(self, folder: str, topic_id: bytes) -> None:
        """Not synced: torn or missing after a power cut, it is written again at the next opening,
        for the controller tells it every time."""
        file = self.disk.open(f"{folder}/{PARTITION_METADATA}", create=True)
        try:
            file.truncate(0)
            file.append([format_partition_metadata(topic_id)])
        finally:
            file.close()

    def truncate(self, partition: TopicPartition, offset: int, *, now_ms: int) -> bool:
        """The log ends at `offset`, or where the batch it lies in began; False if it did before.

        The checkpoints are lowered first: if they cannot be, nothing has happened. They must not
        vouch for what is gone once other records stand there.
        """
        log = self.log(partition, now_ms=now_ms)
        if offset >= log.next_offset:
            return False
        base_offset = log.segments[log.segment_number(offset)].base_offset
        self._lower(partition, min(offset, base_offset))
        return truncate(log, offset, now_ms=now_ms)

    def restart(self, partition: TopicPartition, offset: int, *, now_ms: int) -> None:
        """Forget all of the log; it goes on, empty, at `offset`. Checkpoints as in `truncate`."""
        log = self.log(partition, now_ms=now_ms)
        self._lower(partition, offset)
        restart(log, offset, now_ms=now_ms)

    def advance_start(self, partition: TopicPartition, offset: int, *, now_ms: int) -> None:
        """Records before `offset` count as deleted; that lasts from the next checkpoint on."""
        advance_start(self.log(partition, now_ms=now_ms), offset)
        self.on_cut(partition)

    def _lower(self, partition: TopicPartition, offset: int) -> None:
        self.checkpoints.lower(partition, offset)
        self.on_cut(partition)

    def topic_id(self, partition: TopicPartition) -> bytes | None:
        path = f"{self.path}/{self.folders[partition]}/{PARTITION_METADATA}"
        if self.disk.status(path) is None:
            return None
        return parse_partition_metadata(self.disk.read(path), path)

    def size_bytes(self, partition: TopicPartition) -> int:
        """Of all its segments, without opening the log."""
        if partition in self._logs:
            return self._logs[partition].size_bytes
        folder = f"{self.path}/{self.folders[partition]}"
        logs = [name for name in self.disk.names(folder) if name.endswith(Kind.LOG.value)]
        found = [self.disk.status(f"{folder}/{name}") for name in logs]
        return sum(status.size_bytes for status in found if status is not None)

    def delete(self, partition: TopicPartition, *, tag: str) -> str:
        """Take the partition away for good; its renamed folder is removed by the caller, later."""
        renamed = self.take_away(partition, tag=tag)
        self.sync()
        return renamed

    def take_away(self, partition: TopicPartition, *, tag: str) -> str:
        """The same, but it is for good only after `sync`."""
        renamed = str(FolderName(*partition, Fate.DELETE, tag))
        # First: if that fails the log is still ours, and can be taken away again.
        self.disk.rename(f"{self.path}/{self.folders[partition]}", f"{self.path}/{renamed}")
        del self.folders[partition]
        log = self._logs.pop(partition, None)
        if log is not None:
            for dropped in log.unfinished:
                dropped.cancel()
            for segment in log.segments:
                # To give blocks back may wait for the disk: whoever removes the files does it.
                segment.close(keeps_reserve=True)
        self.checkpoints.forget(partition)
        self.on_cut(partition)
        self.deleted_folders.append(renamed)
        return renamed

    def set_aside(self, partition: TopicPartition) -> None:
        """Keep the folder for the operator, but not as this partition."""
        stray = FolderName(*partition, Fate.STRAY, "0" * 32)
        self._logs.pop(partition, None)
        self.disk.rename(f"{self.path}/{self.folders.pop(partition)}", f"{self.path}/{stray}")
        self.disk.sync_folder(self.path)
        self.checkpoints.forget(partition)

    def remove_deleted(self, names: Iterable[str]) -> None:
        for name in list(names):
            self.disk.remove_folder(f"{self.path}/{name}")
            self.deleted_folders.remove(name)

    def create_future(
        self, partition: TopicPartition, *, topic_id: bytes | None, tag: str, now_ms: int
    ) -> Log:
        """A copy in the making, in a folder of its own until `adopt`."""
        folder = FolderName(*partition, Fate.FUTURE, tag)
        path = f"{self.path}/{folder}"
        config = self.config_of(folder.topic)
        log = open_log(self.disk, path, config, Found(was_clean=True), now_ms=now_ms)
        self.future_folders[partition] = folder
        if topic_id is not None:
            self._save_topic_id(path, topic_id)
        self.sync()
        return log

    def discard_future(self, partition: TopicPartition, *, tag: str) -> None:
        """The copy is not to be; its renamed folder is removed later."""
        renamed = str(FolderName(*partition, Fate.DELETE, tag))
        folder = self.future_folders.pop(partition)
        self.disk.rename(f"{self.path}/{folder}", f"{self.path}/{renamed}")
        self.disk.sync_folder(self.path)
        self.deleted_folders.append(renamed)

    def adopt(self, partition: TopicPartition, future: Log) -> None:
        """The copy is complete: from now on it is the partition's log."""
        for save in self.checkpoints.forget_for_good([partition]):
            save()
        folder = FolderName(*partition)
        self.disk.rename(
            f"{self.path}/{self.future_folders.pop(partition)}", f"{self.path}/{folder}"
        )
        self.disk.sync_folder(self.path)
        future.move_to(f"{self.path}/{folder}")
        self.folders[partition] = folder
        self._logs[partition] = future

    def save_checkpoints(self) -> None:
        """What is known now of every open log, at once: for those who may wait."""
        self.checkpoints.note_flushed(self._logs)
        self.checkpoints.note_high_watermarks(self._logs)
        self.checkpoints.save()

    def close(self, background: Background, *, broker_epoch: int = -1) -> None:
        """A clean end: all logs last, the checkpoints say so, and the marker says that they do.

        On a full or failing disk there is no marker, but whoever comes next may have a look.
        """
        works = [partial(close_log, log) for log in self._logs.values()]
        with ExitStack() as end:
            end.callback(self._lock.release)
            background.run_all(works)
            self.save_checkpoints()
            self.disk.replace(f"{self.path}/{CLEAN_SHUTDOWN}", format_clean_shutdown(broker_epoch))
            self._logs.clear()
