"""Takes partitions from state to state: who leads is decided, written, and told to the brokers."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from ottla.controller.context import ControllerContext, Leadership, TopicPartition
from ottla.controller.elections import Elected, elect_first, elect_for_offline
from ottla.controller.lists import split
from ottla.controller.partition_states import PartitionStates
from ottla.controller.request_batch import RequestBatch
from ottla.controller.slices import in_slices
from ottla.controller.states import PARTITION_BEFORE, PartitionState
from ottla.controller.stats import ControllerStats

log = logging.getLogger(__name__)

Choose = Callable[[TopicPartition], Elected | None]


class PartitionMachine:
    def __init__(
        self,
        context: ControllerContext,
        states: PartitionStates,
        batch: RequestBatch,
        *,
        unclean_allowed: Callable[[str], bool],
        stats: ControllerStats,
    ) -> None:
        self._context = context
        self._states = states
        self._batch = batch
        self._unclean_allowed = unclean_allowed
        self._stats = stats

    def start(self) -> None:
        """As the store has it: led by a live broker, led by a dead one, or never led yet."""
        dead = dict.fromkeys(self._context.partitions_without_live_leader())
        for at in self._context.all_partitions():
            if at not in self._context.leaderships:
                state = PartitionState.NEW
            else:
                state = PartitionState.OFFLINE if at in dead else PartitionState.ONLINE
            self._context.set_partition_state(at, state)

    def move(self, partitions: Iterable[TopicPartition], state: PartitionState) -> None:
        """To a state that needs no decision."""
        for at in self._legal(partitions, state):
            self._context.set_partition_state(at, state)

    async def bring_online(self) -> None:
        """Finds leaders for all that have none, as far as there is somebody to lead."""
        waiting = [at for at in self._context.leaderless if at.topic not in self._context.deleting]
        if waiting:
            await self.go_online(waiting)

    async def go_online(self, partitions: Sequence[TopicPartition]) -> None:
        new, known = split(
            self._legal(partitions, PartitionState.ONLINE),
            lambda at: self._context.partition_state(at) is PartitionState.NEW,
        )
        await self._initialize(new)
        await self.elect(known, self._offline_election)

    async def elect(
        self, partitions: Sequence[TopicPartition], choose: Choose
    ) -> dict[TopicPartition, bool]:
        """Writes what `choose` decides; whether each partition has got its leader."""
        results = dict.fromkeys(partitions, False)
        led = [at for at in partitions if at in self._context.leaderships]
        # First by what we remember; whoever fails may fail because the leader has written since.
        remaining = await self._try_to_elect(led, choose, results)
        while remaining:
            remaining = await self._try_to_elect(await self._refreshed(remaining), choose, results)
        for at in [at for at, elected in results.items() if not elected]:
            log.warning("no leader can be elected for %s-%d", at.topic, at.partition)
        return results

    def _offline_election(self, at: TopicPartition) -> Elected | None:
        voters = self._context.electorate(at)
        return elect_for_offline(voters, unclean_allowed=self._unclean_allowed(at.topic))

    async def _try_to_elect(
        self,
        partitions: Iterable[TopicPartition],
        choose: Choose,
        results: dict[TopicPartition, bool],
    ) -> list[TopicPartition]:
        """Those for which it did not work out: nobody may lead, or the znode is another."""
        elected = {at: chosen for at in partitions if (chosen := choose(at))}
        changes = {at: self._led_by(chosen, at) for at, chosen in elected.items()}
        written = await self._states.update(changes)
        for at, leadership in written.items():
            self._context.leaderships[at] = leadership
            self._context.set_partition_state(at, PartitionState.ONLINE)
            self._batch.lead_or_follow(elected[at].recipients, at)
            self._stats.unclean_elections += elected[at].unclean
            results[at] = True
        return [at for at in partitions if at not in written]

    def _led_by(self, elected: Elected, at: TopicPartition) -> Leadership:
        before = self._context.leaderships[at]
        return replace(
            before,
            leader=elected.leader,
            leader_epoch=before.leader_epoch + 1,
            isr=elected.isr,
            controller_epoch=self._context.epoch,
            recovering=before.recovering or elected.unclean,
        )

    async def _refreshed(self, partitions: Sequence[TopicPartition]) -> list[TopicPartition]:
        """Those whose znode is another than we remembered."""
        current = await self._states.read(partitions)
        changed = [at for at in current if current[at] != self._context.leaderships.get(at)]
        self._context.leaderships.update(current)
        return changed

    async def _initialize(self, partitions: Sequence[TopicPartition]) -> None:
        """The first leader of a new partition: the znode must not exist yet."""
        first: dict[TopicPartition, Elected] = {}
        async for at in in_slices(partitions):
            if elected := elect_first(self._context.electorate(at).live):
                first[at] = elected
            else:
                log.warning("%s-%d: none of its brokers is up", at.topic, at.partition)
        new_topics = [topic for topic in {at.topic: None for at in first} if self._is_unled(topic)]
        created = await self._states.create(self._new_states(first), new_topics=new_topics)
        async for at, leadership in in_slices(created.items()):
            self._context.leaderships[at] = leadership
            self._context.set_partition_state(at, PartitionState.ONLINE)
            self._batch.lead_or_follow(first[at].recipients, at, is_new=True)

    def _is_unled(self, topic: str) -> bool:
        known = self._context.leaderships
        return not any(at in known for at in self._context.partitions_of(topic))

    def _new_states(
        self, first: Mapping[TopicPartition, Elected]
    ) -> dict[TopicPartition, Leadership]:
        return {
            at: Leadership(
                leader=elected.leader,
                leader_epoch=0,
                isr=elected.isr,
                controller_epoch=self._context.epoch,
            )
            for at, elected in first.items()
        }

    def _legal(
        self, partitions: Iterable[TopicPartition], state: PartitionState
    ) -> list[TopicPartition]:
        legal = []
        for at in partitions:
            before = self._context.partition_state(at)
            if before in PARTITION_BEFORE[state]:
                legal.append(at)
            else:
                log.error("%s-%d cannot go from %s to %s", *at, before.name, state.name)
        return legal
