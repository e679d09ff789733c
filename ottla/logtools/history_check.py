"""Whether what a partition keeps beside its log agrees with it: producers, transactions, epochs.

Each snapshot is compared with what its predecessor and the batches since then give. Compaction may
have taken batches away, and idle producers are forgotten: neither is held against a file.
"""

from __future__ import annotations

from ottla.logtools.finding import Finding, error, warning
from ottla.protocol.records.control import ControlType, read_control_type
from ottla.protocol.records.record_set import Batch
from ottla.storage.epochs import EpochEntry, LeaderEpochs
from ottla.storage.producer import ProducerState
from ottla.storage.producers import ProducerStates
from ottla.storage.replay import replay_batch
from ottla.storage.transactions import ENTRY_BYTES, AbortedTransaction

RECOVER = (
    "Stop the broker and remove .kafka_cleanshutdown from its log directory: "
    "it rebuilds the file when it starts."
)


class ProducerCheck:
    """Replays the batches of a partition and meets its snapshots on the way."""

    def __init__(self, findings: list[Finding], *, complete: bool) -> None:
        self._findings = findings
        self._states = ProducerStates()
        # Without a snapshot to begin with, only a log from its first offset tells everything.
        self.is_known = complete
        self._since = 0

    def replay(self, batch: Batch, path: str) -> AbortedTransaction | None:
        """The aborted transaction that ends with this batch, as the index should have it."""
        completed = replay_batch(self._states, batch, path)
        if completed is None or not completed.is_aborted:
            return None
        return AbortedTransaction.of(completed)

    def snapshot(
        self, producers: list[ProducerState], *, offset: int, path: str, has_gaps: bool
    ) -> None:
        """The snapshot taken at `offset`, now that all batches before it were replayed."""
        if self.is_known:
            for state in producers:
                self._compare(state, path, has_gaps=has_gaps)
        self._states.load(producers, end_offset=offset)
        self._since = offset
        self.is_known = True

    def _compare(self, state: ProducerState, path: str, *, has_gaps: bool) -> None:
        found = self._states.get(state.producer_id)
        last_offset = state.batches[-1].last_offset if state.batches else -1
        if found is None:
            if last_offset >= self._since and not has_gaps:
                what = f"producer {state.producer_id} at offset {last_offset} is not in the log"
                self._findings.append(warning(path, None, what, RECOVER))
            return
        kept = found.batches[-1] if found.batches else None
        if has_gaps and (kept.last_offset if kept else -1) < last_offset:
            return  # compaction took what the snapshot still knew
        facts = (found.epoch, found.transaction_start, kept and kept[:3])
        stored = state.batches[-1] if state.batches else None
        if facts != (state.epoch, state.transaction_start, stored and stored[:3]):
            what = (
                f"producer {state.producer_id} is at epoch {state.epoch}, sequence "
                f"{state.last_sequence}, offset {last_offset}; the log says epoch {found.epoch}, "
                f"sequence {found.last_sequence}, offset {kept.last_offset if kept else -1}"
            )
            self._findings.append(error(path, None, what, RECOVER))


class TransactionIndexCheck:
    """The entries of one segment's transaction index beside the markers in its batches."""

    def __init__(
        self, entries: list[AbortedTransaction], *, path: str, findings: list[Finding]
    ) -> None:
        self._path = path
        self._findings = findings
        self._entries = entries
        self._next = 0

    def check(self, batch: Batch, expected: AbortedTransaction | None, *, exactly: bool) -> None:
        """`expected` ends with this batch; `exactly` if no batch before it was compacted away."""
        found = None
        while self._next < len(self._entries):
            entry = self._entries[self._next]
            if entry.last_offset > batch.last_offset:
                break
            if entry.last_offset >= batch.base_offset:
                found = entry
                if not _is_abort(batch, entry.producer_id):
                    self._wrong(f"no ABORT marker of producer {entry.producer_id} is at {entry[2]}")
            self._next += 1
        if expected is None:
            return
        if found is None:
            what = f"producer {expected[0]} aborted {expected[1]} to {expected[2]}: no entry"
            self._wrong(what)
        elif found != expected and (exactly or found.first_offset > expected.first_offset):
            self._wrong(f"{_words(found)} should be {_words(expected)}")

    def finish(self) -> None:
        if self._next < len(self._entries):
            self._next += 1
            self._wrong("entries for offsets beyond the last sound batch")

    def _wrong(self, what: str) -> None:
        at = max(self._next - 1, 0) * ENTRY_BYTES
        self._findings.append(error(self._path, at, what, RECOVER))


def _is_abort(batch: Batch, producer_id: int) -> bool:
    header = batch.header
    if header is None or not header.is_control or header.producer_id != producer_id:
        return False
    return all(read_control_type(record.key) is ControlType.ABORT for record in batch.records())


def _words(entry: AbortedTransaction) -> str:
    return (
        f"producer {entry.producer_id} from {entry.first_offset} to {entry.last_offset}, "
        f"stable up to {entry.last_stable_offset}"
    )


class EpochCheck:
    """The leader epochs in the batches beside those in the checkpoint."""

    def __init__(
        self, entries: tuple[EpochEntry, ...], *, path: str, findings: list[Finding], may_lag: bool
    ) -> None:
        self._path = path
        self._findings = findings
        self._may_lag = may_lag
        self._epochs = LeaderEpochs(entries)
        self._last = -1
        self._said: tuple[int, int | None] | None = None  # once for a run of batches is enough
        if self._epochs.entries != entries:
            what = "epochs and offsets must both grow from line to line"
            findings.append(error(path, None, what, RECOVER))

    def check(self, batch: Batch, path: str) -> None:
        epoch = batch.header.partition_leader_epoch if batch.header is not None else -1
        if epoch < 0:
            return
        if epoch < self._last:
            what = f"leader epoch {epoch} after {self._last}"
            fix = "Compare with the other replicas: a leader that was replaced wrote here."
            self._findings.append(error(path, batch.position, what, fix))
        known = self._epochs.epoch_for_offset(batch.base_offset)
        is_wrong = known not in (None, epoch) or not self._epochs.entries
        if self._may_lag and epoch > (self._epochs.latest.epoch if self._epochs.latest else -1):
            is_wrong = False
        if is_wrong and (epoch, known) != self._said:
            what = f"offset {batch.base_offset} has leader epoch {epoch} in the log, not {known}"
            self._findings.append(warning(self._path, None, what, RECOVER))
            self._said = (epoch, known)
        self._last = max(epoch, self._last)

    def finish(self, end_offset: int) -> None:
        latest = self._epochs.latest
        if latest is not None and latest.start_offset > end_offset:
            what = f"epoch {latest.epoch} begins at {latest.start_offset}, the log ends before"
            self._findings.append(error(self._path, None, f"{what}, at {end_offset}", RECOVER))
