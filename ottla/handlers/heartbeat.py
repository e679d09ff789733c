"""Heartbeat: a member says that it is alive, and hears when to rejoin."""

from __future__ import annotations

from ottla.handlers.call import Call
from ottla.handlers.heartbeat_shortcut import shortcut_for
from ottla.protocol.apis.heartbeat import HeartbeatRequest, HeartbeatResponse
from ottla.protocol.errors import ErrorCode, KafkaError

request_shortcut = shortcut_for


def handle_heartbeat(request: HeartbeatRequest, call: Call) -> None:
    def reply(error: ErrorCode) -> None:
        call.reply(HeartbeatResponse(error_code=error))

    call.services.groups.heartbeat(
        request.group_id,
        member_id=request.member_id,
        instance_id=request.group_instance_id,
        generation=request.generation_id,
        to=reply,
    )


def refuse(request: HeartbeatRequest, error: KafkaError) -> HeartbeatResponse:
    return HeartbeatResponse(error_code=error.code)
