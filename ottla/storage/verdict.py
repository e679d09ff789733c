"""What compaction does with a record, and why: for `ottla log explain-compaction`."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class Verdict(Enum):
    """What happens to a record. The offset or time that some speak of is in `RecordFate.detail`."""

    KEPT_LATEST = "it is the latest of its key"
    KEPT_TOMBSTONE = "it deletes its key, and stays until the time"
    KEPT_OLD_TOMBSTONE = "it deletes its key, and stays while its segment is young"  # magic 0, 1
    KEPT_NOT_REACHED = "the offset map was full before it; a later pass begins at the offset"
    KEPT_MARKER = "it ends a transaction that had data when the pass began"
    KEPT_EMPTY_MARKER = "it ends a transaction without data, and stays until the time"
    # These the passes never say: they are about what no pass reaches, or could know.
    KEPT_NEW_TOMBSTONE = "it deletes its key; the next compaction lets it stay until the time"
    KEPT_NEWER_BEYOND = "the newer one of its key is out of reach, at the offset"
    KEPT_BELOW_START = "it goes only with its segment, though the log starts at the offset"
    KEPT_ACTIVE = "the active segment is never compacted"
    KEPT_OPEN_TRANSACTION = "a transaction is open since the offset"
    KEPT_NOT_REPLICATED = "it may not be replicated yet: the high watermark is the offset"
    KEPT_TOO_YOUNG = "min.compaction.lag.ms protects it until the time"
    DROPPED_NEWER = "a newer one of its key is at the offset"
    DROPPED_TOMBSTONE = "it deleted its key, and its time was over"
    DROPPED_ABORTED = "its transaction was aborted"
    DROPPED_WITHOUT_KEY = "it has no key"
    DROPPED_MARKER = "it ended a transaction without data, and its time was over"

    def __init__(self, _reason: str) -> None:
        # Asked once for every record of a log, so not a property.
        self.keeps = self.name.startswith("KEPT")


class RecordFate(NamedTuple):
    """One record and what becomes of it; the detail is an offset, a time in ms, or nothing."""

    offset: int
    key: bytes | None
    verdict: Verdict
    detail: int | None = None
