"""KIP-345: a static member restarts, takes a new member id and, if it can, its old assignment."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from ottla.coordinators.effects import CancelTimer
from ottla.coordinators.groups.member import Member
from ottla.coordinators.groups.rebalancing import Rebalancing, session_timer
from ottla.coordinators.groups.requests import (
    NO_LEADER,
    NO_MEMBER_ID,
    Join,
    JoinAnswer,
    Protocols,
    SyncAnswer,
)
from ottla.coordinators.groups.state import GroupState
from ottla.coordinators.groups.witness import Cause
from ottla.protocol.errors import ErrorCode


class Before(NamedTuple):
    """What the log knows of the member, and who led."""

    id: str
    leader: str
    protocols: Protocols
    rebalance_timeout_ms: int
    session_timeout_ms: int


@dataclass(slots=True, eq=False)
class Replacement:
    """A new id on its way to the log: if it does not get there, the old one counts again."""

    member: Member
    join: Join
    to: Callable[[JoinAnswer], None]
    new_id: str
    before: Before


def replace_static_member(
    group: Rebalancing,
    member: Member,
    join: Join,
    to: Callable[[JoinAnswer], None],
    *,
    new_id: str,
    now_ms: int,
) -> None:
    before = Before(
        member.id,
        group.roster.leader_id or NO_LEADER,
        member.protocols,
        member.rebalance_timeout_ms,
        member.session_timeout_ms,
    )
    # Whoever waits under the old id is a process that must not go on.
    group.answer_join(member, JoinAnswer(ErrorCode.FENCED_INSTANCE_ID, member.id))
    group.answer_sync(member, SyncAnswer(ErrorCode.FENCED_INSTANCE_ID))
    _rename(group, member, new_id, now_ms=now_ms)
    group.roster.update(
        member,
        join.protocols,
        rebalance_timeout_ms=join.rebalance_timeout_ms,
        session_timeout_ms=join.session_timeout_ms,
    )
    group.roster.wait_for_join(member, to)
    if group.state is GroupState.STABLE and group.roster.vote() == group.protocol:
        members = group.roster.members.values()
        replacement = Replacement(member, join, to, new_id, before)
        group.append({other.id: other.assignment for other in members}, replacement)
    else:
        # While the leader assigns, it assigns to the old id: that would be nobody's.
        group.rebalance(Cause.STATIC_REPLACED, member, reason=join.reason, now_ms=now_ms)


def replacement_stored(group: Rebalancing, replacement: Replacement, *, now_ms: int) -> None:
    member = replacement.member
    if not _still_waits(replacement) or group.state is not GroupState.STABLE:
        return  # A rebalance has begun meanwhile, and answers its join.
    answer = group.joined_answer(member)
    if replacement.join.supports_skipping_assignment:
        # KIP-814: it leads and should know the members, but what it would assign is not asked for.
        answer = answer._replace(skip_assignment=member.id == group.roster.leader_id)
    else:
        # If it leads, it must not notice: what it would assign is not asked for.
        answer = answer._replace(leader=replacement.before.leader, members=())
    group.answer_join(member, answer)
    member.is_new = False
    group.renew_session(member, now_ms=now_ms)


def replacement_refused(
    group: Rebalancing, replacement: Replacement, error: ErrorCode, *, now_ms: int
) -> None:
    """The log knows the old id only, and so do we again."""
    member, before = replacement.member, replacement.before
    for later in group.in_flight:
        # It has restarted again meanwhile, under an id that the log will never know.
        if isinstance(later, Replacement) and later.before.id == replacement.new_id:
            later.before = before
    if not _still_waits(replacement):
        return
    answer = JoinAnswer(
        error, NO_MEMBER_ID, group.generation, group.protocol_type, group.protocol, before.leader
    )
    group.answer_join(member, answer)
    group.roster.update(
        member,
        before.protocols,
        rebalance_timeout_ms=before.rebalance_timeout_ms,
        session_timeout_ms=before.session_timeout_ms,
    )
    _rename(group, member, before.id, now_ms=now_ms)


def _still_waits(replacement: Replacement) -> bool:
    member = replacement.member
    return member.id == replacement.new_id and member.awaiting_join is replacement.to


def _rename(group: Rebalancing, member: Member, new_id: str, *, now_ms: int) -> None:
    group.do(CancelTimer(session_timer(member.id)))
    if member.id in group.pending_sync:
        # It is still to fetch its assignment, under its new name.
        del group.pending_sync[member.id]
        group.pending_sync[new_id] = None
    group.roster.rename(member, new_id)
    group.renew_session(member, now_ms=now_ms)
