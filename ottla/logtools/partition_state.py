"""A partition's folder as compaction sees it: read from its files, which are never changed.

What a broker knows of a log is put together from the segments, the checkpoints of the log
directory, the producer snapshots and the transaction indexes. The folder of a running broker may
be read: its log then ends where it ended when the reading began.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import NamedTuple

from ottla.logtools.finding import Finding, error, note, warning
from ottla.logtools.paths import split_path
from ottla.logtools.producer_history import ProducerHistory
from ottla.logtools.scan import Scan
from ottla.logtools.verify import NoLogs
from ottla.storage import checkpoints
from ottla.storage.cleaning_plan import LogFacts
from ottla.storage.config import LogConfig
from ottla.storage.files import CorruptLog, Disk
from ottla.storage.leftovers import list_files
from ottla.storage.names import (
    BadName,
    Fate,
    FileName,
    FolderName,
    Kind,
    Stage,
    parse_folder_name,
)
from ottla.storage.retention import SegmentFacts
from ottla.storage.transaction_trail import ActiveProducer
from ottla.storage.transactions import AbortedTransaction

CUT = "What lies before it is explained; a broker does not compact a log with a corrupt batch."
_SWAP = "A broker is replacing segments, or was stopped while it did: look again later."


@dataclass(frozen=True, slots=True)
class PartitionState:
    """What a broker would know of the log, were it to choose what to compact now."""

    folder: str
    name: FolderName | None  # None if the folder is not named like one of a partition
    log: LogFacts
    high_watermark: int
    open_transactions: Mapping[int, int]  # by producer: the first offset
    aborted: tuple[AbortedTransaction, ...]
    producers: tuple[ActiveProducer, ...]
    findings: tuple[Finding, ...]
    is_corrupt: bool  # the log then ends before the first damage

    @property
    def first_open_offset(self) -> int | None:
        return min(self.open_transactions.values(), default=None)


class _Offsets(NamedTuple):
    """What the checkpoints of the log directory say."""

    log_start: int
    high_watermark: int | None
    cleaned_up_to: int | None


def read_state(
    disk: Disk,
    folder: str,
    config: LogConfig,
    *,
    now_ms: int,
    advance: Callable[[int], None] = lambda size_bytes: None,
) -> PartitionState:
    """Reads the whole log once; `NoLogs` if there is none. `advance` hears of bytes read."""
    return _StateReader(disk, folder.rstrip("/") or "/", config, advance).read(now_ms)


class _StateReader:
    """One reading of one folder."""

    def __init__(
        self, disk: Disk, folder: str, config: LogConfig, advance: Callable[[int], None]
    ) -> None:
        self._disk = disk
        self._folder = folder
        self._config = config
        self._advance = advance
        self._findings: list[Finding] = []
        self._is_corrupt = False
        self._end_offset = 0

    def read(self, now_ms: int) -> PartitionState:
        listed = list_files(self._disk, self._folder)
        files = [file for file in listed if file.stage is Stage.PRESENT]
        bases = [file.offset for file in files if file.kind is Kind.LOG]
        if not bases:
            raise NoLogs(self._folder)
        for file in listed:
            if file.stage is Stage.SWAP and file.kind is Kind.LOG:
                what = "a compacted segment that is not in its place yet"
                self._findings.append(warning(self._path(file), None, what, _SWAP))
        name = self._name()
        offsets = self._offsets(name, first_base=bases[0])
        history = ProducerHistory(
            self._disk,
            self._folder,
            files,
            log_start_offset=offsets.log_start,
            findings=self._findings,
        )
        self._end_offset = offsets.log_start
        segments = self._read_segments(bases, history)
        end_offset = max(self._end_offset, segments[-1].base_offset)
        history.finish(end_offset)
        history.states.remove_expired(
            now_ms=now_ms, expiration_ms=self._config.producer_id_expiration_ms
        )
        # Without a checkpoint there is no sign of anything that is not replicated.
        known = end_offset if offsets.high_watermark is None else offsets.high_watermark
        high_watermark = min(max(known, offsets.log_start), end_offset)
        return PartitionState(
            folder=self._folder,
            name=name,
            log=self._facts(offsets, segments, history, high_watermark, end_offset=end_offset),
            high_watermark=high_watermark,
            open_transactions=history.open_transactions(),
            aborted=history.aborted(below=end_offset),
            producers=history.active_producers(),
            findings=tuple(self._findings),
            is_corrupt=self._is_corrupt,
        )

    def _facts(
        self,
        offsets: _Offsets,
        segments: list[SegmentFacts],
        history: ProducerHistory,
        high_watermark: int,
        *,
        end_offset: int,
    ) -> LogFacts:
        cleaned = offsets.cleaned_up_to
        if self._is_corrupt and cleaned is not None:
            cleaned = min(cleaned, end_offset)
        return LogFacts(
            segments=segments,
            log_start_offset=offsets.log_start,
            log_end_offset=end_offset,
            last_stable_offset=history.states.last_stable_offset(
                high_watermark, log_start_offset=offsets.log_start
            ),
            checkpoint=cleaned,
            config=self._config,
        )

    def _path(self, file: FileName) -> str:
        return f"{self._folder}/{file}"

    def _name(self) -> FolderName | None:
        try:
            return parse_folder_name(split_path(self._folder)[1])
        except BadName:
            return None

    def _offsets(self, name: FolderName | None, *, first_base: int) -> _Offsets:
        return _Offsets(
            max(self._look_up(checkpoints.LOG_STARTS, name) or 0, first_base),
            self._look_up(checkpoints.HIGH_WATERMARKS, name),
            self._look_up(checkpoints.CLEANED_UP_TO, name),
        )

    def _look_up(self, file: str, name: FolderName | None) -> int | None:
        path = f"{split_path(self._folder)[0]}/{file}"
        if name is None or name.fate is not Fate.LIVE or self._disk.status(path) is None:
            return None
        try:
            offsets = checkpoints.parse_offsets(self._disk.read(path), path)
        except CorruptLog as cause:
            fix = "It was passed over, as if it were not there."
            self._findings.append(warning(path, cause.position, cause.cause, fix))
            return None
        return offsets.get((name.topic, name.partition))

    def _read_segments(self, bases: list[int], history: ProducerHistory) -> list[SegmentFacts]:
        segments: list[SegmentFacts] = []
        for base in bases:
            is_active = base == bases[-1]
            segments.append(self._read_segment(base, history, is_active=is_active))
            if self._is_corrupt:
                if not is_active and self._end_offset > base:
                    # All before the damage is in a closed segment: let the log end in an open one.
                    segments.append(SegmentFacts(self._end_offset, 0, segments[-1].modified_ms))
                break
        return segments

    def _read_segment(
        self, base: int, history: ProducerHistory, *, is_active: bool
    ) -> SegmentFacts:
        path = self._path(FileName(base, Kind.LOG))
        first_timestamp, max_timestamp, end = -1, -1, 0
        with closing(self._disk.open(path, writable=False)) as file:
            status = self._disk.status(path)
            scan = Scan(file)
            for stored in scan:
                self._advance(stored.size_bytes)
                if stored.fault is not None or stored.batch is None:
                    self._damaged(path, stored.position, stored.fault or "a corrupt batch")
                    break
                batch = stored.batch
                if end == 0:
                    first_timestamp = batch.max_timestamp
                max_timestamp = max(max_timestamp, batch.max_timestamp)
                try:
                    history.meet(batch, path)
                except CorruptLog as cause:
                    self._damaged(path, stored.position, cause.cause)
                    break
                self._end_offset = max(self._end_offset, batch.next_offset)
                end = stored.position + stored.size_bytes
            if scan.fault is not None and is_active:
                # A running broker may be in the middle of a write.
                fix = "It counts as the log's end."
                self._findings.append(note(path, scan.end, scan.fault, fix))
            elif scan.fault is not None:
                self._damaged(path, scan.end, scan.fault)
        return SegmentFacts(
            base_offset=base,
            size_bytes=end,
            modified_ms=status.modified_ms if status else 0,
            max_timestamp=max_timestamp,
            first_timestamp=first_timestamp,
            index_bytes=self._size(FileName(base, Kind.OFFSET_INDEX)),
            time_index_bytes=self._size(FileName(base, Kind.TIME_INDEX)),
        )

    def _damaged(self, path: str, position: int, what: str) -> None:
        self._is_corrupt = True
        self._findings.append(error(path, position, what, CUT))

    def _size(self, file: FileName) -> int:
        status = self._disk.status(self._path(file))
        return 0 if status is None else status.size_bytes
