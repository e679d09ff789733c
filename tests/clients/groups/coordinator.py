"""What the broker itself says of a group, asked over the wire with no client between."""

from __future__ import annotations

import struct
from typing import NamedTuple

from ottla.protocol.apis.describe_groups import DescribeGroupsRequest
from ottla.protocol.apis.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from ottla.protocol.apis.offset_fetch import OffsetFetchRequest
from ottla.protocol.errors import ErrorCode
from tests.clients.groups.history import Partition
from tests.targets.connection import ask

STABLE, EMPTY = "Stable", "Empty"
_LATEST = -1


class Described(NamedTuple):
    state: str
    protocol: str
    owned: dict[str, set[Partition]]  # by client id: each of our members has its own name there
    instances: dict[str, str | None]


class Committed(NamedTuple):
    offset: int
    metadata: str


def described(bootstrap: str, group: str) -> Described:
    (found,) = ask(bootstrap, DescribeGroupsRequest(groups=[group]), 4).groups
    # Before a group's first member looks for it, there may be no coordinator, and so no group.
    assert found.error_code in (ErrorCode.NONE, ErrorCode.NOT_COORDINATOR), found
    return Described(
        found.group_state,
        found.protocol_data,
        {each.client_id: _partitions(each.member_assignment) for each in found.members},
        {each.client_id: each.group_instance_id for each in found.members},
    )


def committed(bootstrap: str, group: str) -> dict[Partition, Committed]:
    answer = ask(bootstrap, OffsetFetchRequest(group_id=group, topics=None), 5)
    assert answer.error_code == 0, answer
    return {
        # confluent-kafka sends the zero at the end of C's strings along.
        (topic.name, each.partition_index): Committed(
            each.committed_offset, (each.metadata or "").rstrip("\0")
        )
        for topic in answer.topics
        for each in topic.partitions
    }


def ends(
    bootstrap: str, topic: str, partitions: int, *, isolation_level: int = 0
) -> dict[Partition, int]:
    wanted = [
        ListOffsetsPartition(partition_index=each, timestamp=_LATEST) for each in range(partitions)
    ]
    request = ListOffsetsRequest(
        replica_id=-1,
        isolation_level=isolation_level,
        topics=[ListOffsetsTopic(name=topic, partitions=wanted)],
    )
    (answer,) = ask(bootstrap, request, 2).topics
    return {(topic, each.partition_index): each.offset for each in answer.partitions}


def _partitions(assignment: bytes) -> set[Partition]:
    """Of the `consumer` protocol: version, then topics with their partitions."""
    if not assignment:
        return set()
    found: set[Partition] = set()
    (topics,) = struct.unpack_from(">i", assignment, 2)
    at = 6
    for _ in range(topics):
        (length,) = struct.unpack_from(">h", assignment, at)
        topic = assignment[at + 2 : at + 2 + length].decode()
        (count,) = struct.unpack_from(">i", assignment, at + 2 + length)
        at += 2 + length + 4
        found |= {(topic, each) for each in struct.unpack_from(f">{count}i", assignment, at)}
        at += 4 * count
    return found
