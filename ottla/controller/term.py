"""One term as controller, from election to resignation: what is known, watched and under way.

A term that is over is thrown away whole; the next one reads everything anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

from ottla.controller.context import ControllerContext
from ottla.controller.events import (
    BrokerChange,
    BrokerModification,
    Event,
    IsrChangeNotification,
    LogDirFailure,
    PartitionModification,
    PreferredElectionRequest,
    ReassignmentRequest,
    ReassignmentResumption,
    TopicChange,
    TopicDeletionRequest,
)
from ottla.controller.fence import Fence
from ottla.controller.lists import split
from ottla.controller.loading import load_brokers, load_topics, names_below
from ottla.controller.partition_machine import PartitionMachine
from ottla.controller.partition_states import PartitionStates
from ottla.controller.replica_machine import ReplicaMachine
from ottla.controller.request_batch import RequestBatch
from ottla.controller.senders import Senders
from ottla.controller.slices import in_slices
from ottla.controller.stats import ControllerStats
from ottla.controller.topic_deletion import TopicDeletion
from ottla.controller.topic_records import TopicRecords
from ottla.store import paths
from ottla.store.port import Create, MetadataStore, Watch
from ottla.store.znodes import Feature


@dataclass(frozen=True, slots=True)
class ControllerSettings:
    """`unclean_allowed` is asked for a topic's unclean.leader.election.enable."""

    broker_id: int
    inter_broker_listener: str
    unclean_allowed: Callable[[str], bool]
    new_topic_id: Callable[[], bytes]
    delete_topic_enable: bool = True
    auto_leader_rebalance_enable: bool = True
    leader_imbalance_per_broker_percentage: int = 10
    leader_imbalance_check_interval_seconds: int = 300


class Term:
    def __init__(
        self,
        settings: ControllerSettings,
        store: MetadataStore,
        senders: Senders,
        put: Callable[[Event], None],
        stats: ControllerStats,
    ) -> None:
        self.settings = settings
        self.senders = senders
        self.context = ControllerContext(settings.broker_id)
        self.fence = Fence(store, self.context)
        self.batch = RequestBatch(
            self.context, inter_broker_listener=settings.inter_broker_listener
        )
        self.states = PartitionStates(self.fence)
        self.records = TopicRecords(
            self.fence,
            partitions_of=lambda topic: self.context.assignments.get(topic, ()),
            new_topic_id=settings.new_topic_id,
        )
        self.partitions = PartitionMachine(
            self.context,
            self.states,
            self.batch,
            unclean_allowed=settings.unclean_allowed,
            stats=stats,
        )
        self.replicas = ReplicaMachine(self.context, self.states, self.batch)
        self.deletion = TopicDeletion(
            self.context,
            partitions=self.partitions,
            replicas=self.replicas,
            batch=self.batch,
            records=self.records,
            flush=self.flush,
        )
        self.is_loaded = False
        self._store = store
        self._put = put
        self._watches: dict[Event, Watch] = {}

    async def begin(self) -> None:
        """Kafka's order: brokers learn of the cluster before they hear their part in it."""
        self._watch_folders()
        for folder in (paths.LOG_DIR_EVENTS, paths.ISR_CHANGES):
            # We are about to read what they tell of.
            names = await names_below(self.fence, folder)
            await self.fence.delete(f"{folder}/{name}" for name in names)
        await self._load()
        await self._begin_deletions()
        if await self._store.read(paths.FEATURE) is None:
            await self.fence.multi([Create(paths.FEATURE, Feature(is_enabled=True).encode())])
        self.batch.inform(self.context.brokers, self.context.leaderships)
        await self.flush()
        await self.replicas.start()
        await self.flush()
        self.partitions.start()
        await self.partitions.bring_online()
        await self.flush()
        await self.deletion.resume()
        if self.context.reassigned:
            self._put(ReassignmentResumption())
        self._put(ReassignmentRequest())
        self._put(PreferredElectionRequest())

    def end(self) -> None:
        for watch in self._watches.values():
            watch.cancel()
        self._watches.clear()
        self.senders.stop()

    async def flush(self) -> None:
        """Sends what was collected."""
        async for _ in in_slices(self.batch.prepare()):
            pass
        for broker, request in self.batch.take():
            self.senders.put(broker, request)

    def watch_broker(self, broker: int) -> None:
        event = BrokerModification(broker)
        if event not in self._watches:
            self._watch(event, self._store.watch, paths.broker(broker))

    def watch_topic(self, topic: str) -> None:
        event = PartitionModification(topic)
        if event not in self._watches:
            self._watch(event, self._store.watch, paths.topic(topic))

    def stop_watching(self, event: Event) -> None:
        if watch := self._watches.pop(event, None):
            watch.cancel()

    async def load_topics(self, topics: Iterable[str]) -> None:
        names = list(topics)
        for topic in names:
            self.watch_topic(topic)
        await load_topics(self.context, self.records, names)

    def _watch(
        self, event: Event, watch: Callable[[str, Callable[[], None]], Watch], path: str
    ) -> None:
        self._watches[event] = watch(path, partial(self._put, event))

    def _watch_folders(self) -> None:
        for event, path in (
            (BrokerChange(), paths.BROKER_IDS),
            (TopicChange(), paths.TOPICS),
            (TopicDeletionRequest(), paths.DELETE_TOPICS),
            (LogDirFailure(), paths.LOG_DIR_EVENTS),
            (IsrChangeNotification(), paths.ISR_CHANGES),
        ):
            self._watch(event, self._store.watch_children, path)
        self._watch(PreferredElectionRequest(), self._store.watch, paths.PREFERRED_REPLICA_ELECTION)
        self._watch(ReassignmentRequest(), self._store.watch, paths.REASSIGN_PARTITIONS)

    async def _load(self) -> None:
        self.context.brokers = await load_brokers(self.fence)
        for broker in self.context.brokers:
            self.senders.add(broker)
            self.watch_broker(broker)
            self._put(BrokerModification(broker))  # between reading and watching it
        await self.load_topics(await names_below(self.fence, paths.TOPICS))
        self.context.leaderships = await self.states.read(self.context.all_partitions())
        self.is_loaded = True

    async def _begin_deletions(self) -> None:
        wanted = await names_below(self.fence, paths.DELETE_TOPICS)
        self.deletion.begin(await self.deletable(wanted))

    async def deletable(self, topics: Iterable[str]) -> list[str]:
        """Those that exist; wishes that nobody will fulfil are taken back."""
        known, unwanted = split(
            topics,
            lambda topic: self.settings.delete_topic_enable and topic in self.context.assignments,
        )
        await self.fence.delete(map(paths.delete_topic, unwanted))
        return known
