"""Takes replicas from state to state: their brokers are told, and the in-sync sets follow."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from dataclasses import replace

from ottla.controller.context import ControllerContext, Leadership, Replica, TopicPartition
from ottla.controller.lists import split
from ottla.controller.partition_states import PartitionStates
from ottla.controller.request_batch import RequestBatch
from ottla.controller.states import REPLICA_BEFORE, ReplicaState
from ottla.metadata.image import NO_LEADER

log = logging.getLogger(__name__)


class ReplicaMachine:
    def __init__(
        self, context: ControllerContext, states: PartitionStates, batch: RequestBatch
    ) -> None:
        self._context = context
        self._states = states
        self._batch = batch

    async def start(self) -> None:
        """All that are up hear their part again; the others leave the in-sync sets."""
        replicas = (
            replica
            for at in self._context.all_partitions()
            for replica in self._context.replicas_of(at)
        )
        online, offline = split(replicas, self._context.is_online)
        states = self._context.replica_states
        states.update(dict.fromkeys(online, ReplicaState.ONLINE))
        # A topic under deletion must wait for those on dead brokers.
        states.update(dict.fromkeys(offline, ReplicaState.DELETION_INELIGIBLE))
        self.go_online(online)
        await self.go_offline(offline)

    def move(self, replicas: Iterable[Replica], state: ReplicaState) -> None:
        """To a state that nobody else must hear of."""
        for replica in self._legal(replicas, state):
            self._context.replica_states[replica] = state

    def become_new(self, replicas: Iterable[Replica]) -> None:
        for replica in self._legal(replicas, ReplicaState.NEW):
            if replica.at in self._context.leaderships:
                self._batch.lead_or_follow([replica.broker], replica.at, is_new=True)
            self._context.replica_states[replica] = ReplicaState.NEW

    def go_online(self, replicas: Iterable[Replica]) -> None:
        for replica in self._legal(replicas, ReplicaState.ONLINE):
            was_new = self._context.replica_state(replica) is ReplicaState.NEW
            # A new one has heard all when its partition got its leader.
            if not was_new and replica.at in self._context.leaderships:
                self._batch.lead_or_follow([replica.broker], replica.at)
            self._context.replica_states[replica] = ReplicaState.ONLINE

    async def go_offline(self, replicas: Iterable[Replica]) -> None:
        by_broker: dict[int, list[TopicPartition]] = {}
        for replica in self._legal(replicas, ReplicaState.OFFLINE):
            self._batch.stop(replica.broker, replica.at, delete=False)
            self._context.replica_states[replica] = ReplicaState.OFFLINE
            by_broker.setdefault(replica.broker, []).append(replica.at)
        for broker, partitions in by_broker.items():
            await self._leave_isr(broker, partitions)

    def start_deletion(self, replicas: Iterable[Replica]) -> None:
        for replica in self._legal(replicas, ReplicaState.DELETION_STARTED):
            self._batch.stop(replica.broker, replica.at, delete=True)
            self._context.replica_states[replica] = ReplicaState.DELETION_STARTED

    async def _leave_isr(self, broker: int, partitions: Sequence[TopicPartition]) -> None:
        # Nobody asks any more who is in sync with a topic that is being deleted.
        remaining = [at for at in partitions if at.topic not in self._context.deleting]
        remaining, unled = split(remaining, self._context.leaderships.__contains__)
        if unled:
            self._batch.inform(self._context.brokers, unled)
        while remaining:
            changes = {
                at: shrunk for at in remaining if (shrunk := self._without(broker, at)) is not None
            }
            written = await self._states.update(changes)
            for at, leadership in written.items():
                self._context.leaderships[at] = leadership
                others = [b for b in self._context.replica_set(at).replicas if b != broker]
                self._batch.lead_or_follow(others, at)
            stale = [at for at in changes if at not in written]
            current = await self._states.read(stale)
            self._context.leaderships.update(current)
            remaining = [at for at in stale if at in current]

    def _without(self, broker: int, at: TopicPartition) -> Leadership | None:
        """None if it is not in sync anyway. The last in sync stays so: it has all the records."""
        before = self._context.leaderships[at]
        if broker not in before.isr:
            return None
        is_last = len(before.isr) == 1
        return replace(
            before,
            leader=NO_LEADER if before.leader == broker else before.leader,
            leader_epoch=before.leader_epoch + 1,
            isr=before.isr if is_last else tuple(b for b in before.isr if b != broker),
            controller_epoch=self._context.epoch,
        )

    def _legal(self, replicas: Iterable[Replica], state: ReplicaState) -> list[Replica]:
        legal = []
        for replica in replicas:
            before = self._context.replica_state(replica)
            if before in REPLICA_BEFORE[state]:
                legal.append(replica)
            else:
                (topic, partition), broker = replica
                message = "replica %d of %s-%d cannot go from %s to %s"
                log.error(message, broker, topic, partition, before.name, state.name)
        return legal
