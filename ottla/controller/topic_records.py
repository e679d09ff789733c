"""Topics as the store has them: read many at a time, and removed with all that is below."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from ottla.controller.context import ReplicaSet, TopicPartition
from ottla.controller.fence import MOST_OPERATIONS, Fence
from ottla.controller.lists import chunks
from ottla.controller.slices import in_slices
from ottla.store import paths
from ottla.store.port import BadVersion, Delete, NoNode, NotEmpty, Operation, Write
from ottla.store.znodes import TopicAssignment

Assignment = dict[int, ReplicaSet]


class TopicRecords:
    """`partitions_of` tells which partitions a topic is known to have."""

    def __init__(
        self,
        fence: Fence,
        *,
        partitions_of: Callable[[str], Iterable[int]],
        new_topic_id: Callable[[], bytes],
    ) -> None:
        self._fence = fence
        self._partitions_of = partitions_of
        self._new_topic_id = new_topic_id

    async def read(self, topics: Sequence[str]) -> dict[str, TopicAssignment]:
        """Those that exist. A topic of an old Kafka gets the id that it lacks."""
        entries = await self._fence.read(map(paths.topic, topics))
        found: dict[str, TopicAssignment] = {}
        async for topic, entry in in_slices(zip(topics, entries, strict=True)):
            if entry is None:
                continue
            assignment = TopicAssignment.decode(entry.data, entry.path)
            if assignment.topic_id is None:
                assignment = replace(assignment, topic_id=self._new_topic_id(), version=3)
                await self._fence.multi([Write(entry.path, assignment.encode(), entry.version)])
            found[topic] = assignment
        return found

    async def restore(
        self, topic: str, *, topic_id: bytes, replica_sets: Mapping[int, ReplicaSet]
    ) -> None:
        """Writes the assignment as we know it."""
        known = TopicAssignment(
            replicas={index: known.replicas for index, known in replica_sets.items()},
            topic_id=topic_id,
            adding={i: known.adding for i, known in replica_sets.items() if known.adding},
            removing={i: known.removing for i, known in replica_sets.items() if known.removing},
        )
        await self._fence.multi([Write(paths.topic(topic), known.encode())])

    async def assign(self, at: TopicPartition, replicas: ReplicaSet) -> None:
        """Of one partition: whoever adds others at the same moment loses nothing."""
        path = paths.topic(at.topic)
        while True:
            entry = await self._fence.store.read(path)
            if entry is None:
                raise NoNode(path)
            known = TopicAssignment.decode(entry.data, path)
            changed = replace(
                known,
                replicas={**known.replicas, at.partition: replicas.replicas},
                adding=_noted(known.adding, at.partition, replicas.adding),
                removing=_noted(known.removing, at.partition, replicas.removing),
                version=max(known.version, 2),  # the first with reassignments
            )
            try:
                await self._fence.multi([Write(path, changed.encode(), entry.version)])
            except BadVersion:
                continue
            return

    async def delete(self, topics: Sequence[str]) -> None:
        """Partitions first, then the topic, its configs, and the wish to delete it at last."""
        expected = (op for topic in topics for op in self._expected_deletions(topic))
        try:
            for some in chunks(expected, MOST_OPERATIONS):
                await self._fence.multi(some)
        except (NoNode, NotEmpty):  # not all was as expected, so look what there is
            for topic in topics:
                await self._delete_what_is_there(topic)

    def _expected_deletions(self, topic: str) -> list[Operation]:
        partitions = sorted(self._partitions_of(topic))
        below = [
            path
            for index in partitions
            for path in (paths.partition_state(topic, index), paths.partition(topic, index))
        ]
        above = (paths.partitions(topic), *_topic_paths(topic))
        return [Delete(path) for path in (*below, *above)]

    async def _delete_what_is_there(self, topic: str) -> None:
        below = await self._below(paths.topic(topic))
        await self._fence.delete((*below, *_topic_paths(topic)))

    async def _below(self, path: str) -> list[str]:
        """Children before their parents."""
        found: list[str] = []
        try:
            names = await self._fence.store.children(path)
        except NoNode:
            return found
        for name in names:
            child = f"{path}/{name}"
            found += [*await self._below(child), child]
        return found


def _noted(
    known: Mapping[int, tuple[int, ...]], partition: int, brokers: tuple[int, ...]
) -> dict[int, tuple[int, ...]]:
    others = {each: noted for each, noted in known.items() if each != partition}
    return others | ({partition: brokers} if brokers else {})


def _topic_paths(topic: str) -> tuple[str, str, str]:
    return paths.topic(topic), paths.config(f"topics/{topic}"), paths.delete_topic(topic)


def replica_sets(assignment: TopicAssignment) -> Assignment:
    return {
        index: ReplicaSet(
            replicas=replicas,
            adding=assignment.adding.get(index, ()),
            removing=assignment.removing.get(index, ()),
        )
        for index, replicas in assignment.replicas.items()
    }
