"""Puts a compacted segment in the place of those it was made from; a crash leaves one or the other.

The order of the renames is what `leftovers.py` counts on: the new log gets its `.swap` name last,
the old segments go from the first on, and the new log loses the suffix last. So whatever is left of
the old ones has all that came after it: no record is there without the tombstone that deleted it.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from ottla.storage.cleaner import CleanedGroup
from ottla.storage.dropped import set_aside
from ottla.storage.files import DiskFailed
from ottla.storage.leftovers import INDEX_KINDS, SEGMENT_KINDS
from ottla.storage.log import Log
from ottla.storage.names import FileName, Kind, Stage
from ottla.storage.segment import Segment


def swap_in(log: Log, group: CleanedGroup, *, cuts: int) -> list[str] | None:
    """The old files' new names, to be removed later; None if the log was cut meanwhile.

    `cuts` is the log's count from before it was read. A record may have been dropped for a newer
    one that is no longer there, so what was cleaned is of no use then, wherever the cut was.
    """
    if log.cuts != cuts:
        discard(log, group)
        return None
    base_offset = group.sources[0]
    number = log.segment_number(base_offset)
    sources = log.segments[number : number + len(group.sources)]
    assert tuple(segment.base_offset for segment in sources) == group.sources
    replaced: list[str] = []
    try:
        _swap(log, sources, replaced)
    except OSError:
        _undo(log, sources, group, replaced)
        raise
    compacted = Segment(log.disk, log.folder, base_offset, log.config)
    compacted.size_bytes = group.files.size_bytes
    log.segments[number : number + len(sources)] = [compacted]
    return replaced


def _swap(log: Log, sources: Sequence[Segment], replaced: list[str]) -> None:
    base_offset = sources[0].base_offset
    _rename(log, base_offset, Stage.CLEANED, Stage.SWAP)
    log.disk.sync_folder(log.folder)
    for segment in sources:
        segment.close()
        replaced.extend(set_aside(log.disk, segment, with_snapshot=segment is not sources[0]))
    _rename(log, base_offset, Stage.SWAP, Stage.PRESENT)
    with suppress(OSError):  # it is done: at worst an opening has to take the suffix off again
        log.disk.sync_folder(log.folder)


def _undo(
    log: Log, sources: Sequence[Segment], group: CleanedGroup, replaced: Sequence[str]
) -> None:
    """The system refused a rename: the old segments come back, from the last to the first.

    The new log with its suffix is a promise: whoever dies here leaves a swap that can be finished.
    Without it nothing has happened yet, and what is left lying about does no harm.
    """
    promise = f"{log.folder}/{FileName(group.sources[0], Kind.LOG, Stage.SWAP)}"
    try:
        if log.disk.status(promise) is not None:
            _remove_new_indexes(log, group)
            for segment in reversed(sources):
                _bring_back(log, segment, replaced)
            log.disk.remove(promise)
            log.disk.sync_folder(log.folder)
    except OSError as error:
        # Neither forth nor back: only an opening can put this in order.
        raise DiskFailed(log.folder, error) from error
    with suppress(OSError):
        discard(log, group)


def _remove_new_indexes(log: Log, group: CleanedGroup) -> None:
    """Those that have their final names already, where the old ones are to come back."""
    for kind in INDEX_KINDS:
        staged = [FileName(group.sources[0], kind, stage) for stage in (Stage.CLEANED, Stage.SWAP)]
        was_made = str(staged[0]) in group.files.names
        if was_made and not any(log.disk.status(f"{log.folder}/{name}") for name in staged):
            log.disk.remove(f"{log.folder}/{FileName(group.sources[0], kind)}")


def _bring_back(log: Log, segment: Segment, replaced: Sequence[str]) -> None:
    """The log last, for good: until then there is none without its indexes.

    Only what was `replaced` just now: an earlier swap may have left files of the same names.
    """
    for kind in reversed(SEGMENT_KINDS):
        path = segment.path(kind.value)
        if path + Stage.DELETED.value in replaced:
            if kind is Kind.LOG:
                log.disk.sync_folder(log.folder)
            log.disk.rename(path + Stage.DELETED.value, path)
    log.disk.sync_folder(log.folder)


def discard(log: Log, group: CleanedGroup) -> None:
    """What was cleaned will not be used."""
    for kind in SEGMENT_KINDS:
        for stage in (Stage.CLEANED, Stage.SWAP):
            log.disk.remove(f"{log.folder}/{FileName(group.sources[0], kind, stage)}")


def _rename(log: Log, base_offset: int, old: Stage, new: Stage) -> None:
    for kind in reversed(SEGMENT_KINDS):
        path = f"{log.folder}/{FileName(base_offset, kind, old)}"
        if log.disk.status(path) is not None:
            log.disk.rename(path, f"{log.folder}/{FileName(base_offset, kind, new)}")
