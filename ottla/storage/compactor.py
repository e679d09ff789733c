"""Compacts one log after the other: picks the dirtiest, has it cleaned, swaps the result in.

Who cleans is passed in: the worker process in a broker, the same code at once in a simulation.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, MutableMapping
from typing import Protocol

from ottla.storage.checkpoints import TopicPartition
from ottla.storage.cleaning_job import (
    Advanced,
    Answer,
    Cleaned,
    CleaningFailed,
    CleaningJob,
    Failure,
)
from ottla.storage.cleaning_plan import cleanable_range, dirtiest, plan_cleaning
from ottla.storage.facts import active_producers, log_facts
from ottla.storage.log import Log
from ottla.storage.swap import discard, swap_in

_logger = logging.getLogger(__name__)


class Cleaner(Protocol):
    """One job at a time; answers come when they are asked for."""

    def submit(self, job: CleaningJob) -> None: ...

    def receive(self) -> Answer | None: ...

    def cancel(self) -> None: ...


class Compactor:
    """At most one log is being compacted. `checkpoint` says up to where each log is clean."""

    def __init__(
        self,
        cleaner: Cleaner,
        checkpoint: MutableMapping[TopicPartition, int],
        *,
        map_bytes: int,
        bytes_per_second: float = float("inf"),
    ) -> None:
        self.progress: tuple[TopicPartition, int, int] | None = None  # who, bytes done, in all
        self.uncleanable: dict[TopicPartition, str] = {}
        self._cleaner = cleaner
        self._checkpoint = checkpoint
        self._map_bytes = map_bytes
        self._bytes_per_second = bytes_per_second
        self._number = 0
        self._partition: TopicPartition | None = None
        self._log: Log | None = None
        self._cuts = 0
        self._given_up: dict[int, Log] = {}  # jobs whose last answer has not come yet

    @property
    def is_busy(self) -> bool:
        return self._partition is not None or bool(self._given_up)

    def start(self, logs: Mapping[TopicPartition, Log], *, now_ms: int) -> TopicPartition | None:
        """Begin with the dirtiest of the compacted logs; None if none is dirty enough."""
        assert not self.is_busy
        ranges = {}
        for partition, log in logs.items():
            if log.config.compacts and partition not in self.uncleanable:
                facts = log_facts(log, checkpoint=self._checkpoint.get(partition))
                ranges[partition] = (facts, cleanable_range(facts, now_ms=now_ms))
        chosen = dirtiest(ranges)
        if chosen is None:
            return None
        facts, cleanable = ranges[chosen]
        log = logs[chosen]
        plan = plan_cleaning(
            facts,
            cleanable,
            aborted=[entry for segment in log.segments for entry in segment.aborted],
            active_producers=active_producers(log),
            map_bytes=self._map_bytes,
        )
        self._number += 1
        self._partition, self._log = chosen, log
        self._cuts = log.cuts
        self._cleaner.submit(
            CleaningJob(self._number, log.folder, plan, now_ms, self._bytes_per_second)
        )
        return chosen

    def poll(self) -> list[str]:
        """Take what the cleaner has done; returns replaced files, to be removed later."""
        replaced: list[str] = []
        while (answer := self._cleaner.receive()) is not None:
            if answer.number in self._given_up:
                self._drop(answer)
            elif isinstance(answer, Advanced):
                assert self._partition is not None
                self.progress = (self._partition, answer.done_bytes, answer.total_bytes)
            elif isinstance(answer, Cleaned):
                replaced += self._take(answer)
            else:
                self._give_up(answer)
        return replaced

    def _take(self, answer: Cleaned) -> list[str]:
        assert self._log is not None
        assert self._partition is not None
        replaced = swap_in(self._log, answer.group, cuts=self._cuts)
        if replaced is None:
            self._cancel(is_last=answer.group.is_last)
            return []
        if answer.group.is_last:
            self._checkpoint[self._partition] = answer.group.next_dirty_offset
            self._done()
        return replaced

    def _give_up(self, failed: CleaningFailed) -> None:
        assert self._partition is not None
        _logger.warning("%s-%d was not compacted: %s", *self._partition, failed.detail)
        if failed.failure in (Failure.CORRUPT_LOG, Failure.DISK_FAILED):
            self.uncleanable[self._partition] = failed.detail
        self._done()

    def _cancel(self, *, is_last: bool) -> None:
        """What the cleaner still sends of this job does not count, and its files go."""
        assert self._log is not None
        if not is_last:
            self._given_up[self._number] = self._log
            self._cleaner.cancel()
        self._done()

    def _drop(self, answer: Answer) -> None:
        if isinstance(answer, Cleaned):
            discard(self._given_up[answer.number], answer.group)
        if isinstance(answer, CleaningFailed) or (
            isinstance(answer, Cleaned) and answer.group.is_last
        ):
            del self._given_up[answer.number]

    def _done(self) -> None:
        self._partition = self._log = self.progress = None

    def forget(self, partition: TopicPartition) -> None:
        """The log was deleted, moved or cut: what is being made of it will not be swapped in."""
        self._checkpoint.pop(partition, None)
        self.uncleanable.pop(partition, None)
        if partition == self._partition:
            self._cancel(is_last=False)
