"""Makes a log last: begun on the loop, synced on a file thread, noted on the loop."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

from ottla.storage.cutting import finish_drops
from ottla.storage.dropped import Dropped
from ottla.storage.files import Disk, File
from ottla.storage.leftovers import INDEX_KINDS, list_files
from ottla.storage.log import Log
from ottla.storage.names import Kind
from ottla.storage.segment import Segment


class Flush(NamedTuple):
    """Everything below `up_to` that is not known to last. `run` may be called on any thread.

    The log may meanwhile be cut or its segments deleted: the files are pinned until `run` is done.
    Segments that were dropped go first: found torn after a crash, they would cut the log in two.
    """

    disk: Disk
    folder: str
    dropped: list[Dropped]
    files: list[File]
    index_paths: list[str]
    save_epochs: Callable[[], None] | None
    up_to: int
    cuts: int

    def run(self) -> None:
        try:
            for dropped in self.dropped:
                dropped.run()
            for file in self.files:
                file.sync()
        finally:
            for file in self.files:
                file.unpin()
        if self.save_epochs is not None:
            self.save_epochs()
        for path in self.index_paths:
            with suppress(FileNotFoundError):
                index = self.disk.open(path, writable=False)
                try:
                    index.sync()
                finally:
                    index.close()
        self.disk.sync_folder(self.folder)


def begin_flush(log: Log, *, only_closed: bool = False) -> Flush | None:
    """What must be synced now; None if everything lasts already.

    The active segment's indexes are left out: after a crash they are made anew in any case. With
    `only_closed` so is the segment itself.
    """
    log.commit()
    up_to = log.active.base_offset if only_closed else log.next_offset
    if log.recovery_point >= up_to:
        return None
    segments = _segments_to_flush(log)
    closed = segments[:-1]
    files = [segment.log for segment in (closed if only_closed else segments)]
    for file in files:
        file.pin()
    return _flush(log, files, _index_paths(closed), up_to)


def _flush(log: Log, files: list[File], index_paths: list[str], up_to: int) -> Flush:
    return Flush(
        log.disk,
        log.folder,
        list(log.unfinished),
        files,
        index_paths,
        log.prepare_epochs(),
        up_to,
        log.cuts,
    )


def _segments_to_flush(log: Log) -> list[Segment]:
    """From the one with the last record that lasts: it may have been rolled since, and its indexes
    written."""
    return log.segments[log.segment_number(log.recovery_point - 1) :]


def _index_paths(segments: list[Segment]) -> list[str]:
    return [segment.path(kind.value) for segment in segments for kind in INDEX_KINDS]


def end_flush(log: Log, flush: Flush, *, now_ms: int = 0) -> None:
    """The sync is done. If the log was cut meanwhile, what stands there now may be new."""
    if log.cuts == flush.cuts:
        log.flushed_ms = max(log.flushed_ms, now_ms)
        log.recovery_point = max(log.recovery_point, flush.up_to)
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
    if not log.next_offset:
        log.active.close()  # never written to: whatever is lost of it is made anew as it was
        return
    finish_drops(log)
    log.seal()
    for segment in log.segments:
        segment.save_indexes()
    snapshot = f"{log.folder}/{log.next_offset:020d}{Kind.PRODUCERS.value}"
    index_paths = [snapshot, *_index_paths(_segments_to_flush(log))]
    flush(log)
    _flush(log, [], index_paths, log.next_offset).run()
    for segment in log.segments:
        segment.close()


def _remove_old_snapshots(log: Log) -> None:
    """Recovery starts at the segment of the recovery point, and needs none before that.

    But as in Kafka each segment has one: it tells whether transactions had ended by then.
    """
    needed = _segments_to_flush(log)[0].base_offset
    bases = {segment.base_offset for segment in log.segments}
    for file in list_files(log.disk, log.folder):
        if file.kind is Kind.PRODUCERS and file.offset < needed and file.offset not in bases:
            log.disk.remove(f"{log.folder}/{file}")
