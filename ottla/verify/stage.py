"""What the actors of a workload share: the plan, the dice, the clients, and how far the loop is."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from enum import Enum, auto
from random import Random
from typing import NamedTuple

from ottla.verify.clients import Clients
from ottla.verify.history import Isolation, Recorder, TopicPartition
from ottla.verify.recorded import RecordedConsumer, RecordedProducer

PATIENCE_S = 60.0
_ATTEMPTS = 5
_OPEN_STEPS = 20  # the longest that a dead producer's transaction stays open


class Plan(NamedTuple):
    """`transactions` are those of the producers; the loop has as many as it needs."""

    input_topic: str
    output_topic: str
    group: str
    partitions: int = 3
    producers: int = 4
    members: int = 2
    readers: int = 2
    transactions: int = 200
    records: int = 10  # at most, in one transaction
    abort_share: float = 0.2
    kill_share: float = 0.1
    zombie_share: float = 0.05

    @property
    def inputs(self) -> list[TopicPartition]:
        return [TopicPartition(self.input_topic, index) for index in range(self.partitions)]

    @property
    def outputs(self) -> list[TopicPartition]:
        return [TopicPartition(self.output_topic, index) for index in range(self.partitions)]


class Stuck(Exception):
    """The cluster did not let the workload go on; the words say where."""


class Way(Enum):
    """How a transaction ends."""

    COMMIT = auto()
    ABORT = auto()
    KILL = auto()  # its producer is gone; the next of the same id cleans up
    ZOMBIE = auto()  # the next is there already when its producer wants to commit


class Stage:
    def __init__(
        self,
        clients: Clients,
        plan: Plan,
        recorder: Recorder,
        *,
        seed: int,
        elapsed_s: Callable[[], float],
    ) -> None:
        self.clients = clients
        self.plan = plan
        self.recorder = recorder
        self.random = Random(seed)
        self.elapsed_s = elapsed_s
        self.ended = 0  # transactions of the producers
        self.committed: dict[TopicPartition, int] = {}  # by the loop
        self.moved_s = 0.0  # when it last got further
        self.wait_s = 0.0  # for records; nobody waits while there is something else to do
        self._lives: dict[str, int] = {}
        self._taken: dict[str, None] = {}

    def take(self, transactional_id: str) -> Generator[None, None, RecordedProducer]:
        """A new producer in the place of whoever had the id; others act meanwhile."""
        self._taken[transactional_id] = None
        for _ in range(_ATTEMPTS):
            producer = RecordedProducer(
                self.clients,
                self.recorder,
                transactional_id=f"{self.plan.group}-{transactional_id}",
                client=self._name(transactional_id),
            )
            began_s = self.elapsed_s()
            while (is_done := producer.initialize()) is None:
                if self.elapsed_s() - began_s > PATIENCE_S:
                    break
                yield
            if is_done:
                return producer
            producer.abandon()
        words = producer.trouble or "it takes too long"
        raise Stuck(f"no producer can take {producer.transactional_id}: {words}")

    def fence_all(self) -> None:
        """Nobody's transaction stays open."""
        for transactional_id in list(self._taken):
            self._at_once(self.take(transactional_id)).abandon()

    def _at_once(self, taking: Generator[None, None, RecordedProducer]) -> RecordedProducer:
        while True:
            try:
                next(taking)
            except StopIteration as taken:
                producer: RecordedProducer = taken.value
                return producer

    def reader(self, isolation: Isolation) -> RecordedConsumer:
        is_committed = isolation is Isolation.READ_COMMITTED
        consumer = self.clients.reader(read_committed=is_committed)
        name = self._name(f"{isolation}-reader")
        return RecordedConsumer(consumer, self.recorder, client=name, isolation=isolation)

    def member(self) -> RecordedConsumer:
        consumer = self.clients.member(self.plan.group)
        return RecordedConsumer(
            consumer,
            self.recorder,
            client=self._name("member"),
            isolation=Isolation.READ_COMMITTED,
        )

    def draw(self) -> Way:
        shares = {
            Way.ABORT: self.plan.abort_share,
            Way.KILL: self.plan.kill_share,
            Way.ZOMBIE: self.plan.zombie_share,
        }
        shares[Way.COMMIT] = max(0.0, 1 - sum(shares.values()))
        (way,) = self.random.choices(list(shares), list(shares.values()))
        return way

    def moved(self, offsets: dict[TopicPartition, int]) -> None:
        """The loop has committed so far."""
        for partition, offset in offsets.items():
            if offset > self.committed.get(partition, 0):
                self.committed[partition] = offset
                self.moved_s = self.elapsed_s()

    def linger(self) -> Iterator[None]:
        """So that others do something meanwhile."""
        for _ in range(self.random.randint(1, _OPEN_STEPS)):
            yield

    def _name(self, role: str) -> str:
        """Each life has a name of its own."""
        self._lives[role] = self._lives.get(role, -1) + 1
        return f"{role}.{self._lives[role]}"
