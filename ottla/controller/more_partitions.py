"""What CreatePartitions does at the active controller: more partitions for existing topics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ottla.controller.context import ControllerContext
from ottla.controller.fence import ControllerMoved
from ottla.controller.placement import Allowance, Assignment, check_expansion, expand
from ottla.controller.topic_names import is_name
from ottla.controller.topics import Office, Spend, live_candidates, unlimited
from ottla.protocol.apis.create_partitions import CreatePartitionsTopic
from ottla.protocol.errors import ErrorCode, KafkaError
from ottla.store import paths
from ottla.store.port import BadVersion, Entry, Write
from ottla.store.znodes import TopicAssignment


@dataclass(frozen=True, slots=True)
class AddedPartitions:
    """What became of one topic of the request; `added` are the indexes of the new partitions."""

    name: str
    code: ErrorCode = ErrorCode.NONE
    message: str | None = None
    added: tuple[int, ...] = ()


async def create_partitions(
    office: Office,
    topics: Sequence[CreatePartitionsTopic],
    *,
    validate_only: bool,
    spend: Spend = unlimited,
) -> list[AddedPartitions]:
    counts = Counter(topic.name for topic in topics)
    results: dict[str, AddedPartitions] = {}
    allowance = Allowance()
    for topic in topics:
        try:
            if counts[topic.name] > 1:
                raise KafkaError(ErrorCode.INVALID_REQUEST, "Duplicate topic in request.")
            added = await _add(office, topic, allowance, spend, validate_only=validate_only)
            results[topic.name] = AddedPartitions(topic.name, added=tuple(added))
        except KafkaError as refusal:
            detail = refusal.detail or None
            results[topic.name] = AddedPartitions(topic.name, refusal.code, detail)
    return list(results.values())


async def _add(
    office: Office,
    topic: CreatePartitionsTopic,
    allowance: Allowance,
    spend: Spend,
    *,
    validate_only: bool,
) -> Assignment:
    while True:
        entry = await _entry(office, topic.name)
        before = TopicAssignment.decode(entry.data, entry.path)
        added = _expansion(office.context, topic, before, allowance)
        if validate_only:
            return added
        spend(len(added))
        spend, allowance = unlimited, Allowance()  # should it have to be tried again
        after = replace(before, replicas={**before.replicas, **added})
        try:
            await office.fence.multi([Write(entry.path, after.encode(), entry.version)])
        except BadVersion:
            continue  # somebody else has changed it meanwhile
        except ControllerMoved as moved:
            raise KafkaError(ErrorCode.NOT_CONTROLLER, str(moved)) from moved
        return added


async def _entry(office: Office, topic: str) -> Entry:
    if topic in office.context.deleting:
        message = "The topic is queued for deletion."
        raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, message)
    # What no topic can be named may not even be a path of the store.
    entry = await office.fence.store.read(paths.topic(topic)) if is_name(topic) else None
    if entry is None:
        message = f"The topic '{topic}' does not exist."
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, message)
    return entry


def _expansion(
    context: ControllerContext,
    topic: CreatePartitionsTopic,
    before: TopicAssignment,
    allowance: Allowance,
) -> Assignment:
    if before.adding or before.removing:
        raise KafkaError(
            ErrorCode.REASSIGNMENT_IN_PROGRESS,
            f"A partition reassignment is in progress for the topic '{topic.name}'.",
        )
    count = len(before.replicas)
    if topic.count < count:
        raise KafkaError(
            ErrorCode.INVALID_PARTITIONS,
            f"Topic currently has {count} partitions, which is higher than the requested "
            f"{topic.count}.",
        )
    if topic.count == count:
        message = f"Topic already has {count} partitions."
        raise KafkaError(ErrorCode.INVALID_PARTITIONS, message)
    if topic.assignments is None:
        allowance.take(topic.name, topic.count)
        return expand(live_candidates(context), before.replicas, add=topic.count - count)
    return _manual(context, topic, before)


def _manual(
    context: ControllerContext, topic: CreatePartitionsTopic, before: TopicAssignment
) -> Assignment:
    given = [tuple(assignment.broker_ids) for assignment in topic.assignments or ()]
    live = sorted(context.live_brokers())
    unknown = sorted({broker for replicas in given for broker in replicas} - set(live))
    if unknown:
        raise KafkaError(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            f"Unknown broker(s) in replica assignment: {', '.join(map(str, unknown))}.",
        )
    count = len(before.replicas)
    if len(given) != topic.count - count:
        raise KafkaError(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            f"Increasing the number of partitions by {topic.count - count} "
            f"but {len(given)} assignments provided.",
        )
    assignment = {count + i: replicas for i, replicas in enumerate(given)}
    check_expansion(assignment, replication_factor=len(before.replicas[0]), live=live)
    return assignment
