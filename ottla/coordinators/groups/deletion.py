"""What DeleteGroups and OffsetDelete may remove, and whom to tell when it is done."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ottla.coordinators.groups.answers import DeletedOffsets, TopicPartition
from ottla.coordinators.groups.expiry import CONSUMER
from ottla.coordinators.groups.group import Group
from ottla.coordinators.groups.partition import GroupPartition, GroupPartitions
from ottla.coordinators.groups.removal import Removal
from ottla.coordinators.groups.state import GroupState
from ottla.protocol.errors import ErrorCode
from ottla.timing.clock import Clock

Answer = dict[str, ErrorCode]


def delete_groups(
    partitions: GroupPartitions,
    group_ids: Sequence[str],
    clock: Clock,
    to: Callable[[Answer], None],
) -> None:
    answer: Answer = {}
    waiting: dict[str, None] = dict.fromkeys(group_ids)

    def deleted(group_id: str, error: ErrorCode) -> None:
        answer[group_id] = error
        waiting.pop(group_id)
        if not waiting:
            to({each: answer[each] for each in group_ids})

    if not waiting:
        to({})
    for group_id in list(waiting):
        _delete_group(partitions.find(group_id), group_id, clock, deleted)


def _delete_group(
    partition: GroupPartition | ErrorCode,
    group_id: str,
    clock: Clock,
    deleted: Callable[[str, ErrorCode], None],
) -> None:
    if isinstance(partition, ErrorCode):
        deleted(group_id, partition)
        return
    hosted = partition.groups.get(group_id)
    if hosted is None:
        deleted(group_id, ErrorCode.GROUP_ID_NOT_FOUND)
    elif hosted.group.state is not GroupState.EMPTY:
        deleted(group_id, ErrorCode.NON_EMPTY_GROUP)
    else:
        told = lambda error: deleted(group_id, error)  # noqa: E731
        Removal(partition, hosted, clock, told).begin((), whole_group=True)


def delete_offsets(
    partition: GroupPartition,
    group_id: str,
    places: Sequence[TopicPartition],
    clock: Clock,
    to: Callable[[DeletedOffsets], None],
) -> int:
    """How many of them are to go."""
    hosted = partition.groups.get(group_id)
    if hosted is None:
        to(DeletedOffsets(ErrorCode.GROUP_ID_NOT_FOUND, {}))
        return 0
    group = hosted.group
    if group.state is not GroupState.EMPTY and group.protocol_type != CONSUMER:
        to(DeletedOffsets(ErrorCode.NON_EMPTY_GROUP, {}))
        return 0
    answer = {
        place: ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC if _reads(group, place[0]) else ErrorCode.NONE
        for place in places
    }
    gone = [place for place, error in answer.items() if not error]

    def deleted(error: ErrorCode) -> None:
        for place in gone:
            answer[place] = error
        to(DeletedOffsets(ErrorCode.NONE, answer))

    if gone:
        Removal(partition, hosted, clock, deleted).begin(gone)
    else:
        deleted(ErrorCode.NONE)
    return len(gone)


def _reads(group: Group, topic: str) -> bool:
    """If nobody can tell what its members read, everything might be."""
    if group.state is GroupState.EMPTY:
        return False
    return group.subscribed_topics is None or topic in group.subscribed_topics
