"""The logs of many partitions, opened or created together: one plan, one work, one sync.

Planned on the loop, run in a file thread, noted on the loop. What must last when a partition has
been created is the name of its folder alone: what is synced inside would go with it. All else an
opening makes anew, so nothing else is synced, and the names of a thousand folders are in one sync.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from ottla.storage.checkpoints import TopicPartition
from ottla.storage.config import LogConfig
from ottla.storage.directories import LogDirectories
from ottla.storage.directory import LogDirectory
from ottla.storage.files import CorruptLog, DiskFailed
from ottla.storage.log import Log


class DirectoryOffline(Exception):
    """Only an operator can help."""


class WantedLog(NamedTuple):
    """Without `is_new` it may be in a directory that is offline: another would hide it."""

    partition: TopicPartition
    topic_id: bytes | None
    is_new: bool


class Opening:
    """`failures` are known after `note`: why there is no log."""

    def __init__(
        self, directories: LogDirectories, wanted: Iterable[WantedLog], *, now_ms: int
    ) -> None:
        self.failures: dict[TopicPartition, Exception] = {}
        self._directories = directories
        self._parts: dict[str, _Part] = {}
        created = dict.fromkeys(directories.online, 0)
        for each in wanted:
            directory = directories.find(each.partition)
            if directory is not None:
                self._part(directory, now_ms).to_open.append(each)
            elif directories.offline and not each.is_new:
                self.failures[each.partition] = DirectoryOffline("a log directory is offline")
            elif (directory := directories.home_for(each.partition, created)) is not None:
                created[directory.path] += 1
                self._part(directory, now_ms).to_create.append(each)
            else:
                self.failures[each.partition] = DirectoryOffline("all are offline")
        for part in self._parts.values():
            part.plan()

    def _part(self, directory: LogDirectory, now_ms: int) -> _Part:
        return self._parts.setdefault(directory.path, _Part(directory, now_ms))

    @property
    def is_empty(self) -> bool:
        return not self._parts

    def run(self) -> None:
        """On any thread; raises nothing that a disk may do."""
        for part in self._parts.values():
            part.run()

    def note(self) -> None:
        """The logs are their directories' from now on, unless those have failed meanwhile."""
        for path, part in self._parts.items():
            self.failures.update(part.failures)
            for partition, log in part.logs.items():
                if path in self._directories.online:
                    part.directory.note(partition, log)
                else:
                    self.failures[partition] = DirectoryOffline(path)


class _Part:
    """What is to be done in one directory. `logs` and `failures` are what came of it."""

    def __init__(self, directory: LogDirectory, now_ms: int) -> None:
        self.directory = directory
        self.to_open: list[WantedLog] = []
        self.to_create: list[WantedLog] = []
        self.logs: dict[TopicPartition, Log] = {}
        self.failures: dict[TopicPartition, Exception] = {}
        self._now_ms = now_ms
        self._configs: dict[str, LogConfig] = {}
        self._forget: list[Callable[[], None]] = []

    def plan(self) -> None:
        """What only the loop may ask or change."""
        for each in (*self.to_open, *self.to_create):
            topic = each.partition[0]
            if topic not in self._configs:
                self._configs[topic] = self.directory.config_of(topic)
        names = [each.partition for each in self.to_create]
        self._forget = self.directory.checkpoints.forget_for_good(names)

    def run(self) -> None:
        try:
            for each in self.to_open:
                self._try(self.directory.opened, each)
            self._create()
        except DiskFailed as error:
            self._fail((*self.to_open, *self.to_create), error)

    def _create(self) -> None:
        try:
            for save in self._forget:
                save()
        except OSError as error:
            self._fail(self.to_create, self._named(error))
            return
        for each in self.to_create:
            self._try(self.directory.made, each)
        if self.to_create:
            self.directory.sync()

    def _try(self, work: Callable[..., Log], wanted: WantedLog) -> None:
        partition, topic_id, _ = wanted
        config = self._configs[partition[0]]
        try:
            log = work(partition, config, topic_id=topic_id, now_ms=self._now_ms)
        except OSError as error:
            self.failures[partition] = self._named(error)
        except CorruptLog as error:
            self.failures[partition] = error
        else:
            self.logs[partition] = log

    def _named(self, error: OSError) -> OSError:
        """A write does not say where it was refused."""
        return OSError(error.errno, error.strerror, self.directory.path)

    def _fail(self, wanted: Iterable[WantedLog], error: Exception) -> None:
        for each in wanted:
            self.logs.pop(each.partition, None)
            self.failures.setdefault(each.partition, error)
