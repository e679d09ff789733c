"""Puts a compacted segment in the place of those it was made from; a crash leaves one or the other.

The order of the renames is what `leftovers.py` counts on: the new log gets its `.swap` name last,
the old segments go from the end, and the new log loses the suffix last.
"""

from __future__ import annotations

from ottla.storage.cleaner import CleanedGroup
from ottla.storage.cutting import set_aside
from ottla.storage.leftovers import SEGMENT_KINDS
from ottla.storage.log import Log
from ottla.storage.names import FileName, Stage
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
    _rename(log, base_offset, Stage.CLEANED, Stage.SWAP)
    replaced: list[str] = []
    for segment in reversed(sources):
        replaced += set_aside(log, segment, with_snapshot=segment is not sources[0])
    _rename(log, base_offset, Stage.SWAP, Stage.PRESENT)
    compacted = Segment(log.disk, log.folder, base_offset, log.config)
    compacted.size_bytes = group.files.size_bytes
    log.segments[number : number + len(sources)] = [compacted]
    return replaced


def discard(log: Log, group: CleanedGroup) -> None:
    """What was cleaned will not be used."""
    for name in group.files.names:
        log.disk.remove(f"{log.folder}/{name}")


def _rename(log: Log, base_offset: int, old: Stage, new: Stage) -> None:
    for kind in reversed(SEGMENT_KINDS):
        path = f"{log.folder}/{FileName(base_offset, kind, old)}"
        if log.disk.status(path) is not None:
            log.disk.rename(path, f"{log.folder}/{FileName(base_offset, kind, new)}")
    log.disk.sync_folder(log.folder)
