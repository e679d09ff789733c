"""DescribeGroups: the state and the members of groups."""

from __future__ import annotations

from ottla.handlers.call import Call
from ottla.handlers.operations import ALL_GROUP_OPERATIONS
from ottla.protocol.apis.describe_groups import (
    DescribedGroup,
    DescribedGroupMember,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)
from ottla.protocol.errors import ErrorCode, KafkaError


def handle_describe_groups(request: DescribeGroupsRequest, call: Call) -> DescribeGroupsResponse:
    groups = [_described(call, group_id) for group_id in request.groups]
    if request.include_authorized_operations:
        for group in groups:
            if group.error_code == ErrorCode.NONE:
                group.authorized_operations = ALL_GROUP_OPERATIONS
    return DescribeGroupsResponse(groups=groups)


def _described(call: Call, group_id: str) -> DescribedGroup:
    group = call.services.groups.describe(group_id)
    return DescribedGroup(
        error_code=group.error,
        group_id=group_id,
        group_state=group.state,
        protocol_type=group.protocol_type,
        protocol_data=group.protocol,
        members=[
            DescribedGroupMember(
                member_id=member.member_id,
                group_instance_id=member.instance_id,
                client_id=member.client_id,
                client_host=member.client_host,
                member_metadata=member.metadata,
                member_assignment=member.assignment,
            )
            for member in group.members
        ],
    )


def refuse(request: DescribeGroupsRequest, error: KafkaError) -> DescribeGroupsResponse:
    return DescribeGroupsResponse(
        groups=[
            DescribedGroup(
                error_code=error.code,
                group_id=group_id,
                group_state="",
                protocol_type="",
                protocol_data="",
                members=[],
            )
            for group_id in request.groups
        ]
    )
