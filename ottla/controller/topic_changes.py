"""How the controller reacts to topics that come, grow or are to be deleted."""

from __future__ import annotations

from collections.abc import Sequence

from ottla.controller.context import TopicPartition
from ottla.controller.events import PartitionModification
from ottla.controller.loading import names_below
from ottla.controller.states import PartitionState
from ottla.controller.term import Term
from ottla.controller.topic_records import replica_sets
from ottla.store import paths


async def topics_changed(term: Term) -> None:
    current = dict.fromkeys(await names_below(term.fence, paths.TOPICS))
    known = list(term.context.assignments)
    for topic in known:
        if topic not in current:
            term.context.remove_topic(topic)
            term.deletion.forget(topic)
            term.stop_watching(PartitionModification(topic))
    new = [topic for topic in current if topic not in term.context.assignments]
    await term.load_topics(new)
    await _create(term, [at for topic in new for at in term.context.partitions_of(topic)])


async def partitions_modified(term: Term, topic: str) -> None:
    """Only more partitions are taken from the znode; the rest of it is the controller's own."""
    known = term.context.assignments.get(topic)
    stored = (await term.records.read([topic])).get(topic)
    if known is None or stored is None:
        if stored is None and known is None:
            term.stop_watching(PartitionModification(topic))
        return  # it came or went, which is another event
    added = {i: found for i, found in replica_sets(stored).items() if i not in known}
    if not added:
        return
    if topic in term.context.deleting:
        topic_id = term.context.topic_ids[topic]
        await term.records.restore(topic, topic_id=topic_id, replica_sets=known)
        return
    for index, replicas in added.items():
        term.context.assign(TopicPartition(topic, index), replicas)
    await _create(term, [TopicPartition(topic, index) for index in added])


async def deletions_requested(term: Term) -> None:
    wanted = await names_below(term.fence, paths.DELETE_TOPICS)
    new = [topic for topic in wanted if topic not in term.context.deleting]
    if topics := await term.deletable(new):
        await term.deletion.add(topics)


async def _create(term: Term, partitions: Sequence[TopicPartition]) -> None:
    if not partitions:
        return
    replicas = [replica for at in partitions for replica in term.context.replicas_of(at)]
    term.partitions.move(partitions, PartitionState.NEW)
    term.replicas.become_new(replicas)
    await term.partitions.go_online(partitions)
    await term.flush()
    term.replicas.go_online(replicas)
    await term.flush()
