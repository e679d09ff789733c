"""Compacts one log after the other: picks the dirtiest, has it cleaned, swaps the result in.

Who cleans is passed in: the worker process in a broker, the same code at once in a simulation.
"""

from __future__ import annotations

import errno
import logging
from collections.abc import Mapping, MutableMapping
from contextlib import suppress
from typing import NamedTuple, Protocol

from ottla.storage.checkpoints import TopicPartition
from ottla.storage.cleaning_job import (
    Advanced,
    Answer,
    Cleaned,
    CleaningFailed,
    CleaningJob,
    Failure,
)
from ottla.storage.cleaning_plan import LogFacts, cleanable_range, dirtiest, plan_cleaning
from ottla.storage.facts import active_producers, log_facts
from ottla.storage.files import CorruptLog, DiskFailed
from ottla.storage.log import Log
from ottla.storage.swap import discard, swap_in

_logger = logging.getLogger(__name__)


class Cleaner(Protocol):
    """One job at a time; answers come when they are asked for."""

    def submit(self, job: CleaningJob) -> None: ...

    def receive(self) -> Answer | None: ...

    def cancel(self) -> None: ...

    def close(self) -> None:
        """Nothing is cleaned any more when this returns."""


Offsets = MutableMapping[TopicPartition, int]


class _Candidate(NamedTuple):
    """A log, and the checkpoint of its directory that says up to where it is clean."""

    partition: TopicPartition
    log: Log
    checkpoint: Offsets
    dirty_ratio: float
    cuts: int = 0


