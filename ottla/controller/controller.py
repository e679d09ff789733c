"""The controller: one queue of events, worked off one at a time by one task.

Every broker has one; the store decides which of them is active. What an active one does lies in
the files beside this one.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Protocol

from ottla.controller import events
from ottla.controller.context import ControllerContext, TopicPartition
from ottla.controller.events import ElectionResult, ElectionType, Event, ReassignmentResult
from ottla.controller.fence import ControllerMoved, Fence
from ottla.controller.notifications import says_something
from ottla.controller.office import claim_office, holder
from ottla.controller.reactions import react
from ottla.controller.senders import Brokers, Senders
from ottla.controller.stats import ControllerStats, state_number
from ottla.controller.term import ControllerSettings, Term
from ottla.protocol.apis.leader_and_isr import LeaderAndIsrResponse
from ottla.protocol.apis.stop_replica import StopReplicaRequest, StopReplicaResponse
from ottla.protocol.errors import ErrorCode, KafkaError
from ottla.protocol.schema import Message
from ottla.store import paths
from ottla.store.port import MetadataStore, StoreError
from ottla.timing.survival import survived

NOBODY = -1
FIRST_BALANCE_MS = 5_000
STORE_BACKOFF_SECONDS = 0.1
BUG_BACKOFF_SECONDS = 1.0

log = logging.getLogger(__name__)


class Clock(Protocol):
    def now_ms(self) -> int: ...


class Timer(Protocol):
    def call_after(self, delay_ms: int, callback: Callable[[], None]) -> object: ...

    def now_ns(self) -> int: ...


class Controller:
    """`register` makes the broker known to the cluster again, after its session was lost."""

    def __init__(
        self,
        settings: ControllerSettings,
        *,
        store: MetadataStore,
        brokers: Brokers,
        register: Callable[[], Awaitable[object]],
        timer: Timer,
        clock: Clock,
    ) -> None:
        self.active_id = NOBODY
        self._settings = settings
        self._store = store
        self._senders = Senders(brokers, self._answered)
        self._register = register
        self._timer = timer
        self._clock = clock
        self._term: Term | None = None
        self.stats = ControllerStats()
        self._waiting: dict[Event, int] = {}  # and since when
        self._current: Event | None = None
        self._filled = asyncio.Event()
        self._settlers: list[asyncio.Future[None]] = []
        store.on_session_lost(lambda: self._put(events.SessionExpired()))

    @property
    def is_active(self) -> bool:
        """Whether it leads the cluster and knows it, too: taking over takes a moment."""
        return self._term is not None and self._term.is_loaded

    @property
    def state_number(self) -> int:
        """What it is busy with, by Kafka's number."""
        return state_number(self._current)

    @property
    def waiting_count(self) -> int:
        """Of events."""
        return len(self._waiting)

    def unsent_counts(self) -> dict[int, int]:
        """Of the requests that are not answered yet, by broker."""
        return self._senders.unsent_counts()

    @property
    def context(self) -> ControllerContext:
        """What the active controller knows; `NOT_CONTROLLER` if that is not us."""
        return self._active_term().context

    @property
    def fence(self) -> Fence:
        """For writes that only the active controller may do."""
        return self._active_term().fence

    def check_active(self) -> None:
        """Refuses with `NOT_CONTROLLER` what only the active controller may do."""
        self._active_term()

    def _active_term(self) -> Term:
        if self._term is None or not self._term.is_loaded:
            raise _not_controller()
        return self._term

    async def run(self) -> None:
        """Until it is cancelled."""
        watch = self._store.watch(paths.CONTROLLER, lambda: self._put(events.ControllerChange()))
        try:
            async with asyncio.TaskGroup() as group:
                self._senders.start(group)
                self._put(events.ControllerChange())
                while True:
                    await self._next()
        finally:
            watch.cancel()
            self._resign()
            for event in self._waiting:
                _refuse(event)
            for settler in self._settlers:
                settler.cancel()

    async def settled(self) -> None:
        """Returns when no event waits or is worked on, and every request is answered."""
        while True:
            await asyncio.sleep(0)  # a watch that is due is called first
            if self._is_settled():
                return
            settler = asyncio.get_running_loop().create_future()
            self._settlers.append(settler)
            await settler

    async def elect_leaders(
        self, election_type: ElectionType, partitions: Sequence[TopicPartition] | None
    ) -> dict[TopicPartition, ElectionResult]:
        """None elects for all partitions; those that needed none are among the results."""
        self._active_term()
        done: asyncio.Future[dict[TopicPartition, ElectionResult]]
        done = asyncio.get_running_loop().create_future()
        chosen = None if partitions is None else tuple(partitions)
        self._put(events.LeaderElection(election_type, chosen, done))
        return await done

    async def alter_reassignments(
        self, wanted: Mapping[TopicPartition, tuple[int, ...] | None]
    ) -> dict[TopicPartition, ReassignmentResult]:
        """None stops moving a partition; it goes back to where it was."""
        self._active_term()
        done: asyncio.Future[dict[TopicPartition, ReassignmentResult]]
        done = asyncio.get_running_loop().create_future()
        self._put(events.ReassignmentAlteration(wanted, done))
        return await done

    async def controlled_shutdown(self, broker: int, *, broker_epoch: int) -> list[TopicPartition]:
        """The partitions that the broker still leads and must not leave yet."""
        self._active_term()
        done: asyncio.Future[list[TopicPartition]]
        done = asyncio.get_running_loop().create_future()
        self._put(events.ControlledShutdown(broker, broker_epoch, done))
        return await done

    def _put(self, event: Event) -> None:
        self._waiting.setdefault(event, self._timer.now_ns())
        self._filled.set()

    def _is_settled(self) -> bool:
        return not self._waiting and self._current is None and self._senders.idle

    def _tell_settlers(self) -> None:
        if self._settlers and self._is_settled():
            for settler in self._settlers:
                settler.set_result(None)
            self._settlers.clear()

    async def _next(self) -> None:
        """Works off the event that has waited longest."""
        if not self._waiting:
            self._filled.clear()
            await self._filled.wait()
        event = self._current = next(iter(self._waiting))
        put_ns, begun_ns = self._waiting.pop(event), self._timer.now_ns()
        try:
            await self._handle_or_start_over(event)
            self.stats.worked_off(
                event, put_ns=put_ns, begun_ns=begun_ns, ended_ns=self._timer.now_ns()
            )
        except ControllerMoved as moved:
            log.info("controller %d: %s", self._settings.broker_id, moved)
            self._start_over(event)
        except StoreError as error:
            # Whether a write was done is not known: only reading everything anew can tell.
            log.warning("controller %d: %s; starting over", self._settings.broker_id, error)
            self._start_over(event)
            # A store that is gone for good must not keep us, or the log, busy.
            await asyncio.sleep(STORE_BACKOFF_SECONDS)
        except asyncio.CancelledError:
            _refuse(event)
            raise
        self._current = None
        self._tell_settlers()

    async def _handle_or_start_over(self, event: Event) -> None:
        """After a bug what we know may be half a change: what the store says is whole."""
        name = f"controller {self._settings.broker_id}: {type(event).__name__}"
        if not await survived(self._handle(event), name, known=(ControllerMoved, StoreError)):
            self._start_over(event)
            await asyncio.sleep(BUG_BACKOFF_SECONDS)

    def _start_over(self, event: Event) -> None:
        self._resign()
        _refuse(event)
        again = event if isinstance(event, events.SessionExpired) else events.ControllerChange()
        self._put(again)

    async def _handle(self, event: Event) -> None:
        match event:
            case events.ControllerChange():
                await self._elect()
            case events.SessionExpired():
                self._resign()
                await self._register()
                await self._elect()
            case _:
                if self._term is None:
                    _refuse(event)
                else:
                    await react(self._term, event)
                    if isinstance(event, events.BalanceLeaders):
                        self._balance_later(
                            self._settings.leader_imbalance_check_interval_seconds * 1_000
                        )

    async def _elect(self) -> None:
        """Whoever creates the node is active; whoever finds it gone, or another's, is not."""
        entry = await self._store.read(paths.CONTROLLER)
        is_ours = entry is not None and entry.owner == self._store.session_id
        if is_ours and self._term is not None:
            return
        self._resign()
        self.active_id = holder(entry)
        if entry is not None and not is_ours:
            return
        term = Term(self._settings, self._store, self._senders, self._put, self.stats)
        if await claim_office(self._store, term.context, entry, now_ms=self._clock.now_ms()):
            self._term = term
            self.active_id = self._settings.broker_id
            log.info("broker %d is controller, epoch %d", self.active_id, term.context.epoch)
            await term.begin()
            self._balance_later(FIRST_BALANCE_MS)
        else:
            self._put(events.ControllerChange())  # somebody was faster: see who

    def _resign(self) -> None:
        if self._term is not None:
            self._term.end()
            self._term = None
            self.active_id = NOBODY

    def _balance_later(self, delay_ms: int) -> None:
        term = self._term
        if self._settings.auto_leader_rebalance_enable:
            self._timer.call_after(delay_ms, lambda: self._balance(term))

    def _balance(self, term: Term | None) -> None:
        if self._term is term and term is not None:
            self._put(events.BalanceLeaders())

    def _answered(self, broker: int, request: Message, answer: Message) -> None:
        if code := getattr(answer, "error_code", ErrorCode.NONE):
            log.warning("broker %d: error %d for %s", broker, code, type(request).__name__)
        if self._term is not None:
            if isinstance(answer, LeaderAndIsrResponse):
                if says_something(self._term.context, broker, answer):
                    self._put(events.ReplicaAnswers(broker, answer))
            elif isinstance(answer, StopReplicaResponse):
                assert isinstance(request, StopReplicaRequest)
                if asked := _to_be_deleted(request):
                    self._put(events.DeletionAnswers(broker, answer, asked))
        self._tell_settlers()


def _refuse(event: Event) -> None:
    match event:
        case (
            events.LeaderElection(done=done)
            | events.ReassignmentAlteration(done=done)
            | events.ControlledShutdown(done=done)
        ):
            if not done.done():
                done.set_exception(_not_controller())


def _not_controller() -> KafkaError:
    return KafkaError(ErrorCode.NOT_CONTROLLER, "another broker is the controller, or will be soon")


def _to_be_deleted(request: StopReplicaRequest) -> tuple[TopicPartition, ...]:
    return tuple(
        TopicPartition(topic.topic_name, state.partition_index)
        for topic in request.topic_states
        for state in topic.partition_states
        if state.delete_partition
    )
