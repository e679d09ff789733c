"""What handlers may use: the parts of a broker, handed over by whoever builds it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from ottla.config.overrides import Overrides
from ottla.controller.config_store import ConfigStore
from ottla.controller.controller import Controller
from ottla.controller.topics import TopicRules
from ottla.coordinators.groups.answers import TopicPartition
from ottla.coordinators.groups.coordinator import GroupCoordinator
from ottla.coordinators.groups.forensics import RebalanceHistory
from ottla.coordinators.transactions.coordinator import TransactionCoordinator
from ottla.handlers.producer_clients import ProducerClients
from ottla.handlers.request_counts import RequestCounts
from ottla.handlers.stored_offsets import StoredOffsets
from ottla.handlers.topic_bytes import TopicBytes
from ottla.metadata.cache import MetadataCache
from ottla.network.connection import Shortcut
from ottla.protocol.errors import ErrorCode
from ottla.protocol.internal.topics import GROUP_METADATA_TOPIC, TRANSACTION_STATE_TOPIC
from ottla.replication.fetch_sessions import FetchSessions
from ottla.replication.leadership import Leadership
from ottla.replication.log_moves import LogMoves
from ottla.replication.replicas import Replicas
from ottla.security.quotas import Quotas
from ottla.timing.clock import Clock
from ottla.timing.purgatory import Purgatory
from ottla.timing.tick import Tick
from ottla.timing.timer import Timer

CheckAlteration = Callable[[str, Mapping[str, str | None]], Awaitable[None]]
Verified = Callable[[Mapping[TopicPartition, ErrorCode]], None]
# Of the transactional id with this producer id and epoch: are the partitions in its transaction?
VerifyTransaction = Callable[[str, int, int, Sequence[TopicPartition], Verified], None]


class Settings(Protocol):
    """What handlers ask of the configuration, as it is now."""

    def fetch_max_bytes(self) -> int: ...

    def down_converts(self, topic: str) -> bool: ...

    def auto_creates_topics(self) -> bool: ...

    def deletes_topics(self) -> bool: ...


@dataclass(slots=True)
class Services:
    """One broker, as its handlers see it."""

    broker_id: int
    clock: Clock
    tick: Tick
    timer: Timer
    replicas: Replicas
    sessions: FetchSessions
    leadership: Leadership
    metadata: MetadataCache
    broker_epoch: Callable[[], int]
    new_producer_id: Callable[[], Awaitable[int]]
    learn_topics: Callable[[list[str]], Awaitable[None]]  # their options, before their logs
    # Topics that clients asked for, soon; why some of them cannot be created.
    auto_create: Callable[[list[str]], Mapping[str, ErrorCode]]
    settings: Settings
    topic_rules: TopicRules
    overrides: Overrides
    configs: ConfigStore
    check_alteration: CheckAlteration  # the operator's policy on changes of configuration
    log_moves: LogMoves
    topic_operations: Purgatory  # who waits for topics to be created or deleted, by name
    elections: Purgatory  # who waits for partitions to have the leader that was elected
    groups: GroupCoordinator
    transactions: TransactionCoordinator
    verify_transaction: VerifyTransaction
    rebalances: RebalanceHistory
    stored_offsets: StoredOffsets  # of consumers before 0.9
    quotas: Quotas | None = None  # while nobody has set one
    controller: Controller = field(init=False)  # it needs us to be told of, so it comes last
    topic_bytes: TopicBytes = field(default_factory=TopicBytes)
    producer_clients: ProducerClients = field(default_factory=ProducerClients)
    requests: RequestCounts = field(default_factory=RequestCounts)
    shortcuts: dict[tuple[int, bytes], Shortcut] = field(default_factory=dict)  # by their prefix

    def topics_changed(self, names: tuple[str, ...]) -> None:
        """The metadata of these topics is not as before: let those who wait for them look."""
        self.topic_bytes.forget(names)
        for name in names:
            self.topic_operations.recheck(name)
            self.elections.recheck(name)
        gone = [name for name in names if name not in self.metadata.image.topics]
        if gone:
            self.shortcuts.clear()  # they would keep partitions that are gone
            self.groups.topics_deleted(gone)
            self.transactions.topics_deleted(gone)
        for name in gone:
            self.overrides.forget_topic(name)
            self.replicas.traffic.of(name).produces += self.requests.topic_deleted(name)
            self.replicas.traffic.topic_deleted(name)
            self.rebalances.topic_deleted(name, now_ms=self.clock.now_ms())

    def leads(self, topic: str, index: int, leader_epoch: int) -> None:
        """This broker leads the partition from now on: so it coordinates, if that is its use."""
        if topic == GROUP_METADATA_TOPIC:
            self.groups.elected(index, leader_epoch)
        elif topic == TRANSACTION_STATE_TOPIC:
            self.transactions.elected(index, leader_epoch)

    def leads_no_more(self, topic: str, index: int, leader_epoch: int | None) -> None:
        """Another broker does, or nobody; no epoch counts where there is none."""
        if topic == GROUP_METADATA_TOPIC:
            self.groups.resigned(index, leader_epoch)
        elif topic == TRANSACTION_STATE_TOPIC:
            self.transactions.resigned(index, leader_epoch)

    def purgatories(self) -> tuple[Purgatory, ...]:
        replicas = self.replicas
        return (
            replicas.produces,
            replicas.fetches,
            replicas.deletions,
            self.topic_operations,
            self.elections,
        )
