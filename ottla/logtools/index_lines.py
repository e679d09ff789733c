"""The lines for `.index` and `.timeindex` files, with Kafka's checks of them against the log."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

from ottla.logtools.finding import Finding, error, warning
from ottla.logtools.line import Line, plain
from ottla.logtools.scan import Scan, StoredBatch
from ottla.protocol.records.layout import NO_TIMESTAMP
from ottla.storage.files import File
from ottla.storage.index_entries import (
    OFFSET_ENTRY_BYTES,
    TIME_ENTRY_BYTES,
    parse_offset_index,
    parse_time_index,
)

REBUILD = "Rebuild it with `ottla log index` on the segment's .log file."
# An index entry is due every few KiB, so what it leads to is near.
_NEAR_BYTES = 16 * 1024


def live_entries(entries: list[tuple[int, int]], unused: tuple[int, int]) -> list[tuple[int, int]]:
    """Without the unused tail of a file that was preallocated and never closed."""
    end = len(entries)
    while end and entries[end - 1] == unused:
        end -= 1
    return entries[:end]


def offset_index_lines(
    data: bytes, log: File | None, *, path: str, base_offset: int, findings: list[Finding]
) -> Iterator[Line]:
    """`log` is the segment's .log file, if there is one to check against."""
    entries = live_entries(parse_offset_index(data, base_offset), (base_offset, 0))
    if not entries:
        yield _empty(path)
    for number, (offset, position) in enumerate(entries):
        if log is not None:
            what = _mismatch(log, offset, position)
            if what:
                findings.append(error(path, number * OFFSET_ENTRY_BYTES, what, REBUILD))
        yield plain("index entry", offset=offset, position=position)


def _empty(path: str) -> Line:
    return Line("empty", f"{path} is empty.")


def _mismatch(log: File, offset: int, position: int) -> str | None:
    batch = batch_at(log, position)
    if batch is None:
        return f"the entry for offset {offset} points to byte {position}, where no batch is"
    # A group of batches appended at once has one entry: its last offset and its first byte.
    first = batch.batch.base_offset if batch.batch is not None and batch.magic == 2 else 0
    if offset < first:
        return f"the entry for offset {offset} points to the batch that begins with {first}"
    return None


def batch_at(log: File, position: int) -> StoredBatch | None:
    if not 0 <= position < log.size():
        return None
    return next(iter(Scan(log, start=position, piece_bytes=_NEAR_BYTES)), None)


def time_index_lines(
    data: bytes,
    offset_index: bytes,
    log: File | None,
    *,
    path: str,
    base_offset: int,
    findings: list[Finding],
) -> Iterator[Line]:
    entries = live_entries(parse_time_index(data, base_offset), (0, base_offset))
    positions = live_entries(parse_offset_index(offset_index, base_offset), (base_offset, 0))
    previous = NO_TIMESTAMP
    for number, (timestamp, offset) in enumerate(entries):
        at = number * TIME_ENTRY_BYTES
        if log is not None and (what := _wrong_time(log, timestamp, offset, positions)):
            findings.append(error(path, at, what, REBUILD))
        if timestamp <= previous:
            what = f"timestamp {timestamp} follows {previous}: out of order"
            findings.append(error(path, at, what, REBUILD))
        previous = timestamp
        yield plain("time index entry", timestamp=timestamp, offset=offset)


def _wrong_time(
    log: File, timestamp: int, offset: int, positions: list[tuple[int, int]]
) -> str | None:
    found_at = bisect_right(positions, (offset, 1 << 31))
    start = positions[found_at - 1][1] if found_at else 0
    for stored in Scan(log, start=start, piece_bytes=_NEAR_BYTES):
        if stored.last_offset >= offset and stored.batch is not None:
            found = stored.batch.max_timestamp
            if found == timestamp:
                return None
            return f"offset {offset} has timestamp {found} in the log, not {timestamp}"
    return f"offset {offset} is not in the log"


def index_size(data_bytes: int, entry_bytes: int, *, path: str, findings: list[Finding]) -> None:
    """Kafka's first sanity check: a file of whole entries."""
    if data_bytes % entry_bytes:
        what = f"{data_bytes} bytes are no whole number of entries of {entry_bytes}"
        findings.append(warning(path, data_bytes - data_bytes % entry_bytes, what, REBUILD))
