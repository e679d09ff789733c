"""The partitions that this broker holds, by name, and who waits for what happens to them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import NamedTuple

from ottla.protocol.errors import ErrorCode, KafkaError
from ottla.replication.partition import Partition
from ottla.replication.traffic import Traffic
from ottla.storage.directories import LogDirectories
from ottla.storage.files import DiskFailed
from ottla.storage.hop import Hop
from ottla.timing.purgatory import Purgatory
from ottla.timing.tick import Tick
from ottla.timing.timer import Timer

_logger = logging.getLogger(__name__)


class PurgeIntervals(NamedTuple):
    """How many finished requests of each kind may stay on the lists of those that wait."""

    fetches: int = 1000
    produces: int = 1000
    deletions: int = 1


class Replicas:
    """Changed by the controller's requests only (`leadership.py`); everything else asks."""

    def __init__(
        self,
        broker_id: int,
        directories: LogDirectories,
        tick: Tick,
        timer: Timer,
        hop: Hop,
        *,
        purge_intervals: PurgeIntervals | None = None,
    ) -> None:
        purge = purge_intervals or PurgeIntervals()
        self.broker_id = broker_id
        self.directories = directories
        self.tick = tick
        self.hop = hop
        self.controller_epoch = -1
        self.isr_shrinks = 0  # of partitions that were led here before and after
        self.isr_expands = 0
        self.partitions: dict[tuple[str, int], Partition] = {}
        self.fetches = Purgatory("Fetch", timer, purge_interval=purge.fetches)
        self.produces = Purgatory("Produce", timer, purge_interval=purge.produces)
        self.deletions = Purgatory("DeleteRecords", timer, purge_interval=purge.deletions)
        self.traffic = Traffic()
        self._traffic = self.traffic.by_topic  # a look-up less for each write
        self.exists_elsewhere: Callable[[str, int], bool] = lambda topic, index: False
        self.on_disk_failed: Callable[[str, list[Partition]], None] = lambda path, lost: None
        self._at_append: Callable[[], None] | None = None

    def get(self, topic: str, index: int) -> Partition:
        """The partition, led here or not; who does not know it hears why."""
        partition = self.partitions.get((topic, index))
        if partition is not None:
            return partition
        if self.exists_elsewhere(topic, index):
            detail = f"{topic}-{index} has no replica on broker {self.broker_id}"
            raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER, detail)
        detail = f"there is no partition {topic}-{index}"
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, detail)

    def led(self) -> Iterator[Partition]:
        return (each for each in self.partitions.values() if each.is_leader)

    def appended(self, partition: Partition, *, records: int, size_bytes: int) -> None:
        traffic = self._traffic.get(partition.topic) or self.traffic.of(partition.topic)
        traffic.messages_in += records
        traffic.bytes_in += size_bytes
        if self._at_append is not None:
            call, self._at_append = self._at_append, None
            call()
        # As `recheck`, without the call: there is a write for nearly every request.
        self.fetches.recheck(partition)
        self.produces.recheck(partition)
        self.deletions.recheck(partition)

    def at_next_append(self, call: Callable[[], None]) -> None:
        """Once; for whoever has nothing to do until then."""
        self._at_append = call

    def recheck(self, partition: Partition) -> None:
        """Its log, high watermark, leader or start has changed: let those who wait look again."""
        self.fetches.recheck(partition)
        self.produces.recheck(partition)
        self.deletions.recheck(partition)

    def disk_failed(self, error: DiskFailed) -> None:
        """The log directory is out for good, and with it every partition in it."""
        path = self._directory_of(error.path)
        if path is None:
            _logger.error("a disk failed outside the log directories: %s", error)
            return
        lost = [
            self.partitions[name]
            for name in self.directories.fail(path, error)
            if name in self.partitions
        ]
        for partition in lost:
            partition.log = None
            partition.is_leader = False
        for partition in lost:
            self.recheck(partition)
        self.on_disk_failed(path, lost)

    def _directory_of(self, path: str) -> str | None:
        held = (each for each in self.directories.online if path == each or _is_in(path, each))
        return max(held, key=len, default=None)


def _is_in(path: str, folder: str) -> bool:
    return path.startswith(folder.rstrip("/") + "/")
