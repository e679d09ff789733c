"""Opens a partition's log: finishes or undoes what a crash interrupted, and checks what it must.

After a clean stop names and sizes are trusted. After a crash every batch from the recovery point on
is checked, the log is cut at the first bad byte, and indexes and producer state are made anew.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ottla.storage.check import check_segment
from ottla.storage.checkpoint_file import EpochFile
from ottla.storage.config import LogConfig
from ottla.storage.epochs import LeaderEpochs
from ottla.storage.files import CorruptLog, Disk
from ottla.storage.leftovers import (
    list_files,
    remove_segment_files,
    remove_snapshots,
    tidy_up,
)
from ottla.storage.log import Log
from ottla.storage.names import FileName, Kind
from ottla.storage.producer import knows_ends
from ottla.storage.producers import ProducerStates
from ottla.storage.replay import replay_batch
from ottla.storage.scan import read_batch, walk
from ottla.storage.segment import Segment
from ottla.storage.snapshots import parse_snapshot
from ottla.storage.transactions import AbortedTransaction

log_ = logging.getLogger(__name__)


class Found(NamedTuple):
    """What a log directory knew of a partition when it was last closed, or last saved.

    Without a recovery point everything is checked, and nothing is taken for lost that may never
    have been there.
    """

    was_clean: bool
    recovery_point: int | None = None
    log_start_offset: int = 0


def open_log(
    disk: Disk,
    folder: str,
    config: LogConfig,
    found: Found,
    *,
    now_ms: int,
    jitter: Callable[[int], int] = lambda most_ms: 0,
    on_progress: Callable[[int], None] = lambda size_bytes: None,
) -> Log:
    """The log in `folder`, which is made if it is not there: whoever asks makes its name last."""
    if disk.status(folder) is None:
        disk.make_folder(folder)
    files = tidy_up(disk, folder)
    segments = [
        _open_segment(disk, folder, file.offset, config) for file in files if file.kind is Kind.LOG
    ]
    if not segments:
        segments = [Segment.create(disk, folder, found.log_start_offset, config, now_ms=now_ms)]
    log = Log(
        disk,
        folder,
        config,
        segments=segments,
        next_offset=0,
        log_start_offset=max(found.log_start_offset, segments[0].base_offset),
        recovery_point=found.recovery_point or 0,
        producers=ProducerStates(),
        epoch_file=EpochFile(disk, folder),
        jitter=jitter,
    )
    checked = _check(log, found, files, on_progress)
    log.next_offset = log.active.end_offset()
    if log.next_offset < log.log_start_offset:
        # Records were deleted up to where the log, after a power cut, does not reach any more.
        start_over(log, log.log_start_offset, now_ms=now_ms)
        log.next_offset, checked = log.log_start_offset, []
    log.recovery_point = log.next_offset
    if not found.was_clean:
        log.recovery_point = min(found.recovery_point or 0, log.next_offset)
    # The file may keep what goes here until a flush saves it: up to there the batches are asked.
    log.epochs.truncate_from_end(log.next_offset)
    log.epochs.truncate_from_start(log.log_start_offset)
    useless = rebuild_producers(log, checked)
    _save_indexes(log, checked)
    for path in useless:  # only now: they tell which segments must have an index
        log.disk.remove(path)
    log.active.load_timestamps()
    log.active.created_ms = now_ms
    return log


def _save_indexes(log: Log, checked: Sequence[Segment]) -> None:
    for segment in log.segments:
        if segment in checked and log.producers.has_seen_ends:
            segment.transactions.keep_file()
        if segment in checked or segment.transactions.is_unsaved:
            # Below the recovery point no flush will look after them any more.
            segment.save_indexes(sync=segment.base_offset < log.recovery_point)


def start_over(log: Log, offset: int, *, now_ms: int) -> None:
    """An empty segment at `offset`, and nothing else."""
    while log.segments:
        segment = log.segments.pop()
        segment.close()
        remove_segment_files(log.disk, segment)
    remove_snapshots(log.disk, log.folder, above=-1)
    log.segments.append(Segment.create(log.disk, log.folder, offset, log.config, now_ms=now_ms))
    log.disk.sync_folder(log.folder)


def _open_segment(disk: Disk, folder: str, base_offset: int, config: LogConfig) -> Segment:
    segment = Segment(disk, folder, base_offset, config)
    segment.size_bytes = segment.log.size()
    segment.reserve.end = sys.maxsize  # a crash may have left any
    return segment


def _check(
    log: Log, found: Found, files: list[FileName], on_progress: Callable[[int], None]
) -> list[Segment]:
    """Check what cannot be trusted; returns the segments whose indexes were made anew.

    A flush that reaches beyond a segment has made its indexes last, one that ends with it may have
    come before they were written.
    """
    names = {str(file) for file in files}
    checked: list[Segment] = []
    first_unflushed = len(log.segments)
    for number, segment in enumerate(log.segments):
        following = log.segments[number + 1 : number + 2]
        next_base = following[0].base_offset if following else None
        is_flushed = next_base is not None and next_base < (found.recovery_point or 0)
        epochs = log.epochs
        if (found.was_clean or is_flushed) and _has_sound_indexes(segment, names):
            if not _has_lost_aborted(log, segment, names, next_base=next_base):
                continue
            epochs = LeaderEpochs()  # of a segment in the middle nothing is to be learnt
        checked.append(segment)
        if (found.was_clean or is_flushed) and segment.size_bytes:
            # Saved last, it says that all are whole: a crash meanwhile brings us here again.
            log.disk.remove(segment.path(".index"))
            log.disk.sync_folder(log.folder)
        wrong = check_segment(segment, next_base=next_base, epochs=epochs, on_progress=on_progress)
        if wrong is not None and (found.was_clean or is_flushed):
            raise wrong  # no crash did this: what follows was acknowledged, and stays
        if not found.was_clean and not is_flushed:
            first_unflushed = min(first_unflushed, number)
        if wrong is not None:
            log_.warning("%s; the log is cut there", wrong)
            _cut(log, number)
            break
        segment.index_last_timestamp()
    was_compacted = log.config.compacts or any(segment.has_gaps for segment in checked)
    if found.recovery_point is not None and not was_compacted:
        _cut_at_gap(log, first_unflushed)
    return [segment for segment in checked if segment in log.segments]


def _cut_at_gap(log: Log, first: int) -> None:
    """The end of a segment can be lost while the next one is not.

    Compaction makes gaps, too, but not only between segments: where there are others, none is cut.
    """
    for number, segment in enumerate(log.segments[first:-1], first):
        end, next_base = segment.end_offset(), log.segments[number + 1].base_offset
        if end != next_base:
            missing = f"the offsets from {end} to {next_base - 1} are missing"
            log_.warning("%s: %s; the log is cut there", segment.log.path, missing)
            _cut(log, number)
            return


def _has_sound_indexes(segment: Segment, names: set[str]) -> bool:
    for kind in (Kind.OFFSET_INDEX, Kind.TIME_INDEX):
        if str(FileName(segment.base_offset, kind)) not in names:
            return False
    try:
        if str(FileName(segment.base_offset, Kind.TRANSACTION_INDEX)) in names:
            _ = segment.aborted
        return segment.offset_index.last()[1] <= segment.size_bytes and len(segment.time_index) >= 0
    except CorruptLog as error:
        log_.warning("%s; the indexes are made anew", error)
        return False


def _has_lost_aborted(
    log: Log, segment: Segment, names: set[str], *, next_base: int | None
) -> bool:
    """No index of aborted transactions, though transactions had ended by the segment's end.

    Without it their records would be read as if they were committed. Of what Kafka wrote it may
    have been empty: then it is made once.
    """
    if (
        str(FileName(segment.base_offset, Kind.TRANSACTION_INDEX)) in names
        or not segment.size_bytes
    ):
        return False
    # A clean stop leaves one at the log's end, the newest; to look for that end would take longer.
    newest = max((name for name in names if name.endswith(Kind.PRODUCERS.value)), default="")
    snapshot = newest if next_base is None else str(FileName(next_base, Kind.PRODUCERS))
    if snapshot not in names or snapshot <= str(FileName(segment.base_offset, Kind.PRODUCERS)):
        return False
    path = f"{log.folder}/{snapshot}"
    try:
        is_lost = knows_ends(parse_snapshot(log.disk.read(path), path))
    except CorruptLog:
        is_lost = True  # nobody knows
    if is_lost:
        log_.warning("%s has no .txnindex; it is made anew", segment.log.path)
    return is_lost


def _cut(log: Log, number: int) -> None:
    """Cut the segment where it is wrong; what came after cannot follow on it any more."""
    for segment in reversed(log.segments[number + 1 :]):
        segment.close()
        remove_segment_files(log.disk, segment)
    del log.segments[number + 1 :]
    log.active.log.truncate(log.active.size_bytes)
    # No flush may come to it: what is left may all be known to last.
    log.active.log.sync()


def rebuild_producers(log: Log, checked: Sequence[Segment] = ()) -> list[str]:
    """Producer state at the log's end: the newest snapshot that can be used, and what came after.

    The aborted transactions that ended in the `checked` segments go back into them, and any that
    an index has lost. Returns the snapshots that are of no use.
    """
    at_most = checked[0].base_offset if checked else log.next_offset
    start, useless = _load_newest_snapshot(log, at_most=at_most)
    if start >= log.next_offset:
        return useless  # after a clean stop the snapshot says it all
    for segment in log.segments:
        if segment is not log.active and _next_base(log, segment) <= start:
            continue
        for place in walk(segment.log, 0, segment.size_bytes):
            if place.last_offset < start or place.magic < 2:
                continue
            batch = read_batch(segment.log, place, check_crc=False)
            completed = replay_batch(log.producers, batch, segment.log.path)
            if completed is not None and completed.is_aborted:
                segment.transactions.include(AbortedTransaction.of(completed))
    return useless


def _next_base(log: Log, segment: Segment) -> int:
    return log.segments[log.segments.index(segment) + 1].base_offset


def _load_newest_snapshot(log: Log, *, at_most: int) -> tuple[int, list[str]]:
    """Loads it; its offset, and those that must go: behind `at_most`, and broken ones.

    Not one from before the recovery point: of what it says is open, compaction may have taken the
    end.
    """
    useless: list[str] = []
    at_least = log.segments[log.segment_number(log.recovery_point - 1)].base_offset
    log.producers.load((), end_offset=log.log_start_offset)
    for file in reversed(list_files(log.disk, log.folder)):
        if file.kind is not Kind.PRODUCERS:
            continue
        path = f"{log.folder}/{file}"
        if file.offset < at_least:
            break
        if log.log_start_offset < file.offset <= at_most:
            try:
                log.producers.load(
                    parse_snapshot(log.disk.read(path), path), end_offset=file.offset
                )
            except CorruptLog as error:
                log_.warning("%s; an older snapshot is taken", error)
            else:
                return file.offset, useless
        if file.offset > at_most or file.offset > log.log_start_offset:
            useless.append(path)
    return log.log_start_offset, useless
