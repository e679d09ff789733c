"""What keys and values say: as text, or as records of the internal topics in Kafka 3.9's words."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable
from typing import Any, NamedTuple

from ottla.protocol.codec import decode
from ottla.protocol.errors import ProtocolError
from ottla.protocol.internal import consumer_group
from ottla.protocol.internal.consumer_protocol import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
)
from ottla.protocol.internal.group_metadata import GroupMetadataKey, GroupMetadataValue
from ottla.protocol.internal.offset_commit import OffsetCommitKey, OffsetCommitValue
from ottla.protocol.internal.transaction_log import TransactionLogKey, TransactionLogValue
from ottla.protocol.readable import to_json
from ottla.protocol.records.record import Record
from ottla.protocol.schema import Message

DELETED = "<DELETE>"
TRANSACTION_STATES = (
    "Empty",
    "Ongoing",
    "PrepareCommit",
    "PrepareAbort",
    "CompleteCommit",
    "CompleteAbort",
    "Dead",
    "PrepareEpochFence",
)
# By the version in the key, which tells the kinds of records in __consumer_offsets apart.
_GROUP_RECORDS: dict[int, tuple[type[Message], type[Message]]] = {
    0: (OffsetCommitKey, OffsetCommitValue),
    1: (OffsetCommitKey, OffsetCommitValue),
    2: (GroupMetadataKey, GroupMetadataValue),
    3: (consumer_group.ConsumerGroupMetadataKey, consumer_group.ConsumerGroupMetadataValue),
    4: (
        consumer_group.ConsumerGroupPartitionMetadataKey,
        consumer_group.ConsumerGroupPartitionMetadataValue,
    ),
    5: (
        consumer_group.ConsumerGroupMemberMetadataKey,
        consumer_group.ConsumerGroupMemberMetadataValue,
    ),
    6: (
        consumer_group.ConsumerGroupTargetAssignmentMetadataKey,
        consumer_group.ConsumerGroupTargetAssignmentMetadataValue,
    ),
    7: (
        consumer_group.ConsumerGroupTargetAssignmentMemberKey,
        consumer_group.ConsumerGroupTargetAssignmentMemberValue,
    ),
    8: (
        consumer_group.ConsumerGroupCurrentMemberAssignmentKey,
        consumer_group.ConsumerGroupCurrentMemberAssignmentValue,
    ),
}


class Shown(NamedTuple):
    """A key or a value: as Kafka's tool prints it, and for JSON."""

    text: str
    value: object


# The key and the value of a record, each None where the tool prints nothing.
Decoder = Callable[[Record], tuple[Shown | None, Shown | None]]


class ToolStops(Exception):
    """The release whose words are asked for ends its dump here, in the middle of the line."""


def as_text(record: Record) -> tuple[Shown | None, Shown | None]:
    return _text(record.key), _text(record.value)


def _text(data: bytes | None) -> Shown | None:
    if data is None:
        return None
    try:
        return Shown(text := data.decode(), text)
    except UnicodeDecodeError:
        return Shown(data.decode("utf-8", "replace"), {"base64": b64encode(data).decode()})


def offsets(record: Record) -> tuple[Shown | None, Shown | None]:
    """Records of __consumer_offsets."""
    try:
        version, key = versioned(record.key)
        if version not in _GROUP_RECORDS:
            return _note(f"Unknown record type {version} at offset {record.offset}, skipping.")
        key_class, value_class = _GROUP_RECORDS[version]
        key_json = {"type": str(version), "data": to_json(decode(key_class, key, version), version)}
        shown_key = Shown(compact(key_json), key_json)
        if record.value is None:
            return shown_key, Shown(DELETED, None)
        version, value = versioned(record.value)
        data = to_json(decode(value_class, value, version), version)
    except ProtocolError as cause:
        return _note(f"Error at offset {record.offset}, skipping. {cause.cause}")
    if value_class is GroupMetadataValue and data["protocolType"] == "consumer":
        _open_members(decode(GroupMetadataValue, value, version), data)
    value_json = {"version": str(version), "data": data}
    return shown_key, Shown(compact(value_json), value_json)


def _open_members(group: GroupMetadataValue, data: dict[str, Any]) -> None:
    """Consumers keep messages of their own inside the group's: show these, not their bytes."""
    for member, shown in zip(group.members, data["members"], strict=True):
        _open(shown, "subscription", member.subscription, ConsumerProtocolSubscription)
        _open(shown, "assignment", member.assignment, ConsumerProtocolAssignment)


def _open(shown: dict[str, Any], name: str, content: bytes, kind: type[Message]) -> None:
    try:
        version, body = versioned(content)
        shown[name] = to_json(decode(kind, body, version), version)
    except ProtocolError:
        pass  # another protocol than the group says; Kafka shows the bytes too


def transactions(record: Record) -> tuple[Shown | None, Shown | None]:
    """Records of __transaction_state."""
    try:
        transactional_id, state = read_transaction(record)
    except ProtocolError as cause:
        return _note(f"Error at offset {record.offset}, skipping. {cause.cause}")
    key = Shown(
        f"transaction_metadata::transactionalId={transactional_id}",
        {"transactionalId": transactional_id},
    )
    if state is None:
        return key, Shown(DELETED, None)
    value, version = state
    text = transaction_text(value, partitions=f"[{','.join(transaction_partitions(value))}]")
    return key, Shown(text, to_json(value, version))


def read_transaction(record: Record) -> tuple[str, tuple[TransactionLogValue, int] | None]:
    """The transactional id; its state and the version that is stored in, unless deleted."""
    version, key = versioned(record.key)
    transactional_id = decode(TransactionLogKey, key, version).transactional_id
    if record.value is None:
        return transactional_id, None
    version, value = versioned(record.value)
    return transactional_id, (decode(TransactionLogValue, value, version), version)


def transaction_text(value: TransactionLogValue, *, partitions: str) -> str:
    number = value.transaction_status
    known = 0 <= number < len(TRANSACTION_STATES)
    return (
        f"producerId:{value.producer_id},producerEpoch:{value.producer_epoch},"
        f"state={TRANSACTION_STATES[number] if known else number},partitions={partitions},"
        f"txnLastUpdateTimestamp={value.transaction_last_update_timestamp_ms},"
        f"txnTimeoutMs={value.transaction_timeout_ms}"
    )


def transaction_partitions(value: TransactionLogValue) -> list[str]:
    """In the order in which they are stored, which is that of a hash set."""
    return [
        f"{schema.topic}-{partition}"
        for schema in value.transaction_partitions or []
        for partition in schema.partition_ids
    ]


def versioned(data: bytes | None) -> tuple[int, bytes]:
    """The version that stands before the message, and the message."""
    if data is None or len(data) < 2:
        cause = "there is no key" if data is None else "too short for a version"
        raise ProtocolError(cause, reading="internal record")
    return int.from_bytes(data[:2], "big", signed=True), data[2:]


def compact(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def _note(text: str) -> tuple[Shown, None]:
    return Shown(text, {"note": text}), None
