"""What the controller knows of the cluster: brokers, assignments, leaders and states (pure).

It is read from the store when a controller takes over and kept up by its events.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from ottla.controller.elections import Electorate
from ottla.controller.states import PartitionState, ReplicaState
from ottla.metadata.image import BrokerImage


class TopicPartition(NamedTuple):
    topic: str
    partition: int


class Replica(NamedTuple):
    at: TopicPartition
    broker: int


@dataclass(frozen=True, slots=True)
class Leadership:
    """A partition's state znode; `version` is the znode's, -1 before it exists."""

    leader: int
    leader_epoch: int
    isr: tuple[int, ...]
    controller_epoch: int
    version: int = -1
    recovering: bool = False  # the leader was elected uncleanly and has not cleaned up yet


@dataclass(frozen=True, slots=True)
class ReplicaSet:
    """The brokers of a partition; adding and removing are not empty while it is reassigned."""

    replicas: tuple[int, ...]
    adding: tuple[int, ...] = ()
    removing: tuple[int, ...] = ()

    @property
    def is_reassigned(self) -> bool:
        return bool(self.adding or self.removing)


@dataclass(frozen=True, slots=True)
class LiveBroker:
    """A registered broker; `epoch` tells this registration from an earlier one of the same id."""

    image: BrokerImage
    epoch: int


class ControllerContext:
    def __init__(self, controller_id: int) -> None:
        self.controller_id = controller_id
        self.epoch = 0
        self.epoch_version = -1
        self.brokers: dict[int, LiveBroker] = {}
        self.shutting_down: dict[int, None] = {}
        self.topic_ids: dict[str, bytes] = {}
        self.topic_names: dict[bytes, str] = {}
        self.assignments: dict[str, dict[int, ReplicaSet]] = {}
        self.reassigned: dict[TopicPartition, None] = {}  # those whose replicas are moving
        self.leaderships: dict[TopicPartition, Leadership] = {}
        self.partition_states: dict[TopicPartition, PartitionState] = {}
        self.replica_states: dict[Replica, ReplicaState] = {}
        self.leaderless: dict[TopicPartition, None] = {}  # those in state New or Offline
        self.offline_dirs: dict[int, dict[TopicPartition, None]] = {}
        self.deleting: dict[str, None] = {}
        self._held: dict[int, dict[TopicPartition, None]] = {}

    def add_topic(self, topic: str, topic_id: bytes, assignment: dict[int, ReplicaSet]) -> None:
        self.assignments[topic] = {}
        self.topic_ids[topic] = topic_id
        self.topic_names[topic_id] = topic
        for partition, replicas in assignment.items():
            self.assign(TopicPartition(topic, partition), replicas)

    def assign(self, at: TopicPartition, replicas: ReplicaSet) -> None:
        before = self.assignments[at.topic].get(at.partition)
        for broker in before.replicas if before else ():
            self._held[broker].pop(at, None)
        self.assignments[at.topic][at.partition] = replicas
        if replicas.is_reassigned:
            self.reassigned[at] = None
        else:
            self.reassigned.pop(at, None)
        for broker in replicas.replicas:
            self._held.setdefault(broker, {})[at] = None

    def remove_topic(self, topic: str) -> None:
        for at in self.partitions_of(topic):
            for replica in self.replicas_of(at):
                self._held[replica.broker].pop(at, None)
                self.replica_states.pop(replica, None)
                self.offline_dirs.get(replica.broker, {}).pop(at, None)
            self.leaderships.pop(at, None)
            self.reassigned.pop(at, None)
            self.partition_states.pop(at, None)
            self.leaderless.pop(at, None)
        self.assignments.pop(topic, None)
        self.deleting.pop(topic, None)
        self.topic_names.pop(self.topic_ids.pop(topic, b""), None)

    def replica_set(self, at: TopicPartition) -> ReplicaSet:
        return self.assignments[at.topic][at.partition]

    def knows(self, at: TopicPartition) -> bool:
        return at.partition in self.assignments.get(at.topic, ())

    def partitions_of(self, topic: str) -> list[TopicPartition]:
        return [TopicPartition(topic, partition) for partition in self.assignments.get(topic, ())]

    def all_partitions(self) -> Iterator[TopicPartition]:
        for topic in self.assignments:
            yield from self.partitions_of(topic)

    def replicas_of(self, at: TopicPartition) -> list[Replica]:
        return [Replica(at, broker) for broker in self.replica_set(at).replicas]

    def replicas_of_topic(self, topic: str) -> list[Replica]:
        return [r for at in self.partitions_of(topic) for r in self.replicas_of(at)]

    def replicas_on(self, brokers: Iterable[int]) -> list[Replica]:
        return [Replica(at, broker) for broker in brokers for at in self._held.get(broker, ())]

    def live_brokers(self) -> list[int]:
        return [broker for broker in self.brokers if broker not in self.shutting_down]

    def is_online(self, replica: Replica, *, even_shutting_down: bool = False) -> bool:
        """Its broker is up and the disk below it works."""
        at, broker = replica
        if broker not in self.brokers or at in self.offline_dirs.get(broker, ()):
            return False
        return even_shutting_down or broker not in self.shutting_down

    def electorate(self, at: TopicPartition, *, even_shutting_down: bool = False) -> Electorate:
        assigned = self.replica_set(at).replicas
        known = self.leaderships.get(at)
        live = tuple(
            broker
            for broker in assigned
            if self.is_online(Replica(at, broker), even_shutting_down=even_shutting_down)
        )
        return Electorate(assigned=assigned, isr=known.isr if known else (), live=live)

    def offline_replicas(self, at: TopicPartition) -> list[int]:
        return [r.broker for r in self.replicas_of(at) if not self.is_online(r)]

    def partitions_without_live_leader(self) -> list[TopicPartition]:
        return [
            at
            for at, known in self.leaderships.items()
            if at.topic not in self.deleting and not self.is_online(Replica(at, known.leader))
        ]

    def partition_state(self, at: TopicPartition) -> PartitionState:
        return self.partition_states.get(at, PartitionState.NON_EXISTENT)

    def set_partition_state(self, at: TopicPartition, state: PartitionState) -> None:
        self.partition_states[at] = state
        if state in (PartitionState.NEW, PartitionState.OFFLINE):
            self.leaderless[at] = None
        else:
            self.leaderless.pop(at, None)

    def replica_state(self, replica: Replica) -> ReplicaState:
        return self.replica_states.get(replica, ReplicaState.NON_EXISTENT)

    def replicas_in(self, topic: str, state: ReplicaState) -> list[Replica]:
        return [r for r in self.replicas_of_topic(topic) if self.replica_state(r) is state]
