"""What a crash can leave in a partition's folder, and what becomes of it.

Compaction writes `.cleaned` files, renames them to `.swap` when all are complete, sets the segments
they replace aside as `.deleted`, and takes the suffix off. So a `.cleaned` file is the start of
something that never happened, and a `.log.swap` without one is something that has.
"""

from __future__ import annotations

from ottla.storage.files import Disk
from ottla.storage.names import BadName, FileName, Kind, Stage, parse_file_name
from ottla.storage.scan import walk
from ottla.storage.segment import Segment

INDEX_KINDS = (Kind.OFFSET_INDEX, Kind.TIME_INDEX, Kind.TRANSACTION_INDEX)
SEGMENT_KINDS = (Kind.LOG, *INDEX_KINDS)


def tidy_up(disk: Disk, folder: str) -> list[FileName]:
    """Finish or undo what was interrupted; returns the files that are then left, in order."""
    files = list_files(disk, folder)
    if not any(_is_left_over(file, files) for file in files):
        return files
    unfinished = min((file.offset for file in files if file.stage is Stage.CLEANED), default=None)
    for file in files:
        is_complete = unfinished is None or file.offset < unfinished
        if file.stage is Stage.SWAP and file.kind is Kind.LOG and is_complete:
            _finish_swap(disk, folder, file, files)
    files = list_files(disk, folder)
    for file in files:
        if _is_left_over(file, files):
            disk.remove(f"{folder}/{file}")
    disk.sync_folder(folder)
    return list_files(disk, folder)


def _is_left_over(file: FileName, files: list[FileName]) -> bool:
    """Not finished, or an index whose log is gone."""
    if file.stage is not Stage.PRESENT:
        return True
    return file.kind in INDEX_KINDS and FileName(file.offset, Kind.LOG) not in files


def remove_segment_files(disk: Disk, segment: Segment) -> None:
    """The log first, and for good: indexes without one are swept up, not so one without them.

    A power cut may undo any removal that was not synced. Were it not, the log of a segment could
    be there without its aborted transactions, or that of a later segment without this one.
    """
    disk.remove(segment.path(Kind.LOG.value))
    disk.sync_folder(segment.folder)
    for kind in INDEX_KINDS:
        disk.remove(segment.path(kind.value))


def remove_snapshots(disk: Disk, folder: str, *, above: int) -> None:
    for file in list_files(disk, folder):
        if file.kind is Kind.PRODUCERS and file.offset > above:
            disk.remove(f"{folder}/{file}")


def list_files(disk: Disk, folder: str) -> list[FileName]:
    """The files of segments, finished or not; what else lies in the folder is not ours."""
    files = []
    for name in disk.names(folder):
        try:
            files.append(parse_file_name(name))
        except BadName:
            continue
    return files


def _finish_swap(disk: Disk, folder: str, swap: FileName, files: list[FileName]) -> None:
    """Put a complete new segment in the place of those it replaces; its indexes are made anew."""
    path = f"{folder}/{swap}"
    log = disk.open(path, writable=False)
    end = swap.offset
    try:
        for place in walk(log, 0, log.size(), piece_bytes=1024 * 1024):
            end = place.last_offset + 1
    finally:
        log.close()
    for file in files:
        replaced = swap.offset <= file.offset < max(end, swap.offset + 1)
        if replaced and file.stage is Stage.PRESENT and file.kind in SEGMENT_KINDS:
            disk.remove(f"{folder}/{file}")
    disk.rename(path, f"{folder}/{FileName(swap.offset, Kind.LOG)}")
