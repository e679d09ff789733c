"""SyncGroup: the leader hands in the assignment, and every member gets its part."""

from __future__ import annotations

from functools import partial

from ottla.coordinators.groups.requests import Sync, SyncAnswer
from ottla.handlers.call import Call
from ottla.protocol.apis.sync_group import SyncGroupRequest, SyncGroupResponse
from ottla.protocol.errors import ErrorCode, KafkaError

_NAMES_PROTOCOL_FROM = 5


def handle_sync_group(request: SyncGroupRequest, call: Call) -> None:
    names_protocol = request.protocol_type is not None and request.protocol_name is not None
    if call.version >= _NAMES_PROTOCOL_FROM and not names_protocol:
        detail = f"version {call.version} names the protocol and its type"
        raise KafkaError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, detail)
    sync = Sync(
        member_id=request.member_id,
        instance_id=request.group_instance_id,
        generation=request.generation_id,
        protocol_type=request.protocol_type,
        protocol=request.protocol_name,
        assignments={each.member_id: bytes(each.assignment) for each in request.assignments},
    )
    call.services.groups.sync(request.group_id, sync, partial(_reply, call))


def _reply(call: Call, answer: SyncAnswer) -> None:
    call.reply(
        SyncGroupResponse(
            error_code=answer.error,
            protocol_type=answer.protocol_type,
            protocol_name=answer.protocol,
            assignment=answer.assignment,
        )
    )


def refuse(request: SyncGroupRequest, error: KafkaError) -> SyncGroupResponse:
    return SyncGroupResponse(error_code=error.code, assignment=b"")
