"""The transactional ids of one partition of the transaction log, while this broker leads it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import islice

from ottla.coordinators.effects import Effects
from ottla.coordinators.replay import Replay
from ottla.coordinators.runtime import Runtime
from ottla.coordinators.timers import Key, Timers
from ottla.coordinators.transactions.marker_port import MarkerCodes
from ottla.coordinators.transactions.marker_sender import MarkerSender
from ottla.coordinators.transactions.markers import Marking
from ottla.coordinators.transactions.records import parse_key, parse_value
from ottla.coordinators.transactions.requests import Marker
from ottla.coordinators.transactions.state import TransactionState
from ottla.coordinators.transactions.transaction import Transaction
from ottla.protocol.internal.topics import TRANSACTION_STATE_TOPIC
from ottla.timing.clock import Clock
from ottla.timing.timer import Timer

_A_STEP = 20
_MARK_AGAIN, _COMPLETE_AGAIN = "markers", "complete"


class TransactionPartition:
    """`is_loading` until its log is read; a new election is a new object.

    Its leader epoch is the coordinator's: whatever comes back for an older one finds it closed.
    """

    def __init__(
        self,
        number: int,
        leader_epoch: int,
        runtime: Runtime,
        *,
        sender: MarkerSender,
        timer: Timer,
        clock: Clock,
    ) -> None:
        self.number = number
        self.leader_epoch = leader_epoch
        self.runtime = runtime
        self.transactions: dict[str, Transaction] = {}
        self.markings: dict[str, Marking] = {}
        self.is_loading = True
        self.timers = Timers(timer, self._due)
        self._sender = sender
        self._clock = clock

    @property
    def hosts(self) -> Mapping[str, Transaction]:
        return self.transactions

    @property
    def is_closed(self) -> bool:
        return self.runtime.is_closed

    @property
    def lacking_count(self) -> int:
        """Markers that nobody could be asked for, or that failed."""
        return sum(len(marking.lacking) for marking in self.markings.values())

    @property
    def append_retry_count(self) -> int:
        """Transactions with all their markers that the log did not take, and will be asked to."""
        return self.timers.count(_COMPLETE_AGAIN)

    def host(self, transactional_id: str, *, producer_id: int, timeout_ms: int) -> Transaction:
        """A new one."""
        assert transactional_id not in self.transactions, f"{transactional_id} is known"
        transaction = self.transactions[transactional_id] = Transaction(
            transactional_id,
            self._mark,
            producer_id=producer_id,
            timeout_ms=timeout_ms,
            now_ms=self._clock.now_ms(),
        )
        return transaction

    def carry_out(self, transaction: Transaction, effects: Effects, *, now_ms: int) -> None:
        self.runtime.carry_out(transaction, effects, self.timers, now_ms=now_ms)

    def close(self) -> None:
        """Whoever waits hears that the coordinator is elsewhere."""
        self.runtime.close()
        self.timers.cancel_all()
        self.markings.clear()

    def new_replay(self) -> Replay:
        return Replay(f"{TRANSACTION_STATE_TOPIC}-{self.number}")

    def restore(self, replay: Replay) -> Iterator[None]:
        """Everything that was in the log; what had been decided goes on."""
        yield from replay.each(self._restore)
        transactions = iter(list(self.transactions.values()))
        while step := list(islice(transactions, _A_STEP)):
            now_ms = self._clock.now_ms()
            for transaction in step:
                self.carry_out(transaction, transaction.started(now_ms=now_ms), now_ms=now_ms)
            yield
        self.is_loading = False

    def _restore(self, key: bytes, value: bytes) -> None:
        transactional_id = parse_key(key)
        if transactional_id is None:
            return
        transaction = Transaction(transactional_id, self._mark)
        transaction.apply(parse_value(value))
        if transaction.state is not TransactionState.DEAD:
            self.transactions[transactional_id] = transaction

    def retry_markers(self, marking: Marking) -> None:
        """Without waiting any longer."""
        self.timers.cancel((_MARK_AGAIN, marking.transaction.id))
        self._ask(marking)

    def _mark(self, transaction: Transaction) -> None:
        marking = self.markings[transaction.id] = Marking(transaction, self.leader_epoch)
        self._ask(marking)

    def _ask(self, marking: Marking) -> None:
        for broker, marker in marking.asked(self._sender.leader_of).items():
            self._sender.send(broker, marker, partial(self._answered, marking, marker))
        self._go_on(marking)

    def _answered(self, marking: Marking, marker: Marker, codes: MarkerCodes) -> None:
        if self.markings.get(marking.transaction.id) is marking:
            marking.answered(marker, codes)
            self._go_on(marking)

    def _go_on(self, marking: Marking) -> None:
        transaction = marking.transaction
        if marking.is_overtaken:
            # Whoever overtook us elected another coordinator: we shall hear of it.
            self._end(marking)
        elif marking.is_done:
            self._end(marking)
            now_ms = self._clock.now_ms()
            self.carry_out(transaction, transaction.complete(now_ms=now_ms), now_ms=now_ms)
        elif marking.lacking:
            key = (_MARK_AGAIN, transaction.id)
            if key not in self.timers:
                now_ms = self._clock.now_ms()
                self.timers.set(key, due_ms=now_ms + marking.next_delay_ms(), now_ms=now_ms)

    def _end(self, marking: Marking) -> None:
        self.timers.cancel((_MARK_AGAIN, marking.transaction.id))
        del self.markings[marking.transaction.id]

    def _due(self, key: Key, due_ms: int) -> None:
        kind, transactional_id = key
        if kind == _MARK_AGAIN:
            self._ask(self.markings[transactional_id])
            return
        now_ms = max(self._clock.now_ms(), due_ms)
        transaction = self.transactions[transactional_id]
        self.carry_out(transaction, transaction.timer_due(key, now_ms=now_ms), now_ms=now_ms)
