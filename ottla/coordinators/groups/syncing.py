"""The leader hands in what it assigned; when that is stored, everybody gets its share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ottla.coordinators.groups.member import Member
from ottla.coordinators.groups.rebalancing import Rebalancing
from ottla.coordinators.groups.requests import Sync, SyncAnswer
from ottla.coordinators.groups.state import GroupState
from ottla.coordinators.groups.stored import meaning
from ottla.coordinators.groups.witness import Cause
from ottla.protocol.errors import ErrorCode


@dataclass(frozen=True, slots=True)
class Assigning:
    """The leader's assignments of one generation on their way to the log."""

    generation: int
    leader: Member
    assignments: Mapping[str, bytes]


def sync_group(
    group: Rebalancing, sync: Sync, to: Callable[[SyncAnswer], None], *, now_ms: int
) -> None:
    if error := _refusal(group, sync):
        group.reply(to, SyncAnswer(error))
        return
    member = group.roster.members[sync.member_id]
    group.synced(member.id)
    if group.state is GroupState.STABLE:
        group.reply(to, group.sync_answer(member))
        group.renew_session(member, now_ms=now_ms)
        return
    # A sync of the same member that waits comes from a connection its client has given up.
    group.answer_sync(member, SyncAnswer(ErrorCode.REBALANCE_IN_PROGRESS))
    member.awaiting_sync = to
    if member.id == group.roster.leader_id and not _is_assigning(group):
        # Whom the leader left out gets nothing, whom it invented is nobody.
        assignments = {id: sync.assignments.get(id, b"") for id in group.roster.members}
        group.append(assignments, Assigning(group.generation, member, assignments))


def _refusal(group: Rebalancing, sync: Sync) -> ErrorCode:
    error = group.check_member(
        member_id=sync.member_id, instance_id=sync.instance_id, generation=sync.generation
    )
    if error:
        return error
    has_other_type = sync.protocol_type not in (None, group.protocol_type)
    if has_other_type or sync.protocol not in (None, group.protocol):
        return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    if group.state is GroupState.PREPARING_REBALANCE:
        return ErrorCode.REBALANCE_IN_PROGRESS
    return ErrorCode.NONE


def _is_assigning(group: Rebalancing) -> bool:
    """The leader repeats itself: what is on its way to the log counts."""
    return any(
        isinstance(purpose, Assigning) and purpose.generation == group.generation
        for purpose in group.in_flight
    )


def _still_awaited(group: Rebalancing, assigning: Assigning) -> bool:
    """Else somebody came or went meanwhile, and everybody has heard so."""
    is_awaiting = group.state is GroupState.COMPLETING_REBALANCE
    return is_awaiting and assigning.generation == group.generation


def assignments_stored(group: Rebalancing, assigning: Assigning, *, now_ms: int) -> None:
    if _still_awaited(group, assigning):
        for member in group.roster.members.values():
            member.assignment = assigning.assignments[member.id]
        group.propagate_assignments(now_ms=now_ms)


def assignments_refused(
    group: Rebalancing, assigning: Assigning, error: ErrorCode, *, now_ms: int
) -> None:
    if _still_awaited(group, assigning):
        group.propagate_error(meaning(error), now_ms=now_ms)
        group.rebalance(Cause.NOT_STORED, assigning.leader, reason=error.name, now_ms=now_ms)


def sync_phase_ended(group: Rebalancing, *, now_ms: int) -> None:
    """Who has joined and not asked for its assignment since is not there any more."""
    late = [group.roster.members[id] for id in group.pending_sync]
    for member in late:
        group.drop(member.id)
    for member in late:
        group.rebalance(Cause.SYNC_TIMED_OUT, member, reason=None, now_ms=now_ms)
