"""One transactional id whose effects are carried out at once, or when the test says so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ottla.coordinators.effects import Append, Effects, Reply, SetTimer
from ottla.coordinators.transactions.records import TransactionValue, parse_value
from ottla.coordinators.transactions.requests import InitAnswer, ProducerIdentity, TopicPartition
from ottla.coordinators.transactions.state import TransactionState
from ottla.coordinators.transactions.transaction import Transaction
from ottla.protocol.errors import ErrorCode

NONE = ErrorCode.NONE
FIRST_ID = 1000
TIMEOUT_MS = 60_000
ORDERS: tuple[TopicPartition, ...] = (("orders", 0), ("orders", 1), ("payments", 0))


def parsed(value: bytes | None) -> TransactionValue | None:
    return None if value is None else parse_value(value)


class Driver:
    def __init__(self) -> None:
        self.now_ms = 1_700_000_000_000
        self.prepared: list[Transaction] = []
        self.transaction = Transaction(
            "shop",
            self.prepared.append,
            producer_id=FIRST_ID,
            timeout_ms=TIMEOUT_MS,
            now_ms=self.now_ms,
        )
        self.commits_at_once = True
        self.appended: list[TransactionValue | None] = []  # all that were asked for
        self.log: list[TransactionValue | None] = []  # what was committed
        self.in_flight: list[tuple[Append, list[Reply]]] = []
        self.timers: dict[tuple[str, ...], int] = {}

    @property
    def state(self) -> TransactionState:
        return self.transaction.state

    @property
    def identity(self) -> tuple[int, int]:
        return self.transaction.producer_id, self.transaction.epoch

    def carry_out(self, effects: Effects) -> None:
        held: list[Reply] | None = None
        for effect in effects:
            if isinstance(effect, Append):
                [record] = effect.records
                self.appended.append(parsed(record.value))
                held = []
                self.in_flight.append((effect, held))
            elif isinstance(effect, SetTimer):
                self.timers[effect.key] = effect.due_ms
            elif isinstance(effect, Reply) and held is not None:
                held.append(effect)
            elif isinstance(effect, Reply):
                effect.to(effect.answer)
        if self.commits_at_once:
            self.commit()

    def commit(self) -> None:
        in_flight, self.in_flight = self.in_flight, []
        for append, held in in_flight:
            self.log.append(parsed(append.records[0].value))
            self.carry_out(self.transaction.stored(append.token, now_ms=self.now_ms))
            for reply in held:
                reply.to(reply.answer)

    def refuse(self, error: ErrorCode) -> None:
        in_flight, self.in_flight = self.in_flight, []
        for append, _ in in_flight:
            self.carry_out(self.transaction.refused(append.token, error, now_ms=self.now_ms))

    def ask_init(
        self,
        expected: tuple[int, int] | None = None,
        *,
        timeout_ms: int = TIMEOUT_MS,
        new_producer_id: int | None = None,
    ) -> list[InitAnswer]:
        answers: list[InitAnswer] = []
        effects = self.transaction.init(
            timeout_ms=timeout_ms,
            expected=None if expected is None else ProducerIdentity(*expected),
            new_producer_id=new_producer_id,
            to=answers.append,
            now_ms=self.now_ms,
        )
        self.carry_out(effects)
        return answers

    def init(self, expected: tuple[int, int] | None = None, **more: Any) -> InitAnswer:
        [answer] = self.ask_init(expected, **more)
        return answer

    def ask_add(
        self, *partitions: TopicPartition, who: tuple[int, int] | None = None
    ) -> list[ErrorCode]:
        answers: list[ErrorCode] = []
        producer_id, epoch = who or self.identity
        effects = self.transaction.add(
            partitions,
            producer_id=producer_id,
            producer_epoch=epoch,
            to=answers.append,
            now_ms=self.now_ms,
        )
        self.carry_out(effects)
        return answers

    def ask_end(self, *, commit: bool, who: tuple[int, int] | None = None) -> list[ErrorCode]:
        answers: list[ErrorCode] = []
        producer_id, epoch = who or self.identity
        effects = self.transaction.end(
            producer_id=producer_id,
            producer_epoch=epoch,
            is_commit=commit,
            to=answers.append,
            now_ms=self.now_ms,
        )
        self.carry_out(effects)
        return answers

    def verify(
        self, *partitions: TopicPartition, who: tuple[int, int] | None = None
    ) -> list[ErrorCode]:
        producer_id, epoch = who or self.identity
        found = self.transaction.verify(partitions, producer_id=producer_id, producer_epoch=epoch)
        return list(found.values())

    def begun(self, partitions: Sequence[TopicPartition] = ORDERS) -> Driver:
        """An ongoing transaction."""
        assert self.init().error is NONE
        assert self.ask_add(*partitions) == [NONE]
        return self

    def decided(self, *, commit: bool) -> Driver:
        """The markers are still to be written."""
        self.begun()
        assert self.ask_end(commit=commit) == [NONE]
        return self

    def ended(self, *, commit: bool) -> Driver:
        return self.decided(commit=commit).finish()

    def finish(self) -> Driver:
        """All markers are written."""
        for partition in list(self.transaction.partitions):
            self.transaction.marked(partition)
        self.carry_out(self.transaction.complete(now_ms=self.now_ms))
        return self

    def reload(self) -> Driver:
        """As a coordinator that reads the log again."""
        fresh, last = Driver(), self.log[-1]
        assert last is not None
        fresh.now_ms, fresh.log = self.now_ms, self.log
        fresh.transaction.apply(last)
        fresh.carry_out(fresh.transaction.started(now_ms=fresh.now_ms))
        return fresh


def in_state(state: TransactionState) -> Driver:
    """A transactional id in this state, nothing pending but the end of what was decided."""
    if state in (TransactionState.PREPARE_COMMIT, TransactionState.PREPARE_ABORT):
        return Driver().decided(commit=state is TransactionState.PREPARE_COMMIT)
    if state in (TransactionState.COMPLETE_COMMIT, TransactionState.COMPLETE_ABORT):
        return Driver().ended(commit=state is TransactionState.COMPLETE_COMMIT)
    driver = Driver()
    driver.init()
    return driver.begun() if state is TransactionState.ONGOING else driver
