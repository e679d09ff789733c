"""DeleteGroups: groups without members go, with their offsets."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from ottla.handlers.call import Call
from ottla.protocol.apis.delete_groups import (
    DeletableGroupResult,
    DeleteGroupsRequest,
    DeleteGroupsResponse,
)
from ottla.protocol.errors import ErrorCode, KafkaError


def handle_delete_groups(request: DeleteGroupsRequest, call: Call) -> None:
    group_ids = list(dict.fromkeys(request.groups_names))
    call.services.groups.delete_groups(group_ids, partial(_reply, call))


def _reply(call: Call, errors: Mapping[str, ErrorCode]) -> None:
    call.reply(_response(errors))


def _response(errors: Mapping[str, ErrorCode]) -> DeleteGroupsResponse:
    return DeleteGroupsResponse(
        results=[
            DeletableGroupResult(group_id=group_id, error_code=error)
            for group_id, error in errors.items()
        ]
    )


def refuse(request: DeleteGroupsRequest, error: KafkaError) -> DeleteGroupsResponse:
    return _response(dict.fromkeys(request.groups_names, error.code))
