"""Makes a log last: begun on the loop, synced on a file thread, noted on the loop."""

from __future__ import annotations

from typing import NamedTuple

from ottla.storage.files import Disk, File
from ottla.storage.leftovers import list_files
from ottla.storage.log import Log
from ottla.storage.names import Kind


class Flush(NamedTuple):
    """Everything below `up_to` that is not known to last. `run` may be called on any thread."""

    disk: Disk
    folder: str
    files: list[File]
    index_paths: list[str]
    up_to: int

    def run(self) -> None:
        for file in self.files:
            file.sync()
        for path in self.index_paths:
            if self.disk.status(path) is not None:
                index = self.disk.open(path, writable=False)
                index.sync()
                index.close()
        self.disk.sync_folder(self.folder)


def begin_flush(log: Log) -> Flush | None:
    """What must be synced now; None if everything lasts already.

    The active segment's indexes are left out: after a crash they are made anew in any case.
    """
    log.commit()
    if log.recovery_point >= log.next_offset:
        return None
    first = log.segment_number(log.recovery_point)
    files = [segment.log for segment in log.segments[first:]]
    index_paths = [
        segment.path(kind.value)
        for segment in log.segments[first:-1]
        for kind in (Kind.OFFSET_INDEX, Kind.TIME_INDEX, Kind.TRANSACTION_INDEX)
    ]
    return Flush(log.disk, log.folder, files, index_paths, log.next_offset)


def end_flush(log: Log, flush: Flush, *, now_ms: int = 0) -> None:
    """The sync is done. A truncation meanwhile counts for more."""
    log.flushed_ms = max(log.flushed_ms, now_ms)
    log.recovery_point = max(log.recovery_point, min(flush.up_to, log.next_offset))
    _remove_old_snapshots(log)


def flush(log: Log) -> None:
    """All three steps at once, for those who may wait."""
    begun = begin_flush(log)
    if begun is not None:
        begun.run()
        end_flush(log, begun)


def close(log: Log) -> None:
    """A clean end: everything lasts, and the next start need not look at any batch."""
    log.commit()
    log.active.seal()
    log.save_snapshot()
    for segment in log.segments:
        segment.save_indexes()
    flush(log)
    begun = Flush(log.disk, log.folder, [], _index_paths(log), log.next_offset)
    begun.run()
    for segment in log.segments:
        segment.close()


def _index_paths(log: Log) -> list[str]:
    snapshot = f"{log.folder}/{log.next_offset:020d}{Kind.PRODUCERS.value}"
    kinds = (Kind.OFFSET_INDEX, Kind.TIME_INDEX, Kind.TRANSACTION_INDEX)
    return [snapshot, *(log.active.path(kind.value) for kind in kinds)]


def _remove_old_snapshots(log: Log) -> None:
    """Recovery starts at the segment of the recovery point: older snapshots have had their day."""
    needed = log.segments[log.segment_number(log.recovery_point)].base_offset
    for file in list_files(log.disk, log.folder):
        if file.kind is Kind.PRODUCERS and file.offset < needed:
            log.disk.remove(f"{log.folder}/{file}")
