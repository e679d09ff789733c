"""Whether the batches of a segment are whole and in order, one by one."""

from __future__ import annotations

from ottla.logtools.finding import Finding, error, warning
from ottla.logtools.scan import StoredBatch
from ottla.protocol.errors import ProtocolError
from ottla.protocol.records.batch import BatchHeader
from ottla.protocol.records.control import ControlType, read_control_type, read_coordinator_epoch
from ottla.protocol.records.record import Record
from ottla.protocol.records.record_set import Batch

CUT = (
    "Copy the file, then start the broker: it cuts the log at the first bad batch, "
    "and a replica brings back what is missing."
)
_LARGEST_RELATIVE_OFFSET = 0x7FFF_FFFF  # what an index entry can hold


class BatchCheck:
    """Takes the batches of one segment in their order, and remembers where they end."""

    def __init__(self, path: str, base_offset: int, findings: list[Finding]) -> None:
        self._path = path
        self._base_offset = base_offset
        self._findings = findings
        self.next_offset = base_offset

    def check(self, stored: StoredBatch) -> bool:
        """Whether the batch can be believed; what is wrong with it becomes a finding."""
        before = len(self._findings)
        if stored.fault is not None or stored.batch is None:
            self._wrong(stored, stored.fault or "unreadable")
            return False
        try:
            self._check_offsets(stored, stored.batch)
            self._check_records(stored, stored.batch)
        except ProtocolError as cause:
            self._wrong(stored, cause.cause)
        if len(self._findings) > before:
            return False
        self.next_offset = stored.last_offset + 1
        return True

    def _check_offsets(self, stored: StoredBatch, batch: Batch) -> None:
        first, last = batch.base_offset, batch.last_offset
        if first < self.next_offset:
            self._wrong(stored, f"offset {first}, where {self.next_offset} or more was due")
        if last < first:
            self._wrong(stored, f"the last offset {last} is before the first, {first}")
        if last - self._base_offset > _LARGEST_RELATIVE_OFFSET:
            self._wrong(stored, f"offset {last} is out of the reach of this segment")

    def _check_records(self, stored: StoredBatch, batch: Batch) -> None:
        records = batch.records()
        due = batch.base_offset
        for record in records:
            if not due <= record.offset <= batch.last_offset:
                what = f"record offset {record.offset}, where {due} to {batch.last_offset} was due"
                self._wrong(stored, what)
                return
            due = record.offset + 1
        header = batch.header
        if header is not None:
            self._check_header(stored, header, records)

    def _check_header(
        self, stored: StoredBatch, header: BatchHeader, records: list[Record]
    ) -> None:
        if records and header.max_timestamp != max(record.timestamp for record in records):
            what = f"the largest timestamp is not {header.max_timestamp}"
            fix = "Searches by time may miss these records; nothing is lost."
            self._findings.append(warning(self._path, stored.position, what, fix))
        if header.partition_leader_epoch < -1:
            self._wrong(stored, f"leader epoch {header.partition_leader_epoch}")
        if header.is_control:
            if len(records) > 1:
                self._wrong(stored, f"a control batch of {len(records)} records")
            for record in records:
                if read_control_type(record.key) in (ControlType.ABORT, ControlType.COMMIT):
                    read_coordinator_epoch(record.value)

    def _wrong(self, stored: StoredBatch, what: str) -> None:
        self._findings.append(error(self._path, stored.position, what, CUT))
