"""JoinGroup: a member enters a group, and waits until everybody has."""

from __future__ import annotations

from functools import partial

from ottla.coordinators.groups.requests import Join, JoinAnswer
from ottla.handlers.call import Call
from ottla.handlers.client_host import client_host
from ottla.protocol.apis.join_group import (
    JoinGroupRequest,
    JoinGroupResponse,
    JoinGroupResponseMember,
)
from ottla.protocol.errors import KafkaError

_REBALANCE_TIMEOUT_FROM = 1
_MEMBER_ID_REQUIRED_FROM = 4
_NO_PROTOCOL_FROM = 7  # before, "" stood for none
_SKIP_ASSIGNMENT_FROM = 9


def handle_join_group(request: JoinGroupRequest, call: Call) -> None:
    has_timeout = call.version >= _REBALANCE_TIMEOUT_FROM
    is_static = request.group_instance_id is not None
    join = Join(
        member_id=request.member_id,
        instance_id=request.group_instance_id,
        client_id=call.client_id or "",
        client_host=client_host(call.connection.peer),
        session_timeout_ms=request.session_timeout_ms,
        rebalance_timeout_ms=(
            request.rebalance_timeout_ms if has_timeout else request.session_timeout_ms
        ),
        protocol_type=request.protocol_type,
        protocols=tuple((each.name, bytes(each.metadata)) for each in request.protocols),
        reason=request.reason,
        requires_known_member_id=call.version >= _MEMBER_ID_REQUIRED_FROM and not is_static,
        supports_skipping_assignment=call.version >= _SKIP_ASSIGNMENT_FROM,
    )
    call.services.groups.join(request.group_id, join, partial(_reply, call))


def _reply(call: Call, answer: JoinAnswer) -> None:
    protocol = answer.protocol
    if protocol is None and call.version < _NO_PROTOCOL_FROM:
        protocol = ""
    members = [
        JoinGroupResponseMember(
            member_id=each.member_id, group_instance_id=each.instance_id, metadata=each.metadata
        )
        for each in answer.members
    ]
    call.reply(
        JoinGroupResponse(
            error_code=answer.error,
            generation_id=answer.generation,
            protocol_type=answer.protocol_type,
            protocol_name=protocol,
            leader=answer.leader,
            skip_assignment=answer.skip_assignment,
            member_id=answer.member_id,
            members=members,
        )
    )


def refuse(request: JoinGroupRequest, error: KafkaError) -> JoinGroupResponse:
    return JoinGroupResponse(
        error_code=error.code,
        protocol_name="",
        leader="",
        member_id=request.member_id,
        members=[],
    )
