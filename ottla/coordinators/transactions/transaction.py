"""One transactional id: whose it is, what it is in the middle of, and what may come next.

Only `apply` changes what is stored, with one exception: a fence holds from when it is decided, for
a producer that must not write any more shall not because the log was slow. While a transition is
pending, whoever asks for another hears CONCURRENT_TRANSACTIONS.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple

from ottla.coordinators.effects import Append, Effects, Record, Reply, SetTimer
from ottla.coordinators.transactions.records import (
    TransactionValue,
    transaction_key,
    transaction_value,
)
from ottla.coordinators.transactions.requests import (
    NO_PRODUCER_EPOCH,
    NO_PRODUCER_ID,
    NO_TIMESTAMP,
    InitAnswer,
    ProducerIdentity,
    TopicPartition,
)
from ottla.coordinators.transactions.state import BEFORE, COMPLETION, IDLE, TransactionState
from ottla.protocol.errors import ErrorCode

# A client never gets the highest epoch: one is left to fence it with.
LAST_EPOCH = (1 << 15) - 2
COMPLETE_AGAIN_MS = 100

_E = ErrorCode
_S = TransactionState
_MEANINGS = {
    _E.UNKNOWN_TOPIC_OR_PARTITION: _E.COORDINATOR_NOT_AVAILABLE,
    _E.NOT_ENOUGH_REPLICAS: _E.COORDINATOR_NOT_AVAILABLE,
    _E.NOT_ENOUGH_REPLICAS_AFTER_APPEND: _E.COORDINATOR_NOT_AVAILABLE,
    _E.REQUEST_TIMED_OUT: _E.COORDINATOR_NOT_AVAILABLE,
    _E.NOT_LEADER_OR_FOLLOWER: _E.NOT_COORDINATOR,
    _E.KAFKA_STORAGE_ERROR: _E.NOT_COORDINATOR,
    _E.MESSAGE_TOO_LARGE: _E.UNKNOWN_SERVER_ERROR,
    _E.RECORD_LIST_TOO_LARGE: _E.UNKNOWN_SERVER_ERROR,
}


def meaning(error: ErrorCode) -> ErrorCode:
    """What a producer hears when the log refuses its transaction with this error."""
    return _MEANINGS.get(error, error)


class _Transition(NamedTuple):
    """What is appended: once it is stored it is applied, else `to` hears `refusal(error)`."""

    value: TransactionValue
    last_epoch: int
    to: Callable[[Any], None]
    refusal: Callable[[ErrorCode], Any] = ErrorCode
    is_fence: bool = False


class Transaction:
    """`on_prepared` hears that the end is decided and stored: markers may be written."""

    __slots__ = (
        "_has_failed_fence",
        "_key",
        "_on_prepared",
        "epoch",
        "id",
        "last_epoch",
        "last_producer_id",
        "partitions",
        "pending_state",
        "producer_id",
        "started_ms",
        "state",
        "timeout_ms",
        "updated_ms",
    )

    def __init__(
        self,
        transactional_id: str,
        on_prepared: Callable[[Transaction], None],
        *,
        producer_id: int = NO_PRODUCER_ID,
        timeout_ms: int = 0,
        now_ms: int = NO_TIMESTAMP,
    ) -> None:
        self.id = transactional_id
        self.producer_id = producer_id
        self.epoch = NO_PRODUCER_EPOCH
        # Those before, as far as this coordinator knows them: a client that did not hear of its
        # new ones asks again with these.
        self.last_producer_id = NO_PRODUCER_ID
        self.last_epoch = NO_PRODUCER_EPOCH
        self.timeout_ms = timeout_ms
        self.state = _S.EMPTY
        self.pending_state: TransactionState | None = None
        self.partitions: dict[TopicPartition, None] = {}  # once decided: those without a marker
        self.started_ms = NO_TIMESTAMP
        self.updated_ms = now_ms
        self._key = transaction_key(transactional_id)
        self._on_prepared = on_prepared
        self._has_failed_fence = False

    def needs_producer_id(self, expected: ProducerIdentity | None) -> bool:
        """Whether `init` now would use up the last epoch, and wants a new producer id with it."""
        return (
            self.epoch >= LAST_EPOCH
            and self.pending_state is None
            and self.state in IDLE
            and (expected is None or expected.epoch == self.epoch)
        )

    def init(
        self,
        *,
        timeout_ms: int,
        expected: ProducerIdentity | None,  # of a producer that goes on after an error (KIP-360)
        new_producer_id: int | None,  # given if `needs_producer_id`
        to: Callable[[InitAnswer], None],
        now_ms: int,
    ) -> Effects:
        if self.pending_state is not None:
            return [Reply(to, InitAnswer(_E.CONCURRENT_TRANSACTIONS))]
        if expected is not None and not self._knows(expected):
            return [Reply(to, InitAnswer(_E.PRODUCER_FENCED))]
        if self.state is _S.ONGOING:
            # The client asks again, and gets an epoch of its own once the old one's work is undone.
            answer = Reply(to, InitAnswer(_E.CONCURRENT_TRANSACTIONS))
            return self._fence(answer, InitAnswer, now_ms=now_ms)
        if self.state not in IDLE:
            return [Reply(to, InitAnswer(_E.CONCURRENT_TRANSACTIONS))]
        found = self._next_identity(expected, new_producer_id)
        if found is None:
            return [Reply(to, InitAnswer(_E.PRODUCER_FENCED))]
        (producer_id, epoch), last_epoch = found
        value = TransactionValue(producer_id, epoch, timeout_ms, _S.EMPTY, (), now_ms)
        answer = Reply(to, InitAnswer(_E.NONE, producer_id, epoch))
        return self._transit(_Transition(value, last_epoch, to, InitAnswer), answer)

    def add(
        self,
        partitions: Sequence[TopicPartition],
        *,
        producer_id: int,
        producer_epoch: int,
        to: Callable[[ErrorCode], None],
        now_ms: int,
    ) -> Effects:
        error = self.check(producer_id=producer_id, producer_epoch=producer_epoch)
        if not error and (self.pending_state is not None or self.state in COMPLETION):
            error = _E.CONCURRENT_TRANSACTIONS
        is_ongoing = self.state is _S.ONGOING
        if error or (is_ongoing and all(each in self.partitions for each in partitions)):
            return [Reply(to, error)]
        value = self._value(
            _S.ONGOING,
            now_ms=now_ms,
            partitions=tuple(self.partitions | dict.fromkeys(partitions)),
            started_ms=self.started_ms if is_ongoing else now_ms,
        )
        return self._transit(_Transition(value, self.last_epoch, to), Reply(to, _E.NONE))

    def end(
        self,
        *,
        producer_id: int,
        producer_epoch: int,
        is_commit: bool,
        to: Callable[[ErrorCode], None],
        now_ms: int,
    ) -> Effects:
        error = self.check(producer_id=producer_id, producer_epoch=producer_epoch)
        if not error and self.pending_state is not None:
            error = _E.CONCURRENT_TRANSACTIONS
        if error or self.state is not _S.ONGOING:
            return [Reply(to, error or self._end_again(is_commit=is_commit))]
        state = _S.PREPARE_COMMIT if is_commit else _S.PREPARE_ABORT
        transition = _Transition(self._value(state, now_ms=now_ms), self.last_epoch, to)
        return self._transit(transition, Reply(to, _E.NONE))

    def check(self, *, producer_id: int, producer_epoch: int) -> ErrorCode:
        """Whether this is the producer that the id belongs to now."""
        if producer_id != self.producer_id:
            return _E.INVALID_PRODUCER_ID_MAPPING
        return _E.NONE if producer_epoch == self.epoch else _E.PRODUCER_FENCED

    def verify(
        self, partitions: Sequence[TopicPartition], *, producer_id: int, producer_epoch: int
    ) -> dict[TopicPartition, ErrorCode]:
        """A transition that is pending does not matter: the partition's log looks again itself."""
        error = self.check(producer_id=producer_id, producer_epoch=producer_epoch)
        if not error and self.state in COMPLETION:
            error = _E.CONCURRENT_TRANSACTIONS
        if error:
            return dict.fromkeys(partitions, error)
        known = self.partitions
        return {each: _E.NONE if each in known else _E.TRANSACTION_ABORTABLE for each in partitions}

    def is_overdue(self, *, now_ms: int) -> bool:
        is_ongoing = self.state is _S.ONGOING and self.pending_state is None
        return is_ongoing and self.started_ms + self.timeout_ms < now_ms

    def abort_overdue(self, to: Callable[[ErrorCode], None], *, now_ms: int) -> Effects:
        """As if another producer had come, since this one may be alive and unaware."""
        return self._fence(Reply(to, _E.NONE), ErrorCode, now_ms=now_ms)

    def is_expired(self, *, now_ms: int, after_ms: int) -> bool:
        is_idle = self.state in IDLE and self.pending_state is None
        return is_idle and self.updated_ms <= now_ms - after_ms

    def expire(self, to: Callable[[Transaction], None], *, now_ms: int) -> Effects:
        """`to` hears when its tombstone is stored."""
        self._pend(_S.DEAD)
        value = self._value(_S.DEAD, now_ms=now_ms, partitions=())
        transition = _Transition(value, self.last_epoch, lambda _: None)
        return [Append((Record(self._key, None),), transition), Reply(to, self)]

    def marked(self, partition: TopicPartition) -> None:
        """Its marker is written, or there is nobody left who would miss it."""
        assert self.state in COMPLETION, f"{self.id}: a marker while {self.state.wire_name}"
        self.partitions.pop(partition, None)

    def complete(self, *, now_ms: int) -> Effects:
        """Every partition has its marker."""
        assert not self.partitions, f"{self.id} ends without markers for {[*self.partitions]}"
        assert self.pending_state is COMPLETION[self.state], f"{self.id} is not being completed"
        value = self._value(self.pending_state, now_ms=now_ms)
        record = Record(self._key, transaction_value(value))
        return [Append((record,), _Transition(value, self.last_epoch, lambda _: None))]

    def started(self, *, now_ms: int) -> Effects:
        """After a load: what was decided is carried out."""
        return self._completing()

    def timer_due(self, key: tuple[str, ...], *, now_ms: int) -> Effects:
        return self.complete(now_ms=now_ms)

    def stored(self, token: Hashable, *, now_ms: int) -> Effects:
        assert isinstance(token, _Transition)
        last_producer_id = self.producer_id
        self.apply(token.value)
        self.last_epoch = token.last_epoch
        if self.state is _S.EMPTY:
            self.last_producer_id = last_producer_id
        self._has_failed_fence = False
        return self._completing()

    def refused(self, token: Hashable, error: ErrorCode, *, now_ms: int) -> Effects:
        assert isinstance(token, _Transition)
        if token.value.state in COMPLETION.values():
            # What was decided stays decided, and nobody waits for it but the next transaction.
            return [SetTimer(("complete", self.id), now_ms + COMPLETE_AGAIN_MS)]
        self.pending_state = None
        self._has_failed_fence |= token.is_fence
        return [Reply(token.to, token.refusal(meaning(error)))]

    def apply(self, value: TransactionValue) -> None:
        """What was stored or is replayed."""
        self.producer_id = value.producer_id
        self.epoch = value.producer_epoch
        self.timeout_ms = value.timeout_ms
        self.state = value.state
        self.partitions = dict.fromkeys(value.partitions)
        self.updated_ms = value.updated_ms
        self.started_ms = value.started_ms
        self.pending_state = None

    def _knows(self, expected: ProducerIdentity) -> bool:
        is_new = self.epoch == NO_PRODUCER_EPOCH
        # Or it did not hear yet that it got a new producer id.
        is_last = expected.producer_id == self.last_producer_id and expected.epoch >= LAST_EPOCH
        return is_new or expected.producer_id == self.producer_id or is_last

    def _next_identity(
        self, expected: ProducerIdentity | None, new_producer_id: int | None
    ) -> tuple[ProducerIdentity, int] | None:
        """And the epoch that a client may repeat its request with; None: it is fenced."""
        is_new = self.epoch == NO_PRODUCER_EPOCH
        if expected is not None and not is_new and expected.epoch != self.epoch:
            if expected.epoch != self.last_epoch:
                return None
            # It did not hear the answer; nobody else came since, for that would have been fenced.
            return ProducerIdentity(self.producer_id, self.epoch), self.last_epoch
        last_epoch = NO_PRODUCER_EPOCH if expected is None else self.epoch
        if self.epoch < LAST_EPOCH:
            return ProducerIdentity(self.producer_id, self.epoch + 1), last_epoch
        assert new_producer_id is not None, f"{self.id} has no epochs left"
        return ProducerIdentity(new_producer_id, 0), last_epoch

    def _fence(self, answer: Reply, refusal: Callable[[ErrorCode], Any], *, now_ms: int) -> Effects:
        """Aborts what is ongoing with an epoch that nobody has."""
        if not self._has_failed_fence:  # that epoch was told to nobody
            self.epoch += 1
            self.last_epoch = NO_PRODUCER_EPOCH
        value = self._value(_S.PREPARE_ABORT, now_ms=now_ms)
        transition = _Transition(value, NO_PRODUCER_EPOCH, answer.to, refusal, is_fence=True)
        return self._transit(transition, answer)

    def _end_again(self, *, is_commit: bool) -> ErrorCode:
        """What the end of a transaction means that has none ongoing."""
        wanted = _S.PREPARE_COMMIT if is_commit else _S.PREPARE_ABORT
        if self.state is wanted:
            return _E.CONCURRENT_TRANSACTIONS
        return _E.NONE if self.state is COMPLETION[wanted] else _E.INVALID_TXN_STATE

    def _value(
        self,
        state: TransactionState,
        *,
        now_ms: int,
        partitions: tuple[TopicPartition, ...] | None = None,
        started_ms: int | None = None,
    ) -> TransactionValue:
        """As it is, but in this state."""
        return TransactionValue(
            self.producer_id,
            self.epoch,
            self.timeout_ms,
            state,
            tuple(self.partitions) if partitions is None else partitions,
            now_ms,
            self.started_ms if started_ms is None else started_ms,
        )

    def _transit(self, transition: _Transition, answer: Reply) -> Effects:
        self._pend(transition.value.state)
        record = Record(self._key, transaction_value(transition.value))
        return [Append((record,), transition), answer]

    def _pend(self, state: TransactionState) -> None:
        assert self.pending_state is None, f"{self.id} is on its way to {self.pending_state!r}"
        assert self.state in BEFORE[state], f"{self.id}: {self.state!r} is not before {state!r}"
        self.pending_state = state

    def _completing(self) -> Effects:
        if self.state not in COMPLETION:
            return []
        self._pend(COMPLETION[self.state])
        return [Reply(self._on_prepared, self)]
