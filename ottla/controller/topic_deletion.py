"""Deletes topics: a topic is gone when every replica of it is, however long a broker stays away."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence

from ottla.controller.context import ControllerContext, Replica
from ottla.controller.lists import split
from ottla.controller.partition_machine import PartitionMachine
from ottla.controller.replica_machine import ReplicaMachine
from ottla.controller.request_batch import RequestBatch
from ottla.controller.states import PartitionState, ReplicaState
from ottla.controller.topic_records import TopicRecords

log = logging.getLogger(__name__)


class TopicDeletion:
    """`flush` sends what was collected: brokers must stop a replica before they delete it."""

    def __init__(
        self,
        context: ControllerContext,
        *,
        partitions: PartitionMachine,
        replicas: ReplicaMachine,
        batch: RequestBatch,
        records: TopicRecords,
        flush: Callable[[], Awaitable[None]],
    ) -> None:
        self._context = context
        self._partitions = partitions
        self._replicas = replicas
        self._batch = batch
        self._records = records
        self._flush = flush
        self._started: dict[str, None] = {}
        self._ineligible: dict[str, None] = {}

    def begin(self, topics: Iterable[str]) -> None:
        """As a new controller finds them: those with a replica that is away or moves must wait."""
        self._started.clear()
        self._ineligible.clear()
        for topic in topics:
            self._context.deleting[topic] = None
            replicas = self._context.replicas_of_topic(topic)
            is_whole = all(self._context.is_online(replica) for replica in replicas)
            if not is_whole or self._is_moving(topic):
                self._ineligible[topic] = None

    async def add(self, topics: Sequence[str]) -> None:
        self._context.deleting.update(dict.fromkeys(topics))
        for topic in topics:
            if self._is_moving(topic):
                self._ineligible[topic] = None  # until its reassignment is done
        await self.resume()

    def _is_moving(self, topic: str) -> bool:
        return any(known.is_reassigned for known in self._context.assignments[topic].values())

    async def retry(self, topics: Iterable[str]) -> None:
        """A broker that held replicas of these topics is back, or they have moved."""
        for topic in topics:
            self._ineligible.pop(topic, None)
        await self.resume()

    async def failed(self, replicas: Sequence[Replica]) -> None:
        """Their brokers are gone, or could not delete them."""
        # A replica may be deleted for a reassignment, too: what becomes of it holds nobody up.
        replicas = [r for r in replicas if r.at.topic in self._context.deleting]
        stopped = (ReplicaState.OFFLINE, ReplicaState.DELETION_STARTED)
        lost = [r for r in replicas if self._context.replica_state(r) in stopped]
        self._replicas.move(lost, ReplicaState.DELETION_INELIGIBLE)
        self._ineligible.update(dict.fromkeys(replica.at.topic for replica in replicas))
        await self.resume()

    async def deleted(self, replicas: Sequence[Replica]) -> None:
        started = ReplicaState.DELETION_STARTED
        gone = [r for r in replicas if self._context.replica_state(r) is started]
        self._replicas.move(gone, ReplicaState.DELETION_SUCCESSFUL)
        await self.resume()

    def forget(self, topic: str) -> None:
        """Somebody has removed the topic from the store himself."""
        self._started.pop(topic, None)
        self._ineligible.pop(topic, None)

    async def resume(self) -> None:
        """Goes on with whatever can go on."""
        done, ready = [], []
        for topic in self._context.deleting:
            states = [
                self._context.replica_state(replica)
                for replica in self._context.replicas_of_topic(topic)
            ]
            if all(state is ReplicaState.DELETION_SUCCESSFUL for state in states):
                done.append(topic)
            elif ReplicaState.DELETION_STARTED not in states and topic not in self._ineligible:
                ready.append(topic)
        await self._complete(done)
        await self._start(ready)

    async def _start(self, topics: Sequence[str]) -> None:
        if not topics:
            return
        for topic in topics:
            partitions = self._context.partitions_of(topic)
            if topic not in self._started:
                self._partitions.move(partitions, PartitionState.OFFLINE)
                self._partitions.move(partitions, PartitionState.NON_EXISTENT)
                self._started[topic] = None
            self._batch.inform(self._context.brokers, partitions)
        await self._flush()
        alive, dead = self._by_life(topics)
        await self._replicas.go_offline([*alive, *dead])
        await self._flush()
        self._replicas.move(dead, ReplicaState.DELETION_INELIGIBLE)
        self._ineligible.update(dict.fromkeys(replica.at.topic for replica in dead))
        self._replicas.start_deletion(alive)
        await self._flush()

    def _by_life(self, topics: Iterable[str]) -> tuple[list[Replica], list[Replica]]:
        """Replicas that can be deleted now, and those whose brokers are away."""
        left = (
            replica
            for topic in topics
            for replica in self._context.replicas_of_topic(topic)
            if self._context.replica_state(replica) is not ReplicaState.DELETION_SUCCESSFUL
        )
        return split(left, self._context.is_online)

    async def _complete(self, topics: Sequence[str]) -> None:
        if not topics:
            return
        await self._records.delete(topics)
        for topic in topics:
            replicas = self._context.replicas_of_topic(topic)
            self._replicas.move(replicas, ReplicaState.NON_EXISTENT)
            self._context.remove_topic(topic)
            self.forget(topic)
            log.info("topic %s is deleted", topic)
