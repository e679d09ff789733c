"""What `__consumer_offsets` keeps of a group, and what its refusals mean to a member."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from struct import pack

from ottla.coordinators.effects import Record
from ottla.coordinators.groups.member import Member
from ottla.protocol.codec import encode
from ottla.protocol.errors import ErrorCode
from ottla.protocol.internal.group_metadata import (
    GroupMetadataKey,
    GroupMetadataValue,
    MemberMetadata,
)

_KEY_VERSION = 2
_VALUE_VERSION = 3  # what Kafka 2.3 to 3.9 write

_E = ErrorCode
_MEANINGS = {
    _E.UNKNOWN_TOPIC_OR_PARTITION: _E.COORDINATOR_NOT_AVAILABLE,
    _E.NOT_ENOUGH_REPLICAS: _E.COORDINATOR_NOT_AVAILABLE,
    _E.NOT_ENOUGH_REPLICAS_AFTER_APPEND: _E.COORDINATOR_NOT_AVAILABLE,
    _E.NOT_LEADER_OR_FOLLOWER: _E.NOT_COORDINATOR,
    _E.KAFKA_STORAGE_ERROR: _E.NOT_COORDINATOR,
    _E.REQUEST_TIMED_OUT: _E.REBALANCE_IN_PROGRESS,
    _E.MESSAGE_TOO_LARGE: _E.UNKNOWN_SERVER_ERROR,
    _E.RECORD_LIST_TOO_LARGE: _E.UNKNOWN_SERVER_ERROR,
    _E.INVALID_FETCH_SIZE: _E.UNKNOWN_SERVER_ERROR,
}


def meaning(error: ErrorCode) -> ErrorCode:
    """What a member hears when the log refuses its group with this error."""
    return _MEANINGS.get(error, error)


def group_value(
    members: Iterable[Member],
    assignments: Mapping[str, bytes],
    *,
    protocol_type: str | None,
    protocol: str | None,
    leader_id: str | None,
    generation: int,
    state_changed_ms: int | None,
) -> GroupMetadataValue:
    return GroupMetadataValue(
        protocol_type=protocol_type or "",
        generation=generation,
        protocol=protocol,
        leader=leader_id,
        current_state_timestamp=-1 if state_changed_ms is None else state_changed_ms,
        members=[
            MemberMetadata(
                member_id=member.id,
                group_instance_id=member.instance_id,
                client_id=member.client_id,
                client_host=member.client_host,
                rebalance_timeout=member.rebalance_timeout_ms,
                session_timeout=member.session_timeout_ms,
                subscription=member.metadata(protocol),
                assignment=assignments.get(member.id, b""),
            )
            for member in members
        ],
    )


def encode_group(group_id: str, value: GroupMetadataValue) -> Record:
    key = GroupMetadataKey(group=group_id)
    return Record(
        pack(">h", _KEY_VERSION) + encode(key, _KEY_VERSION),
        pack(">h", _VALUE_VERSION) + encode(value, _VALUE_VERSION),
    )


def restored_members(value: GroupMetadataValue) -> list[Member]:
    """Only the chosen protocol's metadata was kept, so it is the only one they can speak."""
    return [
        Member(
            id=member.member_id,
            instance_id=member.group_instance_id,
            client_id=member.client_id,
            client_host=member.client_host,
            session_timeout_ms=member.session_timeout,
            # Version 0 of the record, as version 0 of JoinGroup, has no rebalance timeout.
            rebalance_timeout_ms=(
                member.session_timeout if member.rebalance_timeout < 0 else member.rebalance_timeout
            ),
            protocols=((value.protocol or "", member.subscription),),
            assignment=member.assignment,
        )
        for member in value.members
    ]