class Compactor:
    """At most one log is being compacted."""

    def __init__(
        self,
        cleaner: Cleaner,
        *,
        map_bytes: int = 128 << 20,
        bytes_per_second: float = float("inf"),
    ) -> None:
        self.map_bytes = map_bytes  # this and the next may change, and count from the next job on
        self.bytes_per_second = bytes_per_second
        self.progress: tuple[TopicPartition, int, int] | None = None  # who, bytes done, in all
        self.uncleanable: dict[TopicPartition, str] = {}
        self.looked_ms: int | None = None  # when all logs were looked at last
        self.dirtiest_ratio = 0.0  # of them, then
        self.copied_ratio = 0.0  # how much of what the last job read was written again
        self._cleaner = cleaner
        self._ratio = 0.0
        self._read_bytes = self._written_bytes = 0
        self._number = 0
        self._dirtiest: _Candidate | None = None
        self._current: _Candidate | None = None
        # Logs with nothing to gain until more of them lasts, and how much it was then.
        self._unsettled: dict[TopicPartition, int] = {}
        self._given_up: dict[int, Log] = {}  # jobs whose last answer has not come yet

    @property
    def is_busy(self) -> bool:
        return self._current is not None or bool(self._given_up)

    @property
    def partition(self) -> TopicPartition | None:
        """Whose log is being compacted."""
        return self._current.partition if self._current else None

    @property
    def dirtiest(self) -> TopicPartition | None:
        """The one that `start_dirtiest` would begin with."""
        return self._dirtiest.partition if self._dirtiest else None

    def start(
        self, logs: Mapping[TopicPartition, Log], checkpoint: Offsets, *, now_ms: int
    ) -> TopicPartition | None:
        """Begin with the dirtiest of the compacted logs; None if none is dirty enough."""
        for partition, log in logs.items():
            self.consider(partition, log, checkpoint, now_ms=now_ms)
        return self.start_dirtiest(now_ms=now_ms)

    def consider(
        self, partition: TopicPartition, log: Log, checkpoint: Offsets, *, now_ms: int
    ) -> None:
        """Remember the log if it is the dirtiest so far: one after the other, when there is time.

        CorruptLog if one of its segments cannot be read; it is left out from then on.
        """
        if not log.config.compacts or len(log.segments) == 1 or partition in self.uncleanable:
            return
        if self._unsettled.get(partition) == log.recovery_point:
            return
        try:
            facts = _facts(partition, log, checkpoint)
        except CorruptLog as error:
            self.uncleanable[partition] = str(error)
            raise
        cleanable = cleanable_range(facts, now_ms=now_ms)
        ratio = cleanable.dirty_ratio
        self._ratio = max(self._ratio, ratio)
        is_dirty = dirtiest({partition: (facts, cleanable)}) is not None
        if is_dirty and (self._dirtiest is None or ratio > self._dirtiest.dirty_ratio):
            self._dirtiest = _Candidate(partition, log, checkpoint, ratio)

    def looked(self, now_ms: int) -> None:
        """All there are were considered."""
        self.looked_ms, self.dirtiest_ratio, self._ratio = now_ms, self._ratio, 0.0

    def start_dirtiest(self, *, now_ms: int) -> TopicPartition | None:
        """Begin with the dirtiest of those that were considered."""
        assert not self.is_busy
        chosen, self._dirtiest = self._dirtiest, None
        if chosen is None:
            return None
        log = chosen.log
        facts = _facts(chosen.partition, log, chosen.checkpoint)
        plan = plan_cleaning(
            facts,
            cleanable_range(facts, now_ms=now_ms),
            aborted=[entry for segment in log.segments for entry in segment.aborted],
            active_producers=active_producers(log),
            map_bytes=self.map_bytes,
        )
        if not plan.segments:
            return None
        self._number += 1
        self._read_bytes = self._written_bytes = 0
        self._current = chosen._replace(cuts=log.cuts)
        self._cleaner.submit(
            CleaningJob(self._number, log.folder, plan, now_ms, self.bytes_per_second)
        )
        return chosen.partition

    def poll(self) -> list[str]:
        """Take all that the cleaner has done; returns replaced files, to be removed later."""
        replaced: list[str] = []
        while (more := self.step()) is not None:
            replaced += more
        return replaced

    def step(self) -> list[str] | None:
        """Take one answer of the cleaner, as `poll` does; None if there is none."""
        answer = self._cleaner.receive()
        if answer is None:
            return None
        if answer.number in self._given_up:
            self._drop(answer)
        elif isinstance(answer, Advanced):
            assert self._current is not None
            self.progress = (self._current.partition, answer.done_bytes, answer.total_bytes)
        elif isinstance(answer, Cleaned):
            return self._take(answer)
        else:
            self._give_up(answer)
        return []

    def _take(self, answer: Cleaned) -> list[str]:
        assert self._current is not None
        partition, log, checkpoint, _, cuts = self._current
        is_last = answer.group.is_last
        try:
            replaced = swap_in(log, answer.group, cuts=cuts)
        except OSError as error:
            _logger.warning("%s-%d was not compacted: %s", *partition, error)
            replaced = None
        except DiskFailed:
            self._cancel(is_last=is_last)
            raise
        if replaced is None:
            self._cancel(is_last=is_last)
            return []
        self._read_bytes += answer.group.bytes_read
        self._written_bytes += answer.group.files.size_bytes
        if is_last:
            self.copied_ratio = self._written_bytes / max(1, self._read_bytes)
            checkpoint[partition] = answer.group.next_dirty_offset
            self._done()
        return replaced

    def _give_up(self, failed: CleaningFailed) -> None:
        assert self._current is not None
        partition, log = self._current[:2]
        self._done()
        if failed.failure is Failure.UNSETTLED:
            self._unsettled[partition] = log.recovery_point
            return
        _logger.warning("%s-%d was not compacted: %s", *partition, failed.detail)
        if failed.failure in (Failure.CORRUPT_LOG, Failure.DISK_FAILED):
            self.uncleanable[partition] = failed.detail
        if failed.failure is Failure.DISK_FAILED:
            raise DiskFailed(log.folder, OSError(errno.EIO, failed.detail))

    def _cancel(self, *, is_last: bool) -> None:
        """What the cleaner still sends of this job does not count, and its files go."""
        assert self._current is not None
        if not is_last:
            self._given_up[self._number] = self._current.log
            self._cleaner.cancel()
        self._done()

    def _drop(self, answer: Answer) -> None:
        if isinstance(answer, Cleaned):
            with suppress(OSError, DiskFailed):  # then the next opening removes them
                discard(self._given_up[answer.number], answer.group)
        if isinstance(answer, CleaningFailed) or (
            isinstance(answer, Cleaned) and answer.group.is_last
        ):
            del self._given_up[answer.number]

    def _done(self) -> None:
        self._current = self.progress = None

    def close(self) -> None:
        """What is being cleaned is given up; the log's next opening removes what is left of it."""
        self._cleaner.close()
        self._dirtiest = None
        self._given_up.clear()
        self._done()

    def forget(self, partition: TopicPartition) -> None:
        """The log was deleted, moved or cut: what is being made of it will not be swapped in."""
        self.uncleanable.pop(partition, None)
        self._unsettled.pop(partition, None)
        if self._dirtiest is not None and partition == self._dirtiest.partition:
            self._dirtiest = None
        if partition == self.partition:
            self._cancel(is_last=False)


def _facts(partition: TopicPartition, log: Log, checkpoint: Offsets) -> LogFacts:
    """Nothing is dropped for a newer record that a power cut could take: it must last first."""
    facts = log_facts(log, checkpoint=checkpoint.get(partition))
    return facts._replace(last_stable_offset=min(facts.last_stable_offset, log.recovery_point))
