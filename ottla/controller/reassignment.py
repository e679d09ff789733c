"""Where a partition's replicas are to go, and what they are on the way (KIP-455; pure).

While replicas move, a partition has the old ones and the new ones: the new come first, for they
will stay. What is added and what will be removed is noted beside them, so that any controller can
go on with it, or take it back.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TypeAlias

from ottla.controller.context import ControllerContext, ReplicaSet, TopicPartition
from ottla.protocol.errors import ErrorCode, KafkaError

Brokers: TypeAlias = tuple[int, ...]
NOWHERE = ReplicaSet(())


def original(replicas: ReplicaSet) -> Brokers:
    """Those that held the partition before it was reassigned."""
    return tuple(each for each in replicas.replicas if each not in replicas.adding)


def target(replicas: ReplicaSet) -> Brokers:
    """Those that will hold it."""
    return tuple(each for each in replicas.replicas if each not in replicas.removing)


def on_the_way(before: ReplicaSet, to: Collection[int]) -> ReplicaSet:
    """`before` may be on its way to somewhere else: what was added for that is dropped."""
    held = original(before)
    both = tuple(dict.fromkeys((*to, *held)))
    return ReplicaSet(
        replicas=both,
        adding=tuple(each for each in both if each not in held),
        removing=tuple(each for each in both if each not in to),
    )


def has_arrived(replicas: ReplicaSet, isr: Collection[int]) -> bool:
    """Whether all that will stay have all the records, so that the others may go."""
    return not replicas.is_reassigned or set(target(replicas)) <= set(isr)


def plan(context: ControllerContext, at: TopicPartition, to: Brokers | None) -> ReplicaSet:
    """What the partition's replicas become; None takes a reassignment back."""
    before = context.replica_set(at) if context.knows(at) else NOWHERE
    if to is not None:
        _check(before, to, live=sorted(context.live_brokers()))
    elif not before.is_reassigned:
        detail = "No partition reassignment is in progress."
        raise KafkaError(ErrorCode.NO_REASSIGNMENT_IN_PROGRESS, detail)
    if not context.knows(at) or at.topic in context.deleting:
        detail = "The partition does not exist."
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, detail)
    return on_the_way(before, original(before) if to is None else to)


def _check(before: ReplicaSet, to: Brokers, *, live: list[int]) -> None:
    added = [broker for broker in to if broker not in original(before)]
    if not to:
        why = "Empty replica list specified in partition reassignment."
    elif len(set(to)) != len(to):
        why = f"Duplicate replica ids in partition reassignment replica list: {list(to)}"
    elif min(to) < 0:
        why = f"Invalid broker id in replica list: {list(to)}"
    elif not set(added) <= set(live):
        why = (
            "Replica assignment has brokers that are not alive. "
            f"Replica list: {added}, live broker list: {live}"
        )
    else:
        return
    raise KafkaError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, why)


def under_way(
    context: ControllerContext, asked: Mapping[str, Collection[int]] | None
) -> dict[TopicPartition, ReplicaSet]:
    """The partitions that are being moved: of those asked for, or of all."""
    return {
        at: context.replica_set(at)
        for at in context.reassigned
        if asked is None or at.partition in asked.get(at.topic, ())
    }
