"""What a log's batches, its snapshots and its transaction indexes tell of producers, in order."""

from __future__ import annotations

from collections.abc import Sequence

from ottla.logtools.finding import Finding, warning
from ottla.protocol.records.record_set import Batch
from ottla.storage.files import CorruptLog, Disk
from ottla.storage.names import FileName, Kind
from ottla.storage.producers import ProducerStates
from ottla.storage.replay import replay_batch
from ottla.storage.snapshots import parse_snapshot
from ottla.storage.transaction_trail import ActiveProducer
from ottla.storage.transactions import AbortedTransaction, parse_transaction_index

_PASSED_OVER = "It was passed over; the log itself tells nearly the same."


class ProducerHistory:
    """Meets every batch once and takes in the snapshots on the way, so that a log whose first
    batches were compacted away or deleted is known as well as its broker knows it.
    """

    def __init__(
        self,
        disk: Disk,
        folder: str,
        files: Sequence[FileName],
        *,
        log_start_offset: int,
        findings: list[Finding],
    ) -> None:
        self._disk = disk
        self._folder = folder
        self._findings = findings
        self._snapshots = [
            f for f in files if f.kind is Kind.PRODUCERS and f.offset > log_start_offset
        ]
        self._indexes = [file for file in files if file.kind is Kind.TRANSACTION_INDEX]
        self._aborted: dict[tuple[int, int], AbortedTransaction] = {}
        self.states = ProducerStates()
        self.states.load((), end_offset=log_start_offset)

    def meet(self, batch: Batch, path: str) -> None:
        # Of an old batch only the last offset is told from outside; it has no producer anyway.
        self._load_snapshots(batch.header.base_offset if batch.header else batch.last_offset)
        completed = replay_batch(self.states, batch, path)
        if completed is not None and completed.is_aborted:
            self._note(AbortedTransaction.of(completed))

    def finish(self, end_offset: int) -> None:
        """The log ends here. A snapshot from behind its end is of a log that was cut."""
        self._load_snapshots(end_offset)
        for file in self._indexes:
            self._read_index(file)

    def active_producers(self) -> tuple[ActiveProducer, ...]:
        return tuple(
            ActiveProducer(
                state.producer_id,
                state.epoch,
                state.batches[-1].last_offset if state.batches else None,
            )
            for state in self.states.active_producers()
        )

    def open_transactions(self) -> dict[int, int]:
        """By producer: the first offset."""
        return {
            state.producer_id: state.transaction_start
            for state in self.states.active_producers()
            if state.transaction_start >= 0
        }

    def aborted(self, *, below: int) -> tuple[AbortedTransaction, ...]:
        return tuple(entry for entry in self._aborted.values() if entry.last_offset < below)

    def _note(self, entry: AbortedTransaction) -> None:
        self._aborted[entry.producer_id, entry.last_offset] = entry

    def _load_snapshots(self, offset: int) -> None:
        while self._snapshots and self._snapshots[0].offset <= offset:
            file = self._snapshots.pop(0)
            path = f"{self._folder}/{file}"
            try:
                producers = parse_snapshot(self._disk.read(path), path)
            except CorruptLog as cause:
                self._findings.append(warning(path, cause.position, cause.cause, _PASSED_OVER))
            except FileNotFoundError:
                pass  # a running broker removes old ones
            else:
                self.states.load(producers, end_offset=file.offset)

    def _read_index(self, file: FileName) -> None:
        """An entry knows better than the log where a transaction began: its data may be gone.

        A running broker may not have written the last entries yet; those the log tells.
        """
        path = f"{self._folder}/{file}"
        try:
            entries = parse_transaction_index(self._disk.read(path), path, base_offset=file.offset)
        except CorruptLog as cause:
            self._findings.append(warning(path, cause.position, cause.cause, _PASSED_OVER))
            return
        for entry in entries:
            self._note(entry)
