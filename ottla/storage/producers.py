"""What a log knows of its producers: idempotence, and where transactions begin and end.

A producer's state is an immutable tuple that every batch replaces. So a group of appends that
share one write can be taken back at the price of remembering the tuples they replaced.
"""

from __future__ import annotations

from collections.abc import Iterable

from ottla.protocol.errors import ErrorCode, KafkaError
from ottla.protocol.records.batch import TRANSACTIONAL_BIT, BatchHeader
from ottla.storage.producer import (
    KEPT_BATCHES,
    LARGEST_SEQUENCE,
    Duplicate,
    KeptBatch,
    ProducerState,
    fenced,
    find_duplicate,
    knows_ends,
    out_of_order,
)
from ottla.storage.transactions import CompletedTransaction

_OTHERS = 1 - KEPT_BATCHES  # how many of the kept ones stay beside a new one
_new_tuple = tuple.__new__


class ProducerStates:
    """All producers of one log.

    `end_offset` is one past the last offset that changed anything here. Offsets must come in
    order: transactions are found by their place in a dict.
    """

    __slots__ = (
        "_end_before",
        "_ended",
        "_ended_before",
        "_open",
        "_open_before",
        "_states",
        "_states_before",
        "end_offset",
    )  # fmt: skip

    def __init__(self) -> None:
        self.end_offset = 0
        self._states: dict[int, ProducerState] = {}
        self._open: dict[int, int] = {}  # first offset -> producer id, in order
        # Ended, but perhaps above the high watermark: last offset -> first offset, in order.
        self._ended: dict[int, int] = {}
        self._end_before = 0
        self._states_before: dict[int, ProducerState | None] | None = None
        self._open_before: dict[int, int] | None = None
        self._ended_before: dict[int, int] | None = None

    def load(self, producers: Iterable[ProducerState], *, end_offset: int) -> None:
        """Start from a snapshot taken at `end_offset`; from none if the log starts anew there."""
        assert self._states_before is None
        self._states = {state.producer_id: state for state in producers}
        starts = ((s.transaction_start, s.producer_id) for s in self._states.values())
        self._open = dict(sorted(item for item in starts if item[0] >= 0))
        self._ended = {}
        self.end_offset = end_offset

    def get(self, producer_id: int) -> ProducerState | None:
        return self._states.get(producer_id)

    def in_transactions(self) -> list[ProducerState]:
        """Those whose transactions are open, in the order of where they began."""
        return [self._states[producer_id] for producer_id in self._open.values()]

    @property
    def has_seen_ends(self) -> bool:
        """Whether any transaction has ended here, of those who are remembered."""
        return knows_ends(self._states.values())

    def active_producers(self) -> list[ProducerState]:
        return list(self._states.values())

    # Fields by number in the two below: they run for every batch of an idempotent producer.

    def check(self, header: BatchHeader, *, from_client: bool) -> Duplicate | None:
        """May the leader append this batch of a producer? Refuses, or tells where it already is.

        A batch of our own coordinators has no sequence to check. Replicated ones are not checked.
        A duplicate of what is not committed yet may be answered only when that is.
        """
        state = self._states.get(header[9])
        if state is None:
            return None  # forgotten or new: any sequence may come first (KIP-360)
        epoch = header[10]
        if epoch == state[1]:
            if from_client:
                batches = state[5]
                expected = batches[-1][0] + 1 & LARGEST_SEQUENCE if batches else 0
                if header[11] != expected:
                    return find_duplicate(state, header)
        elif epoch < state[1]:
            raise fenced(state, epoch)
        elif from_client and header[11] != 0:
            raise out_of_order(state, header, expected=0)
        if state[4] >= 0 and not header[5] & TRANSACTIONAL_BIT:
            detail = f"producer {state.producer_id} has an open transaction"
            raise KafkaError(ErrorCode.INVALID_TXN_STATE, detail)
        return None

    def append(self, header: BatchHeader, *, base_offset: int, max_timestamp: int) -> None:
        """A data batch was given this offset; checked or not, its producer is now there."""
        producer_id, epoch, delta, sequence = header[9], header[10], header[6], header[11]
        last_offset = base_offset + delta
        last_sequence = sequence + delta & LARGEST_SEQUENCE if sequence >= 0 else -1
        batch = _new_tuple(KeptBatch, (last_sequence, last_offset, delta, max_timestamp))
        state = self._states.get(producer_id)
        before = self._states_before
        if before is not None and producer_id not in before:
            before[producer_id] = state
        coordinator_epoch = start = -1
        batches: tuple[KeptBatch, ...] = (batch,)
        if state is not None:
            coordinator_epoch, start = state[2], state[4]
            if state[1] == epoch:
                batches = (*state[5][_OTHERS:], batch)
        if start < 0 and header[5] & TRANSACTIONAL_BIT:
            self._remember_transactions()
            self._open[base_offset] = producer_id
            start = base_offset
        fields = (producer_id, epoch, coordinator_epoch, max_timestamp, start, batches)
        self._states[producer_id] = _new_tuple(ProducerState, fields)
        self.end_offset = last_offset + 1

    def check_marker(
        self, *, producer_id: int, producer_epoch: int, coordinator_epoch: int
    ) -> None:
        """May the leader append the end of this producer's transaction?"""
        state = self._states.get(producer_id)
        if state is None:
            return
        if producer_epoch < state.epoch:
            raise fenced(state, producer_epoch)
        if coordinator_epoch < state.coordinator_epoch:
            detail = f"coordinator epoch {coordinator_epoch} after {state.coordinator_epoch}"
            raise KafkaError(ErrorCode.TRANSACTION_COORDINATOR_FENCED, detail)

    def end_transaction(
        self,
        *,
        producer_id: int,
        producer_epoch: int,
        coordinator_epoch: int,
        offset: int,
        timestamp: int,
        is_aborted: bool,
    ) -> CompletedTransaction | None:
        """A marker was given this offset. None if its producer wrote nothing here."""
        state = self._states.get(producer_id)
        before = self._states_before
        if before is not None and producer_id not in before:
            before[producer_id] = state
        self.end_offset = offset + 1
        batches = state.batches if state is not None and state.epoch == producer_epoch else ()
        self._states[producer_id] = ProducerState(
            producer_id, producer_epoch, coordinator_epoch, timestamp, -1, batches
        )
        if state is None or state.transaction_start < 0:
            return None
        first_offset = state.transaction_start
        self._remember_transactions()
        self._open.pop(first_offset, None)
        self._ended[offset] = first_offset
        stable = next(iter(self._open), offset + 1)
        return CompletedTransaction(producer_id, first_offset, offset, is_aborted, stable)

    def begin(self) -> None:
        """What follows may be taken back, as one, until `commit`."""
        assert self._states_before is None
        self._states_before = {}
        self._end_before = self.end_offset

    def commit(self) -> None:
        assert self._states_before is not None
        self._states_before = self._open_before = self._ended_before = None

    def rollback(self) -> None:
        """Everything is as it was at `begin`."""
        assert self._states_before is not None
        for producer_id, state in self._states_before.items():
            if state is None:
                del self._states[producer_id]
            else:
                self._states[producer_id] = state
        if self._open_before is not None and self._ended_before is not None:
            self._open, self._ended = self._open_before, self._ended_before
        self.end_offset = self._end_before
        self.commit()

    def _remember_transactions(self) -> None:
        if self._states_before is not None and self._open_before is None:
            self._open_before, self._ended_before = dict(self._open), dict(self._ended)

    def first_unstable_offset(self, high_watermark: int) -> int | None:
        """Where the first transaction begins whose end is not known to every in-sync replica."""
        first = next(iter(self._open), None)
        for last_offset, first_offset in self._ended.items():
            if last_offset >= high_watermark and (first is None or first_offset < first):
                first = first_offset
        return first

    def last_stable_offset(self, high_watermark: int, *, log_start_offset: int = 0) -> int:
        """What a read_committed consumer may read up to."""
        first = self.first_unstable_offset(high_watermark)
        if first is None:
            return high_watermark
        return min(max(first, log_start_offset), high_watermark)

    def on_high_watermark_updated(self, high_watermark: int) -> None:
        """Transactions that ended below it are settled."""
        if not self._ended and not self._ended_before:
            return
        for ended in (self._ended, self._ended_before):
            while ended and (last_offset := next(iter(ended))) < high_watermark:
                del ended[last_offset]

    def remove_expired(self, *, now_ms: int, expiration_ms: int) -> int:
        """Forget who was idle for so long, unless in a transaction; says how many."""
        assert self._states_before is None
        expired = [
            state.producer_id
            for state in self._states.values()
            if state.transaction_start < 0 and now_ms - state.last_timestamp >= expiration_ms
        ]
        for producer_id in expired:
            del self._states[producer_id]
        return len(expired)

    def truncate(self, *, log_start_offset: int, log_end_offset: int) -> bool:
        """The log was cut. True if the state knew more: it is empty now and must be rebuilt."""
        assert self._states_before is None
        if log_end_offset < self.end_offset:
            self.load((), end_offset=log_start_offset)
            return True
        self.on_high_watermark_updated(log_start_offset)
        return False
