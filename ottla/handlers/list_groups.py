"""ListGroups: the groups that this broker coordinates, all or those of some states and types."""

from __future__ import annotations

from ottla.handlers.call import Call
from ottla.protocol.apis.list_groups import ListedGroup, ListGroupsRequest, ListGroupsResponse
from ottla.protocol.errors import KafkaError


def handle_list_groups(request: ListGroupsRequest, call: Call) -> ListGroupsResponse:
    error, groups = call.services.groups.list_groups(request.states_filter, request.types_filter)
    return ListGroupsResponse(
        error_code=error,
        groups=[
            ListedGroup(
                group_id=group.group_id,
                protocol_type=group.protocol_type,
                group_state=group.state,
                group_type=group.type,
            )
            for group in groups
        ],
    )


def refuse(request: ListGroupsRequest, error: KafkaError) -> ListGroupsResponse:
    return ListGroupsResponse(error_code=error.code, groups=[])
