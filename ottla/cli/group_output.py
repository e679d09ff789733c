"""Prints groups: who is in them, what they hold, how far they are."""

from __future__ import annotations

from collections.abc import Sequence

import typer

from ottla.admin.group_lag import PartitionLag
from ottla.admin.groups import Group, ListedGroup, Member
from ottla.cli.outcomes import count
from ottla.cli.output import print_table, visible

_NOTHING = "-"
_MOST_NAMED = 5
_MEMBER = ("member", "instance", "client", "host", "partitions")
_PARTITION = ("topic", "partition", "committed", "end", "lag", "owner")


def print_list(groups: Sequence[ListedGroup]) -> None:
    columns = ("group", "state", "type", "coordinator", "protocol")
    rows = [
        (
            visible(each.id),
            each.state,
            each.type.lower() or _NOTHING,
            str(each.coordinator),
            visible(each.protocol_type) or _NOTHING,
        )
        for each in groups
    ]
    print_table(columns, rows)


def listed_to_json(group: ListedGroup) -> dict[str, object]:
    return {
        "group": group.id,
        "state": group.state,
        "type": group.type,
        "protocol_type": group.protocol_type,
        "coordinator": group.coordinator,
    }


def print_described(group: Group, partitions: Sequence[PartitionLag]) -> None:
    assignor = f", assignor {group.assignor}" if group.assignor else ""
    about = f"{group.state}, {count(len(group.members), 'member')}{assignor}"
    typer.echo(visible(f"{group.id}: {about}, coordinator {group.coordinator}"))
    if group.members:
        print_table(_MEMBER, [_member_row(each) for each in group.members])
    if partitions:
        print_table(_PARTITION, [_partition_row(each) for each in partitions])


def described_to_json(group: Group, partitions: Sequence[PartitionLag]) -> dict[str, object]:
    return {
        "group": group.id,
        "state": group.state,
        "type": group.type,
        "protocol_type": group.protocol_type,
        "assignor": group.assignor,
        "coordinator": group.coordinator,
        "members": [_member_to_json(each) for each in group.members],
        "offsets": [partition_to_json(each) for each in partitions],
    }


def partition_to_json(each: PartitionLag) -> dict[str, object]:
    owner = each.owner
    return {
        "topic": each.partition.topic,
        "partition": each.partition.partition,
        "committed": each.offset,
        "end": each.end_offset,
        "lag": each.lag,
        "member_id": owner.id if owner else None,
        "client_id": owner.client_id if owner else None,
        "host": owner.host if owner else None,
    }


def members_in_words(group: Group) -> str:
    """`2 members: a-1 (client a at /10.0.0.1), …`."""
    named = [f"{each.id} (client {each.client_id} at {each.host})" for each in group.members]
    more = f" and {len(named) - _MOST_NAMED} more" if len(named) > _MOST_NAMED else ""
    return f"{count(len(named), 'member')}: {', '.join(named[:_MOST_NAMED])}{more}"


def assignment_in_words(partitions: Sequence[tuple[str, int]] | None) -> str:
    """`orders(0,1) payments(3)`, as Kafka's tool writes it."""
    if partitions is None:
        return "not of the consumers' protocol"
    indexes: dict[str, list[str]] = {}
    for topic, partition in partitions:
        indexes.setdefault(topic, []).append(str(partition))
    return " ".join(f"{topic}({','.join(held)})" for topic, held in indexes.items()) or _NOTHING


def known(number: int | None) -> str:
    return _NOTHING if number is None else str(number)


def _member_row(member: Member) -> tuple[str, ...]:
    return (
        visible(member.id),
        visible(member.instance_id or _NOTHING),
        visible(member.client_id),
        member.host,
        visible(assignment_in_words(member.assigned)),
    )


def _partition_row(each: PartitionLag) -> tuple[str, ...]:
    return (
        visible(each.partition.topic),
        str(each.partition.partition),
        known(each.offset),
        known(each.end_offset),
        known(each.lag),
        visible(each.owner.id) if each.owner else _NOTHING,
    )


def _member_to_json(member: Member) -> dict[str, object]:
    assigned = None
    if member.assigned is not None:
        assigned = [{"topic": topic, "partition": index} for topic, index in member.assigned]
    return {
        "member_id": member.id,
        "instance_id": member.instance_id,
        "client_id": member.client_id,
        "host": member.host,
        "assigned": assigned,
    }
