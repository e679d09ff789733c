"""A history sorted into its parts: transactions, sends, what each consumer did, what was left."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, auto
from typing import assert_never

from ottla.verify.encoding import BadHistory
from ottla.verify.history import (
    Assigned,
    Began,
    Ended,
    Event,
    Fenced,
    FinalRead,
    History,
    Initialized,
    Isolation,
    OffsetsCommitted,
    OffsetsFetched,
    OffsetsSent,
    Read,
    Seeked,
    Sent,
    TopicPartition,
)

# Times before and after all others.
AT_THE_END = 1 << 61
NEVER = 1 << 62
Content = list[tuple[int, str]]  # offsets and values


class Verdict(Enum):
    """What the clients know of a transaction. Never asked to commit is as good as aborted."""

    COMMITTED = auto()
    ABORTED = auto()
    UNKNOWN = auto()


@dataclass(slots=True)
class Transaction:
    """What was done in it; the rest is filled in by those who judge it (`verdicts.py` first)."""

    name: str
    client: str
    transactional_id: str
    began: int
    sends: list[Sent] = field(default_factory=list)
    offsets: list[OffsetsSent] = field(default_factory=list)
    commits: list[Ended] = field(default_factory=list)
    aborts: list[Ended] = field(default_factory=list)
    fenced: int | None = None  # when another had surely taken its transactional id
    given_up: int | None = None  # when it was asked for, or sure, that it would not be committed
    commit_asked: int | None = None
    verdict: Verdict = Verdict.UNKNOWN
    readable_from: int = 0  # before that, no reader of committed records may have any of it
    is_seen: bool = False  # some of it, by such a reader
    # True or False once it is known whether it took place; None as long as both may be.
    is_visible: bool | None = None


class Ledger:
    """`consumers` has what each did, in its order; `finals` what each partition held in the end."""

    def __init__(self, history: History) -> None:
        self.has_one_clock = history.has_one_clock
        self.reads = 0
        self.transactions: dict[str, Transaction] = {}
        self.sends: dict[str, Sent] = {}
        self.initialized: list[Initialized] = []
        self.fenced: list[Fenced] = []
        self.consumers: dict[str, list[Assigned | Seeked | Read]] = {}
        self.finals: dict[Isolation, dict[TopicPartition, Content]] = {
            isolation: {} for isolation in Isolation
        }
        self.offset_commits: list[OffsetsCommitted] = []
        self.offset_fetches: list[OffsetsFetched] = []
        for event in history.events:
            self._add(event)

    def transaction_of(self, send: Sent) -> Transaction | None:
        return None if send.transaction is None else self.transactions[send.transaction]

    def _add(self, event: Event) -> None:
        match event:
            case Sent():
                self._add_send(event)
            case Read():
                self.reads += 1
                self.consumers.setdefault(event.client, []).append(event)
            case Assigned() | Seeked():
                self.consumers.setdefault(event.client, []).append(event)
            case Began() | OffsetsSent() | Ended():
                self._add_to_transaction(event)
            case Initialized():
                self.initialized.append(event)
            case Fenced():
                self.fenced.append(event)
            case OffsetsCommitted():
                self.offset_commits.append(event)
            case OffsetsFetched():
                self.offset_fetches.append(event)
            case FinalRead(partition, isolation, records):
                self.finals[isolation].setdefault(partition, []).extend(records)
            case _:
                assert_never(event)

    def _add_send(self, send: Sent) -> None:
        if self.sends.setdefault(send.value, send) is not send:
            raise BadHistory(f"the value {send.value!r} is sent twice; values must tell records")
        if send.transaction is not None:
            self._begun(send.transaction).sends.append(send)

    def _add_to_transaction(self, event: Began | OffsetsSent | Ended) -> None:
        match event:
            case Began(client, transactional_id, name, at):
                if name in self.transactions:
                    raise BadHistory(f"transaction {name} begins twice; give each a new name")
                self.transactions[name] = Transaction(name, client, transactional_id, at)
            case OffsetsSent():
                self._begun(event.transaction).offsets.append(event)
            case Ended():
                transaction = self._begun(event.transaction)
                (transaction.commits if event.is_commit else transaction.aborts).append(event)

    def _begun(self, name: str) -> Transaction:
        if name not in self.transactions:
            raise BadHistory(f"transaction {name} is used before it begins")
        return self.transactions[name]
