"""What `kafka-dump-log` prints of a file, line by line, in the words of the release asked for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from enum import Enum

from ottla.logtools import decoders, old_decoders
from ottla.logtools.batch_lines import batch_line, record_lines
from ottla.logtools.decoders import Decoder, ToolStops
from ottla.logtools.finding import Finding, error, note
from ottla.logtools.index_lines import index_size, offset_index_lines, time_index_lines
from ottla.logtools.line import Line
from ottla.logtools.old_batch_lines import old_batch_line, old_record_lines
from ottla.logtools.paths import sibling, split_path
from ottla.logtools.scan import Scan, StoredBatch
from ottla.logtools.state_lines import (
    TEXT_FILES,
    snapshot_lines,
    transaction_index_lines,
)
from ottla.protocol.errors import ProtocolError
from ottla.storage.files import CorruptLog, Disk, File
from ottla.storage.index_entries import OFFSET_ENTRY_BYTES, TIME_ENTRY_BYTES
from ottla.storage.names import BadName, FileName, Kind, parse_file_name

RENEW = "Move it away while no broker runs on the folder: the broker makes it anew."
_TRUNCATE = (
    "A broker cuts the log there when it recovers; copy the file first if you need the rest."
)


class Contents(Enum):
    """What a dump shows of keys and values."""

    NONE = "none"
    TEXT = "text"
    OFFSETS = "offsets"
    TRANSACTIONS = "transactions"


class Release(Enum):
    """Whose words the lines have."""

    KAFKA_2_0 = "2.0"
    KAFKA_3_9 = "3.9"


_DECODERS: dict[tuple[Release, Contents], Decoder] = {
    (Release.KAFKA_2_0, Contents.TEXT): decoders.as_text,
    (Release.KAFKA_3_9, Contents.TEXT): decoders.as_text,
    (Release.KAFKA_2_0, Contents.OFFSETS): old_decoders.offsets,
    (Release.KAFKA_3_9, Contents.OFFSETS): decoders.offsets,
    (Release.KAFKA_2_0, Contents.TRANSACTIONS): old_decoders.transactions,
    (Release.KAFKA_3_9, Contents.TRANSACTIONS): decoders.transactions,
}


@dataclass(frozen=True, slots=True)
class DumpOptions:
    """Contents other than NONE imply that records are shown."""

    contents: Contents = Contents.NONE
    records: bool = False
    release: Release = Release.KAFKA_3_9

    @property
    def shows_records(self) -> bool:
        return self.records or self.contents is not Contents.NONE


class UnknownFile(Exception):
    """No file of a log directory has such a name."""


def is_dumpable(path: str) -> bool:
    """Whether a file's name tells what is in it."""
    name = split_path(path)[1]
    try:
        return name in TEXT_FILES or bool(parse_file_name(name))
    except BadName:
        return False


class Dump:
    """The lines of one file after another; what is wrong with them gathers in `findings`."""

    def __init__(self, disk: Disk, options: DumpOptions) -> None:
        self._disk = disk
        self._options = options
        self._is_old = options.release is Release.KAFKA_2_0
        self._decoder = _DECODERS.get((options.release, options.contents))
        self.findings: list[Finding] = []

    def lines(self, path: str) -> Iterator[Line]:
        """`UnknownFile` for a name that no file of a log directory has."""
        name = split_path(path)[1]
        try:
            if name in TEXT_FILES:
                yield from TEXT_FILES[name](self._disk.read(path), path)
            else:
                yield from self._segment_file(path, parse_file_name(name))
        except BadName as cause:
            raise UnknownFile(path) from cause
        except CorruptLog as cause:
            self.findings.append(error(path, cause.position, cause.cause, RENEW))

    def _segment_file(self, path: str, name: FileName) -> Iterator[Line]:
        match name.kind:
            case Kind.LOG:
                yield from self._log(path, name.offset)
            case Kind.OFFSET_INDEX | Kind.TIME_INDEX:
                yield from self._index(path, name)
            case Kind.TRANSACTION_INDEX:
                yield from transaction_index_lines(self._disk.read(path), path)
            case Kind.PRODUCERS:
                yield from snapshot_lines(self._disk.read(path), path, old=self._is_old)

    def _index(self, path: str, name: FileName) -> Iterator[Line]:
        data = self._disk.read(path)
        base = name.offset
        log = self._open_log(sibling(path, name, Kind.LOG))
        try:
            if name.kind is Kind.OFFSET_INDEX:
                index_size(len(data), OFFSET_ENTRY_BYTES, path=path, findings=self.findings)
                yield from offset_index_lines(
                    data, log, path=path, base_offset=base, findings=self.findings
                )
            else:
                index_size(len(data), TIME_ENTRY_BYTES, path=path, findings=self.findings)
                offsets = sibling(path, name, Kind.OFFSET_INDEX)
                positions = self._disk.read(offsets) if self._disk.status(offsets) else b""
                yield from time_index_lines(
                    data, positions, log, path=path, base_offset=base, findings=self.findings
                )
        finally:
            if log is not None:
                log.close()

    def _open_log(self, path: str) -> File | None:
        if self._disk.status(path) is None:
            self.findings.append(
                note(path, None, "not there, so the index was not checked against it")
            )
            return None
        return self._disk.open(path, writable=False)

    def _log(self, path: str, base_offset: int) -> Iterator[Line]:
        start = "Starting offset" if self._is_old else "Log starting offset"
        yield Line("log").add(start, base_offset)
        with closing(self._disk.open(path, writable=False)) as file:
            scan = Scan(file)
            try:
                for stored in scan:
                    yield from self._batch(path, stored)
            except ToolStops as cause:
                what = f"Kafka {self._options.release.value} stops here: {cause}"
                self.findings.append(error(path, scan.end, what, "Use --format 3.9."))
                return
            if scan.fault is not None:
                self.findings.append(error(path, scan.end, scan.fault, _TRUNCATE))
                left = scan.size_bytes - scan.end
                text = f"Found {left} invalid bytes at the end of {split_path(path)[1]}"
                yield Line("invalid", text, {"position": scan.end, "bytes": left})

    def _batch(self, path: str, stored: StoredBatch) -> Iterator[Line]:
        if stored.fault is not None:
            self.findings.append(error(path, stored.position, stored.fault, _TRUNCATE))
        deep = self._options.shows_records
        if not self._is_old:
            yield batch_line(stored)
        elif not deep or stored.batch is None:
            yield old_batch_line(stored)
        if not deep or stored.batch is None:
            return
        try:
            if self._is_old:
                yield from old_record_lines(stored, stored.batch, self._decoder)
            else:
                yield from record_lines(stored.batch, self._decoder)
        except ProtocolError as cause:
            self.findings.append(error(path, stored.position, cause.cause, _TRUNCATE))
