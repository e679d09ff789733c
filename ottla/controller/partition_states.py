"""The znodes that say who leads a partition: read, created and replaced, many at a time."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from ottla.controller.context import Leadership, TopicPartition
from ottla.controller.fence import MOST_OPERATIONS, Fence
from ottla.controller.lists import chunks
from ottla.controller.slices import in_slices
from ottla.store import paths
from ottla.store.port import BadVersion, Create, Entry, NodeExists, NoNode, Operation, Write
from ottla.store.znodes import RECOVERED, RECOVERING, PartitionState

log = logging.getLogger(__name__)

# A new partition takes up to three nodes, and a moment of the loop's time.
_MOST_PARTITIONS = MOST_OPERATIONS // 5

States = dict[TopicPartition, Leadership]


class PartitionStates:
    def __init__(self, fence: Fence) -> None:
        self._fence = fence

    async def read(self, partitions: Iterable[TopicPartition]) -> States:
        """Those that have a state."""
        wanted = list(partitions)
        entries = await self._fence.read(paths.partition_state(*at) for at in wanted)
        found = zip(wanted, entries, strict=True)
        return {at: _decoded(entry) async for at, entry in in_slices(found) if entry}

    async def create(
        self, states: Mapping[TopicPartition, Leadership], *, new_topics: Collection[str]
    ) -> States:
        """Those that could be created; one whose state exists already is left as it is.

        A new topic has no partition in the store yet, not even the node above them.
        """
        created: States = {}
        above = list(new_topics)
        for some in chunks(states.items(), _MOST_PARTITIONS):
            try:
                await self._fence.multi(_creations(some, new_topics=above))
                created.update((at, replace(state, version=0)) for at, state in some)
                made = {at.topic for at, _ in some}
                above = [topic for topic in above if topic not in made]
            except (NodeExists, NoNode):
                # Nodes above are there, or are not, or a state is: so one by one.
                for at, state in some:
                    if await self._created(at, state):
                        created[at] = replace(state, version=0)
        return created

    async def _created(self, at: TopicPartition, state: Leadership) -> bool:
        operations = _creations([(at, state)], new_topics=[at.topic])
        while operations:
            try:
                await self._fence.multi(operations)
            except NodeExists as error:
                if error.path == operations[-1].path:
                    log.error("%s exists: the state of a new partition was not written", error.path)
                    return False
                operations = [op for op in operations if op.path != error.path]
            else:
                return True
        return False

    async def update(self, states: Mapping[TopicPartition, Leadership]) -> States:
        """Those that were written; the znode of another has changed, or gone, since we read it."""
        written: States = {}
        for some in chunks(states.items(), MOST_OPERATIONS):
            try:
                entries = await self._fence.multi([_write(at, state) for at, state in some])
                written.update(_versioned(some, entries))
            except (BadVersion, NoNode):
                for at, state in some:
                    written.update(await self._updated(at, state))
        return written

    async def _updated(self, at: TopicPartition, state: Leadership) -> States:
        try:
            entries = await self._fence.multi([_write(at, state)])
        except (BadVersion, NoNode):
            return {}
        return _versioned([(at, state)], entries)


def _creations(
    states: Iterable[tuple[TopicPartition, Leadership]], *, new_topics: Iterable[str]
) -> list[Operation]:
    operations: list[Operation] = []
    without_above = dict.fromkeys(new_topics)
    for at, state in states:
        if at.topic in without_above:
            del without_above[at.topic]
            operations.append(Create(paths.partitions(at.topic), b""))
        operations.append(Create(paths.partition(*at), b""))
        operations.append(Create(paths.partition_state(*at), _encoded(state)))
    return operations


def _write(at: TopicPartition, state: Leadership) -> Write:
    return Write(paths.partition_state(*at), _encoded(state), state.version)


def _versioned(
    states: Iterable[tuple[TopicPartition, Leadership]], entries: Iterable[Entry | None]
) -> States:
    return {
        at: replace(state, version=entry.version)
        for (at, state), entry in zip(states, entries, strict=True)
        if entry
    }


def _encoded(state: Leadership) -> bytes:
    return PartitionState(
        leader=state.leader,
        leader_epoch=state.leader_epoch,
        isr=state.isr,
        controller_epoch=state.controller_epoch,
        leader_recovery_state=RECOVERING if state.recovering else RECOVERED,
    ).encode()


def _decoded(entry: Entry) -> Leadership:
    state = PartitionState.decode(entry.data, entry.path)
    return Leadership(
        leader=state.leader,
        leader_epoch=state.leader_epoch,
        isr=state.isr,
        controller_epoch=state.controller_epoch,
        version=entry.version,
        recovering=state.leader_recovery_state == RECOVERING,
    )
