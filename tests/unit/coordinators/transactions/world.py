"""A transaction coordinator on virtual time, over logs in memory and brokers that take markers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from ottla.coordinators.transactions.coordinator import TransactionCoordinator
from ottla.coordinators.transactions.marker_port import MarkerCodes
from ottla.coordinators.transactions.requests import InitAnswer, Marker, TopicPartition
from ottla.coordinators.transactions.settings import TransactionSettings
from ottla.protocol.errors import ErrorCode
from ottla.timing.tick import Tick
from tests.unit.coordinators.coordinated_world import CoordinatedWorld
from tests.unit.coordinators.fake_log import FakeLog

NONE = ErrorCode.NONE
HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS
TIMEOUT_MS = 60_000
ORDERS: tuple[TopicPartition, ...] = (("orders", 0), ("orders", 1), ("payments", 0))
SETTINGS = TransactionSettings(
    max_timeout_ms=900_000,
    abort_timed_out_interval_ms=10_000,
    id_expiration_ms=7 * DAY_MS,
    remove_expired_interval_ms=HOUR_MS,
    load_buffer_bytes=5 * 1024 * 1024,
    append_timeout_ms=30_000,
)


class Brokers:
    """The leaders of all partitions: broker 0 unless told otherwise. They write any marker."""

    def __init__(self) -> None:
        self.leaders: dict[TopicPartition, int | None] = {}
        self.answers_at_once = True
        self.error: ErrorCode | None = NONE  # None: they cannot be reached
        self.errors: dict[TopicPartition, ErrorCode] = {}
        self.sent: list[tuple[int, list[Marker]]] = []
        self.unanswered: list[Callable[[], None]] = []

    def leader_of(self, topic: str, partition: int) -> int | None:
        return self.leaders.get((topic, partition), 0)

    def send(
        self, broker: int, markers: Sequence[Marker], to: Callable[[MarkerCodes], None]
    ) -> None:
        self.sent.append((broker, list(markers)))
        self.unanswered.append(lambda: to(self._codes(markers)))
        if self.answers_at_once:
            self.answer()

    def _codes(self, markers: Sequence[Marker]) -> MarkerCodes:
        if self.error is None:
            return None
        return {
            (marker.producer_id, place): self.errors.get(place, self.error)
            for marker in markers
            for place in marker.partitions
        }

    def answer(self) -> None:
        unanswered, self.unanswered = self.unanswered, []
        for each in unanswered:
            each()

    def partitions(self) -> list[TopicPartition]:
        """All that markers were sent for, in order."""
        return [p for _, markers in self.sent for marker in markers for p in marker.partitions]


class ProducerIds:
    def __init__(self) -> None:
        self.next_id = 1000
        self.answers_at_once = True
        self.error: ErrorCode | None = None
        self.waiting: list[Callable[[int | ErrorCode], None]] = []

    def new(self, to: Callable[[int | ErrorCode], None]) -> None:
        self.waiting.append(to)
        if self.answers_at_once:
            self.answer()

    def answer(self) -> None:
        waiting, self.waiting = self.waiting, []
        for to in waiting:
            self.next_id += 1
            to(self.error or self.next_id - 1)


class World(CoordinatedWorld[TransactionCoordinator]):
    """Of transactions."""

    def __init__(self, *, logs: Sequence[FakeLog] | None = None, **settings: int) -> None:
        super().__init__(logs)
        loop = asyncio.get_running_loop()
        self.brokers = Brokers()
        self.ids = ProducerIds()
        self.coordinator = TransactionCoordinator(
            SETTINGS._replace(**settings),
            open_log=self.logs.__getitem__,
            new_producer_id=self.ids.new,
            markers=self.brokers,
            timer=self.timer,
            tick=Tick(loop.call_soon),
            clock=self.clock,
            call_soon=loop.call_soon,
        )

    async def start(self) -> World:
        self.coordinator.start(len(self.logs))
        await self.reload()
        return self

    def state_of(self, transactional_id: str) -> str:
        return self.coordinator.describe(transactional_id).state

    def ask_init(self, transactional_id: str, **more: Any) -> list[InitAnswer]:
        answers: list[InitAnswer] = []
        asked = {"timeout_ms": TIMEOUT_MS, "expected": None} | more
        self.coordinator.init_producer_id(transactional_id, to=answers.append, **asked)
        return answers

    async def init(self, transactional_id: str, **more: Any) -> InitAnswer:
        answers = self.ask_init(transactional_id, **more)
        await self.settle()
        [answer] = answers
        return answer

    def ask_add(
        self, transactional_id: str, who: InitAnswer, partitions: Sequence[TopicPartition] = ORDERS
    ) -> list[ErrorCode]:
        answers: list[ErrorCode] = []
        self.coordinator.add_partitions(
            transactional_id,
            producer_id=who.producer_id,
            producer_epoch=who.producer_epoch,
            partitions=partitions,
            to=answers.append,
        )
        return answers

    def ask_end(self, transactional_id: str, who: InitAnswer, *, commit: bool) -> list[ErrorCode]:
        answers: list[ErrorCode] = []
        self.coordinator.end(
            transactional_id,
            producer_id=who.producer_id,
            producer_epoch=who.producer_epoch,
            is_commit=commit,
            to=answers.append,
        )
        return answers

    async def end(self, transactional_id: str, who: InitAnswer, *, commit: bool) -> ErrorCode:
        answers = self.ask_end(transactional_id, who, commit=commit)
        await self.settle()
        [answer] = answers
        return answer

    def verify(
        self, transactional_id: str, who: InitAnswer, *partitions: TopicPartition
    ) -> dict[TopicPartition, ErrorCode]:
        return self.coordinator.verify_partitions(
            transactional_id,
            producer_id=who.producer_id,
            producer_epoch=who.producer_epoch,
            partitions=partitions,
        )

    async def begun(
        self, transactional_id: str, partitions: Sequence[TopicPartition] = ORDERS
    ) -> InitAnswer:
        """A transaction is ongoing: whose."""
        who = await self.init(transactional_id)
        assert who.error is NONE
        added = self.ask_add(transactional_id, who, partitions)
        await self.settle()
        assert added == [NONE]
        return who
