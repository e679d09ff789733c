"""Will an open transaction end by itself? Kafka's method (KIP-664), as rules.

A partition knows that a producer began; only a coordinator ends what began. So a transaction that
is open in a partition, while no coordinator counts the partition among those it has still to write
a marker to, stays open for ever and keeps read_committed consumers where it began.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum
from typing import NamedTuple

ONGOING = "Ongoing"
STATES = (
    "Empty",
    ONGOING,
    "PrepareCommit",
    "PrepareAbort",
    "CompleteCommit",
    "CompleteAbort",
    "Dead",
    "PrepareEpochFence",
)

Partition = tuple[str, int]


class OpenTransaction(NamedTuple):
    """As the partition's leader tells it.

    `coordinator_epoch` is -1 as long as no transaction of the producer has ended there.
    """

    partition: Partition
    producer_id: int
    producer_epoch: int
    coordinator_epoch: int
    start_offset: int
    last_write_ms: int


class KnownTransaction(NamedTuple):
    """As its coordinator tells it. `partitions` are those that still wait for a marker."""

    transactional_id: str
    coordinator: int
    state: str
    producer_id: int
    producer_epoch: int
    timeout_ms: int
    started_ms: int | None
    partitions: tuple[Partition, ...]

    def left_ms(self, now_ms: int) -> int | None:
        """How long until it times out: negative if it should have; None if nothing is open."""
        if self.state != ONGOING or self.started_ms is None:
            return None
        return self.started_ms + self.timeout_ms - now_ms


class Verdict(Enum):
    ONGOING = "ongoing"
    OVERDUE = "overdue"  # its time is over: the coordinator aborts it when it looks next
    ENDING = "ending"  # decided; the marker is on its way
    HANGING = "hanging"  # nobody will ever end it


class Judged(NamedTuple):
    """`began_ms` is None where neither the coordinator nor the first record tells it."""

    open: OpenTransaction
    known: KnownTransaction | None
    verdict: Verdict
    began_ms: int | None = None


def judge(opened: OpenTransaction, known: Iterable[KnownTransaction], *, now_ms: int) -> Judged:
    """`known` are all that the coordinators tell; those of other producers do no harm."""
    of_producer = [each for each in known if each.producer_id == opened.producer_id]
    for each in of_producer:
        if opened.partition in each.partitions:
            verdict = _verdict_on_known(each, now_ms)
            return Judged(opened, each, verdict, each.started_ms)
    # What the coordinator says of the producer instead may still explain it.
    return Judged(opened, next(iter(of_producer), None), Verdict.HANGING)


def _verdict_on_known(known: KnownTransaction, now_ms: int) -> Verdict:
    if known.state != ONGOING:
        return Verdict.ENDING
    left_ms = known.left_ms(now_ms)
    return Verdict.OVERDUE if left_ms is not None and left_ms < 0 else Verdict.ONGOING


def is_silent(opened: OpenTransaction, *, for_ms: int, now_ms: int) -> bool:
    """Whether its producer has written nothing for longer than that, as Kafka counts its age."""
    return now_ms - opened.last_write_ms > for_ms


def confirmed(first: Sequence[Judged], second: Iterable[Judged]) -> list[Judged]:
    """Those of the first look that hang in a later one, too.

    A transaction may end, or its coordinator move, while partitions and coordinators are asked in
    turn. What hangs is the same afterwards: in its partition, from the same offset on.
    """
    still = {(each.open.partition, each.open.start_offset) for each in hanging(second)}
    return [
        each for each in hanging(first) if (each.open.partition, each.open.start_offset) in still
    ]


def hanging(judged: Iterable[Judged]) -> list[Judged]:
    return [each for each in judged if each.verdict is Verdict.HANGING]
