"""How the controller reacts to what brokers tell it: in-sync sets, failed disks, their answers."""

from __future__ import annotations

from ottla.controller.broker_changes import replicas_went_offline
from ottla.controller.context import ControllerContext, Replica, TopicPartition
from ottla.controller.fence import Fence
from ottla.controller.lists import split
from ottla.controller.loading import names_below
from ottla.controller.reassigning import resume_reassignments
from ottla.controller.states import REPLICA_BEFORE, ReplicaState
from ottla.controller.term import Term
from ottla.protocol.apis.leader_and_isr import LeaderAndIsrResponse
from ottla.protocol.apis.stop_replica import StopReplicaResponse
from ottla.protocol.errors import ErrorCode
from ottla.store import paths
from ottla.store.port import Entry
from ottla.store.znodes import IsrChange, LogDirEvent


async def isr_changed(term: Term) -> None:
    """Leaders write in-sync sets themselves; we take them over and tell everybody."""
    entries = await _notifications(term.fence, paths.ISR_CHANGES)
    changed: dict[TopicPartition, None] = {}
    for entry in entries:
        for topic, index in IsrChange.decode(entry.data, entry.path).partitions:
            if term.context.knows(at := TopicPartition(topic, index)):
                changed[at] = None
    if changed:
        term.context.leaderships.update(await term.states.read(changed))
        term.batch.inform(term.context.brokers, changed)
        await term.flush()
        await resume_reassignments(term, changed)
    await term.fence.delete(entry.path for entry in entries)


async def log_dirs_failed(term: Term) -> None:
    """A broker does not say which replicas it lost: its answers to LeaderAndIsr will."""
    entries = await _notifications(term.fence, paths.LOG_DIR_EVENTS)
    brokers = {LogDirEvent.decode(entry.data, entry.path).broker_id: None for entry in entries}
    states = REPLICA_BEFORE[ReplicaState.ONLINE]
    replicas = term.context.replicas_on(brokers)
    term.replicas.go_online([r for r in replicas if term.context.replica_state(r) in states])
    await term.flush()
    await term.fence.delete(entry.path for entry in entries)


async def _notifications(fence: Fence, folder: str) -> list[Entry]:
    names = await names_below(fence, folder)
    return [entry for entry in await fence.read(f"{folder}/{name}" for name in names) if entry]


def says_something(context: ControllerContext, broker: int, answer: LeaderAndIsrResponse) -> bool:
    """Most answers say that all is well, as before."""
    return bool(context.offline_dirs.get(broker)) or any(
        code == ErrorCode.KAFKA_STORAGE_ERROR for _, code in _answers(context, answer)
    )


async def replicas_answered(term: Term, broker: int, answer: LeaderAndIsrResponse) -> None:
    offline = term.context.offline_dirs.setdefault(broker, {})
    lost, back = [], []
    for at, code in _answers(term.context, answer):
        if code == ErrorCode.NONE:
            if at in offline:
                del offline[at]
                back.append(at)
        elif code == ErrorCode.KAFKA_STORAGE_ERROR and at not in offline:
            offline[at] = None
            lost.append(Replica(at, broker))
    if lost:
        await replicas_went_offline(term, lost)
    if back:  # a full disk has room again, and what is there may be led, or deleted at last
        await term.partitions.bring_online()
        await term.flush()
        await term.deletion.retry(dict.fromkeys(at.topic for at in back))


def _answers(
    context: ControllerContext, answer: LeaderAndIsrResponse
) -> list[tuple[TopicPartition, int]]:
    """By name up to version 4, by topic id since; a topic may be gone by now."""
    named = [
        (TopicPartition(error.topic_name, error.partition_index), error.error_code)
        for error in answer.partition_errors
    ]
    identified = [
        (TopicPartition(name, error.partition_index), error.error_code)
        for topic in answer.topics
        if (name := context.topic_names.get(topic.topic_id))
        for error in topic.partition_errors
    ]
    return [found for found in (*named, *identified) if context.knows(found[0])]


async def deletions_answered(
    term: Term, broker: int, answer: StopReplicaResponse, asked: tuple[TopicPartition, ...]
) -> None:
    """Without a word about a partition, the answer as a whole counts."""
    codes = {
        TopicPartition(error.topic_name, error.partition_index): error.error_code
        for error in answer.partition_errors
    }
    replicas = (Replica(at, broker) for at in asked if term.context.knows(at))
    failed, deleted = split(replicas, lambda r: answer.error_code or codes.get(r.at))
    if failed:
        await term.deletion.failed(failed)
    if deleted:
        await term.deletion.deleted(deleted)
