"""Records of the internal topics in the words of Kafka 2.0, whose tool stops at what it lacks."""

from __future__ import annotations

from ottla.logtools.decoders import (
    Shown,
    ToolStops,
    compact,
    read_transaction,
    transaction_partitions,
    transaction_text,
    versioned,
)
from ottla.protocol.codec import decode
from ottla.protocol.errors import ProtocolError
from ottla.protocol.internal.consumer_protocol import ConsumerProtocolAssignment
from ottla.protocol.internal.group_metadata import (
    GroupMetadataKey,
    GroupMetadataValue,
    MemberMetadata,
)
from ottla.protocol.internal.offset_commit import OffsetCommitKey, OffsetCommitValue
from ottla.protocol.records.record import Record


def offsets(record: Record) -> tuple[Shown, Shown]:
    """Records of __consumer_offsets."""
    if record.value is None:
        raise ToolStops("a deletion, which 2.0 cannot decode")
    try:
        version, key = versioned(record.key)
        value_version, value = versioned(record.value)
        if version in (0, 1):
            commit = decode(OffsetCommitKey, key, version)
            return _commit(commit, decode(OffsetCommitValue, value, value_version))
        if version == 2:
            name = decode(GroupMetadataKey, key, version).group
            return _group(name, decode(GroupMetadataValue, value, value_version))
    except ProtocolError as cause:
        raise ToolStops(cause.cause) from cause
    raise ToolStops(f"a key of version {version}, which 2.0 does not know")


def _commit(key: OffsetCommitKey, value: OffsetCommitValue) -> tuple[Shown, Shown]:
    key_text = f"offset::{key.group}:{key.topic}:{key.partition}"
    value_text = f"{value.offset}:{value.metadata}" if value.metadata else str(value.offset)
    return Shown(key_text, key_text), Shown(value_text, value_text)


def _group(name: str, group: GroupMetadataValue) -> tuple[Shown, Shown]:
    members = ",".join(_assignment(member, group.protocol_type) for member in group.members)
    key = {"metadata": name}
    value = {
        "protocolType": group.protocol_type,
        "protocol": group.protocol,
        "generationId": group.generation,
        "assignment": f"{{{members}}}",
    }
    return Shown(compact(key), key), Shown(compact(value), value)


def _assignment(member: MemberMetadata, protocol_type: str) -> str:
    if protocol_type != "consumer":
        return f"{member.member_id}={member.assignment.hex().upper()}"
    _, body = versioned(member.assignment)
    # 2.0 takes any later version for the first, which those begin with.
    assignment = decode(ConsumerProtocolAssignment, body, 0)
    if assignment.user_data is None:
        raise ToolStops("an assignment without user data, as clients since 2.4 write it")
    partitions = ", ".join(
        f"{topic.topic}-{partition}"
        for topic in assignment.assigned_partitions
        for partition in topic.partitions
    )
    user_data = assignment.user_data.hex().upper()
    return f"{member.member_id}=[{partitions}]" + (f":{user_data}" if user_data else "")


def transactions(record: Record) -> tuple[Shown, Shown]:
    """Records of __transaction_state."""
    try:
        transactional_id, state = read_transaction(record)
    except ProtocolError as cause:
        raise ToolStops(cause.cause) from cause
    key = f"transactionalId={transactional_id}"
    if state is None:
        return Shown(key, key), Shown("<DELETE>", None)
    partitions = ", ".join(transaction_partitions(state[0]))
    value = transaction_text(state[0], partitions=f"Set({partitions})")
    return Shown(key, key), Shown(value, value)
