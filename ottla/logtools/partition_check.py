"""Everything in one partition's folder: its segments in their order, and the files beside them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from typing import NamedTuple

from ottla.logtools.batch_check import CUT, BatchCheck
from ottla.logtools.finding import Finding, error, note, warning
from ottla.logtools.history_check import (
    RECOVER,
    EpochCheck,
    ProducerCheck,
    TransactionIndexCheck,
)
from ottla.logtools.index_check import OffsetIndexCheck, TimeIndexCheck
from ottla.logtools.index_lines import REBUILD
from ottla.logtools.scan import Scan
from ottla.storage import checkpoints
from ottla.storage.epochs import EpochEntry
from ottla.storage.files import CorruptLog, Disk
from ottla.storage.names import BadName, FileName, Kind, Stage, parse_file_name
from ottla.storage.snapshots import parse_snapshot
from ottla.storage.transactions import AbortedTransaction, parse_transaction_index

_SIDE_FILES = (Kind.OFFSET_INDEX, Kind.TIME_INDEX, Kind.TRANSACTION_INDEX)
_LEFTOVERS = {
    Stage.CLEANED: "left by a compaction that did not end; the broker removes it when it starts",
    Stage.SWAP: "left by a compaction that was about to end; the broker completes it at its start",
    Stage.DELETED: "to be deleted; the broker does it within a minute, or when it starts",
}


class Extent(NamedTuple):
    """From the first segment's base offset to one past the last sound record."""

    start_offset: int
    end_offset: int


