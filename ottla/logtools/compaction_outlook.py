"""Whether a broker would compact a log now, and what speaks for or against it."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from ottla.logtools.partition_state import PartitionState
from ottla.storage.cleaning_plan import CleanableRange, dirtiest


class Reason(Enum):
    """Why a broker does, or does not. The first two are reasons to do it."""

    DIRTY = "its dirty ratio is above min.cleanable.dirty.ratio"
    OVERDUE = "its oldest dirty record has waited longer than max.compaction.lag.ms"
    CORRUPT = "a batch is corrupt, and a broker leaves such a log alone"
    EMPTY = "it is empty"
    NOTHING_CLOSED = "all of it is in the active segment"
    NOTHING_DIRTY = "all but the active segment is clean"
    OUT_OF_REACH = "nothing that is dirty is in reach"
    NOT_DIRTY_ENOUGH = "its dirty ratio is not above min.cleanable.dirty.ratio"


class Outlook(NamedTuple):
    """The answer for a log whose cleanup.policy holds `compact`."""

    would_compact: bool
    reason: Reason


def outlook(state: PartitionState, cleanable: CleanableRange, *, is_corrupt: bool) -> Outlook:
    log = state.log
    if is_corrupt:
        return Outlook(False, Reason.CORRUPT)
    if dirtiest({"it": (log, cleanable)}) is not None:
        ratio = cleanable.dirty_ratio
        is_dirty = ratio > log.config.min_cleanable_dirty_ratio
        return Outlook(True, Reason.DIRTY if is_dirty else Reason.OVERDUE)
    if cleanable.cleanable_bytes:
        return Outlook(False, Reason.NOT_DIRTY_ENOUGH)
    active = log.segments[-1]
    if not any(segment.size_bytes for segment in log.segments):
        return Outlook(False, Reason.EMPTY)
    if not any(segment.size_bytes for segment in log.segments[:-1]):
        return Outlook(False, Reason.NOTHING_CLOSED)
    if cleanable.first_dirty_offset >= active.base_offset:
        return Outlook(False, Reason.NOTHING_DIRTY)
    return Outlook(False, Reason.OUT_OF_REACH)
