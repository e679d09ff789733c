"""LeaveGroup: members leave at once instead of by timeout; since version 3 several together."""

from __future__ import annotations

from functools import partial

from ottla.coordinators.groups.requests import LeaveAnswer, Leaving
from ottla.handlers.call import Call
from ottla.protocol.apis.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberResponse
from ottla.protocol.errors import KafkaError

_MANY_FROM = 3


def handle_leave_group(request: LeaveGroupRequest, call: Call) -> None:
    if call.version < _MANY_FROM:
        leaving = [Leaving(request.member_id)]
    else:
        leaving = [
            Leaving(each.member_id, each.group_instance_id, each.reason) for each in request.members
        ]
    call.services.groups.leave(request.group_id, leaving, partial(_reply, call))


def _reply(call: Call, answer: LeaveAnswer) -> None:
    if call.version < _MANY_FROM:
        errors = [answer.error, *(error for _, error in answer.members)]
        error = next((each for each in errors if each), answer.error)
        call.reply(LeaveGroupResponse(error_code=error))
        return
    members = [
        MemberResponse(member_id=who.member_id, group_instance_id=who.instance_id, error_code=error)
        for who, error in answer.members
    ]
    call.reply(LeaveGroupResponse(error_code=answer.error, members=members))


def refuse(request: LeaveGroupRequest, error: KafkaError) -> LeaveGroupResponse:
    return LeaveGroupResponse(error_code=error.code)