class PartitionCheck:
    """Checks one folder. `advance` hears of every piece of a log that was read, in bytes."""

    def __init__(
        self, disk: Disk, folder: str, findings: list[Finding], advance: Callable[[int], None]
    ) -> None:
        self._disk = disk
        self._folder = folder
        self._findings = findings
        self._advance = advance
        self._files = self._list_files()
        self._bases = [name.offset for name in self._files if name.kind is Kind.LOG]
        first = self._bases[0] if self._bases else 0
        self._producers = ProducerCheck(findings, complete=first == 0)
        self._epochs = self._open_epochs()
        self._end_offset = first
        self._has_gaps = False

    def run(self) -> Extent:
        for number, base in enumerate(self._bases):
            self._check_segment(base, closed=number + 1 < len(self._bases))
        self._snapshots(self._end_offset, below=1 << 63)
        self._epochs.finish(self._end_offset)
        self._check_partition_metadata()
        return Extent(self._bases[0] if self._bases else 0, self._end_offset)

    def _path(self, name: str | FileName) -> str:
        return f"{self._folder}/{name}"

    def _list_files(self) -> list[FileName]:
        found = []
        for name in self._disk.names(self._folder):
            if name in (checkpoints.LEADER_EPOCHS, checkpoints.PARTITION_METADATA):
                continue
            try:
                parsed = parse_file_name(name)
            except BadName as cause:
                self._add(note(self._path(name), None, f"not one of Kafka's files: {cause.reason}"))
                continue
            if parsed.stage is Stage.PRESENT:
                found.append(parsed)
            else:
                self._add(note(self._path(name), None, _LEFTOVERS[parsed.stage]))
        for parsed in found:
            log = parsed._replace(kind=Kind.LOG)
            if parsed.kind in _SIDE_FILES and log not in found:
                what = f"there is no {log}"
                self._add(warning(self._path(parsed), None, what, "Remove it, as a broker does."))
        return found

    def _add(self, finding: Finding) -> None:
        self._findings.append(finding)

    def _open_epochs(self) -> EpochCheck:
        path = self._path(checkpoints.LEADER_EPOCHS)
        entries: tuple[EpochEntry, ...] = ()
        try:
            entries = checkpoints.parse_leader_epochs(self._disk.read(path), path)
        except FileNotFoundError:
            self._add(warning(path, None, "missing", RECOVER))
        except CorruptLog as cause:
            self._add(error(path, cause.position, cause.cause, RECOVER))
        # Of a broker that runs, or was killed, the file is behind: the newest are in the batches.
        parent = self._folder.rpartition("/")[0] or "."
        may_lag = self._disk.status(f"{parent}/{checkpoints.CLEAN_SHUTDOWN}") is None
        return EpochCheck(entries, path=path, findings=self._findings, may_lag=may_lag)

    def _check_segment(self, base: int, *, closed: bool) -> None:
        name = FileName(base, Kind.LOG)
        path = self._path(name)
        if base < self._end_offset:
            what = f"the segment before it reaches to offset {self._end_offset}"
            self._add(error(path, None, what, CUT))
        self._has_gaps |= base > self._end_offset
        self._snapshots(base, below=base + 1)
        batches = BatchCheck(path, base, self._findings)
        offsets = OffsetIndexCheck(
            self._index(name._replace(kind=Kind.OFFSET_INDEX)),
            path=self._path(name._replace(kind=Kind.OFFSET_INDEX)),
            base_offset=base,
            findings=self._findings,
        )
        times = TimeIndexCheck(
            self._index(name._replace(kind=Kind.TIME_INDEX)),
            path=self._path(name._replace(kind=Kind.TIME_INDEX)),
            base_offset=base,
            findings=self._findings,
        )
        aborted = self._aborted(base)
        with closing(self._disk.open(path, writable=False)) as file:
            scan = Scan(file)
            for stored in scan:
                expected = batches.next_offset
                self._advance(stored.size_bytes)
                if not batches.check(stored) or stored.batch is None:
                    offsets.skip(stored)
                    times.skip(stored)
                    continue
                batch = stored.batch
                self._has_gaps |= batch.base_offset > expected
                offsets.check(stored)
                times.check(stored)
                self._epochs.check(batch, path)
                ended = self._producers.replay(batch, path)
                exactly = self._producers.is_known and not self._has_gaps
                aborted.check(batch, ended, exactly=exactly)
            if scan.fault is not None:
                self._advance(scan.size_bytes - scan.end)
                self._add(error(path, scan.end, scan.fault, CUT))
        offsets.finish()
        times.finish(closed=closed)
        aborted.finish()
        self._end_offset = max(batches.next_offset, self._end_offset)

    def _index(self, name: FileName) -> bytes:
        if name not in self._files:
            self._add(warning(self._path(name), None, "missing", REBUILD))
            return b""
        return self._disk.read(self._path(name))

    def _aborted(self, base: int) -> TransactionIndexCheck:
        name = FileName(base, Kind.TRANSACTION_INDEX)
        path = self._path(name)
        entries: list[AbortedTransaction] = []
        if name in self._files:
            try:
                entries = parse_transaction_index(self._disk.read(path), path, base_offset=base)
            except CorruptLog as cause:
                self._add(error(path, cause.position, cause.cause, RECOVER))
        return TransactionIndexCheck(entries, path=path, findings=self._findings)

    def _snapshots(self, offset: int, *, below: int) -> None:
        """Those taken at `offset`; the batches before it have all been replayed."""
        for name in self._files:
            if name.kind is not Kind.PRODUCERS or not offset <= name.offset < below:
                continue
            path = self._path(name)
            try:
                producers = parse_snapshot(self._disk.read(path), path)
            except CorruptLog as cause:
                self._add(error(path, cause.position, cause.cause, "Remove it, as a broker does."))
                continue
            if name.offset > offset:
                what = f"taken at {name.offset}, but the log ends at {offset}"
                self._add(warning(path, None, what, "Remove it, as a broker does."))
            else:
                self._producers.snapshot(
                    producers, offset=name.offset, path=path, has_gaps=self._has_gaps
                )

    def _check_partition_metadata(self) -> None:
        path = self._path(checkpoints.PARTITION_METADATA)
        if self._disk.status(path) is None:
            return  # before Kafka 2.8 there was none
        try:
            checkpoints.parse_partition_metadata(self._disk.read(path), path)
        except CorruptLog as cause:
            fix = "Write the topic's id into it: the broker does not start with it as it is."
            self._add(error(path, cause.position, cause.cause, fix))
