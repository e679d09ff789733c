"""What makes a log shorter: truncation at its end, deletion at its beginning."""

from __future__ import annotations

from ottla.storage.leftovers import SEGMENT_KINDS, remove_segment_files, remove_snapshots
from ottla.storage.log import Log
from ottla.storage.names import Kind, Stage
from ottla.storage.recovery import rebuild_producers, start_over
from ottla.storage.segment import Segment


def truncate(log: Log, offset: int, *, now_ms: int) -> bool:
    """The log ends at `offset`; False if it did not reach further. A batch it lies in goes whole.

    The last segment goes first, so that a crash in between leaves a log without a hole. The new
    recovery point must be saved before the next append: the old one vouches for what is gone.
    """
    log.commit()
    if offset >= log.next_offset:
        return False
    if offset <= log.segments[0].base_offset:
        restart(log, offset, now_ms=now_ms)
        return True
    log.cuts += 1
    while log.active.base_offset >= offset:
        _remove(log, log.segments.pop())
    offset = log.active.truncate(offset)
    log.next_offset = offset
    log.log_start_offset = min(log.log_start_offset, offset)  # it may lie inside a batch that went
    log.recovery_point = min(log.recovery_point, offset)
    log.high_watermark = min(log.high_watermark, offset)
    remove_snapshots(log.disk, log.folder, above=offset)
    log.disk.sync_folder(log.folder)
    if log.producers.truncate(log_start_offset=log.log_start_offset, log_end_offset=offset):
        rebuild_producers(log)
    if log.epochs.truncate_from_end(offset):
        log.save_fewer_epochs()
    return True


def restart(log: Log, offset: int, *, now_ms: int) -> None:
    """Forget everything; the log goes on, empty, at `offset`."""
    log.commit()
    log.cuts += 1
    start_over(log, offset, now_ms=now_ms)
    log.next_offset = log.log_start_offset = log.high_watermark = log.recovery_point = offset
    log.producers.load((), end_offset=offset)
    log.epochs.clear()
    log.save_fewer_epochs()


def drop_oldest(log: Log, count: int, *, now_ms: int) -> list[str]:
    """Take the first segments out of the log; returns their renamed files, to be removed later.

    A reader may still be sending from them, which is what `file.delete.delay.ms` is for.
    """
    log.commit()
    if count == len(log.segments):
        log.roll(now_ms=now_ms)
        count = len(log.segments) - 1  # an empty active segment stays
    # The segment that is left must last before the others go: it alone knows where the log ends.
    log.disk.sync_folder(log.folder)
    dropped, log.segments[:count] = log.segments[:count], []
    renamed = [path for segment in dropped for path in set_aside(log, segment)]
    advance_start(log, max(log.log_start_offset, log.segments[0].base_offset))
    return renamed


def advance_start(log: Log, offset: int) -> None:
    """Records before `offset` count as deleted, wherever their files are."""
    if offset <= log.log_start_offset:
        return
    log.cuts += 1
    log.log_start_offset = offset
    log.high_watermark = max(log.high_watermark, offset)
    log.producers.on_high_watermark_updated(offset)
    if log.epochs.truncate_from_start(offset):
        log.save_fewer_epochs()


def set_aside(log: Log, segment: Segment, *, with_snapshot: bool = True) -> list[str]:
    """Rename a segment's files to `.deleted`, the log itself first, and for good.

    So a crash leaves no log without its indexes, and no later segment gone before this one.
    """
    segment.close()
    renamed = []
    for kind in SEGMENT_KINDS:
        path = segment.path(kind.value)
        if log.disk.status(path) is not None:
            log.disk.rename(path, path + Stage.DELETED.value)
            renamed.append(path + Stage.DELETED.value)
        if kind is Kind.LOG:
            log.disk.sync_folder(log.folder)
    if with_snapshot:
        log.disk.remove(segment.path(Kind.PRODUCERS.value))
    return renamed


def _remove(log: Log, segment: Segment) -> None:
    segment.close()
    remove_segment_files(log.disk, segment)
