"""Groups as DescribeGroups and ListGroups show them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ottla.coordinators.groups.answers import DescribedGroup, DescribedMember, ListedGroup
from ottla.coordinators.groups.group import Group
from ottla.coordinators.groups.state import GroupState
from ottla.protocol.errors import ErrorCode

CLASSIC = "classic"


def describe(group: Group | None) -> DescribedGroup:
    """A group that nobody knows is Dead, which is no error."""
    if group is None:
        return DescribedGroup(ErrorCode.NONE, GroupState.DEAD.value)
    # In between, neither the protocol nor who gets what is settled.
    protocol = group.protocol if group.state is GroupState.STABLE else None
    members = tuple(
        DescribedMember(
            member.id,
            member.instance_id,
            member.client_id,
            member.client_host,
            metadata=b"" if protocol is None else member.metadata(protocol),
            assignment=b"" if protocol is None else member.assignment,
        )
        for member in group.members.values()
    )
    protocol_type = group.protocol_type or ""
    return DescribedGroup(ErrorCode.NONE, group.state.value, protocol_type, protocol or "", members)


def listed(
    groups: Iterable[Group], *, states: Sequence[str], types: Sequence[str]
) -> list[ListedGroup]:
    """Of these states and types, whatever their case; without a filter, all."""
    if types and CLASSIC not in [each.lower() for each in types]:
        return []
    wanted = [each.lower() for each in states]
    return [
        ListedGroup(group.id, group.protocol_type or "", group.state.value, CLASSIC)
        for group in groups
        if not wanted or group.state.value.lower() in wanted
    ]
