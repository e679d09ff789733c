"""What makes a log shorter: truncation at its end, deletion at its beginning."""

from __future__ import annotations

from ottla.storage.dropped import Dropped
from ottla.storage.leftovers import remove_segment_files, remove_snapshots
from ottla.storage.log import Log
from ottla.storage.recovery import rebuild_producers, start_over
from ottla.storage.segment import Segment


def truncate(log: Log, offset: int, *, now_ms: int) -> bool:
    """The log ends at `offset`; False if it did not reach further. A batch it lies in goes whole.

    The last segment goes first, so that a crash in between leaves a log without a hole. No saved
    recovery point may vouch for what goes: a broker calls `LogDirectory.truncate`.
    """
    log.commit()
    if offset >= log.next_offset:
        return False
    if offset <= log.segments[0].base_offset:
        restart(log, offset, now_ms=now_ms)
        return True
    finish_drops(log)
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
        for path in rebuild_producers(log):
            log.disk.remove(path)
    if log.epochs.truncate_from_end(offset):
        log.save_fewer_epochs()
    return True


def restart(log: Log, offset: int, *, now_ms: int) -> None:
    """Forget everything; the log goes on, empty, at `offset`. As for checkpoints, see above."""
    log.commit()
    finish_drops(log)
    log.cuts += 1
    start_over(log, offset, now_ms=now_ms)
    log.next_offset = log.log_start_offset = log.high_watermark = log.recovery_point = offset
    log.producers.load((), end_offset=offset)
    log.epochs.clear()
    log.save_fewer_epochs()


def follow(source: Log, copy: Log, *, now_ms: int) -> None:
    """Cut off of a copy what the log it is made of does not have any more (KIP-595)."""
    latest = copy.epochs.latest
    if latest is not None and source.epochs.latest is not None:
        diverging = source.epochs.divergence(
            last_fetched_epoch=min(latest.epoch, source.epochs.latest.epoch),
            fetch_offset=copy.next_offset,
            log_end_offset=source.next_offset,
        )
        if diverging is not None:
            truncate(copy, diverging.end_offset, now_ms=now_ms)
        if latest.epoch > source.epochs.latest.epoch:
            truncate(copy, latest.start_offset, now_ms=now_ms)
    truncate(copy, source.next_offset, now_ms=now_ms)


def drop_oldest(log: Log, count: int, *, now_ms: int) -> list[str]:
    """Take the first segments out of the log; returns their renamed files, to be removed later.

    A reader may still be sending from them, which is what `file.delete.delay.ms` is for.
    """
    take_oldest(log, count, now_ms=now_ms)
    return finish_drops(log)


def take_oldest(log: Log, count: int, *, now_ms: int) -> Dropped:
    """The same for the log itself only; whoever `run`s what is returned then calls `note_dropped`.

    Until then it counts as unfinished: nothing that makes files may get in its way.
    """
    log.commit()
    if count == len(log.segments):
        log.roll(now_ms=now_ms)
        count = len(log.segments) - 1  # an empty active segment stays
    segments, log.segments[:count] = log.segments[:count], []
    for segment in segments:
        segment.close()
    log.cuts += 1  # also where the log had started later before: a compaction may hold them
    dropped = Dropped(log.disk, log.folder, segments)
    log.unfinished.append(dropped)
    advance_start(log, max(log.log_start_offset, log.segments[0].base_offset))
    return dropped


def note_dropped(log: Log, dropped: Dropped) -> None:
    if dropped in log.unfinished:
        log.unfinished.remove(dropped)


def finish_drops(log: Log) -> list[str]:
    """Here and now, whoever else is at it."""
    renamed: list[str] = []
    while log.unfinished:
        renamed += log.unfinished[0].run()
        log.unfinished.pop(0)
    return renamed


def advance_start(log: Log, offset: int) -> None:
    """Records before `offset` count as deleted, wherever their files are.

    The file of the epochs keeps what goes until a flush saves it: to wait for the disk here would
    stop the loop for each partition, and whoever opens the log leaves out those before its start.
    """
    if offset <= log.log_start_offset:
        return
    log.cuts += 1
    log.log_start_offset = offset
    log.high_watermark = max(log.high_watermark, offset)
    log.producers.on_high_watermark_updated(offset)
    log.epochs.truncate_from_start(offset)


def _remove(log: Log, segment: Segment) -> None:
    segment.close()
    remove_segment_files(log.disk, segment)
