"""Who may join a group, under which id, and whether its join begins a rebalance."""

from __future__ import annotations

from collections.abc import Callable

from ottla.coordinators.effects import CancelTimer, SetTimer
from ottla.coordinators.groups.consumers import wants_the_same
from ottla.coordinators.groups.member import Member
from ottla.coordinators.groups.rebalancing import Rebalancing, pending_timer, session_timer
from ottla.coordinators.groups.requests import NO_MEMBER_ID, Join, JoinAnswer
from ottla.coordinators.groups.state import GroupState
from ottla.coordinators.groups.static_members import replace_static_member
from ottla.coordinators.groups.witness import Cause
from ottla.protocol.errors import ErrorCode

# A new member may not know its id, so that it cannot heartbeat, and may be gone: its client then
# joins again as another. That must end some time.
NEW_MEMBER_JOIN_TIMEOUT_MS = 5 * 60 * 1000

Answer = Callable[[JoinAnswer], None]
_S = GroupState


def join_group(
    group: Rebalancing,
    join: Join,
    to: Answer,
    *,
    now_ms: int,
    new_member_id: Callable[[str], str],
) -> None:
    if not group.settings.allow_session(join.session_timeout_ms):
        group.reply(to, JoinAnswer(ErrorCode.INVALID_SESSION_TIMEOUT, join.member_id))
        return
    if not _has_room(group, join.member_id):
        _turn_away(group, join, to, now_ms=now_ms)
    elif error := _refusal(group, join):
        group.reply(to, JoinAnswer(error, join.member_id))
    elif join.member_id == NO_MEMBER_ID:
        _join_unknown(group, join, to, now_ms=now_ms, new_member_id=new_member_id)
    elif join.member_id in group.roster.pending:
        _join_pending(group, join, to, now_ms=now_ms)
    else:
        _rejoin(group, join, to, now_ms=now_ms)
    group.recheck_join(now_ms=now_ms)


def _has_room(group: Rebalancing, member_id: str) -> bool:
    """While members rejoin, those who came first have the room: the maximum may have become less.

    As in Kafka, a static member that comes back without its id is counted as one more.
    """
    most = group.settings.max_size
    member = group.roster.members.get(member_id)
    if group.state is _S.PREPARING_REBALANCE:
        has_joined = member is not None and member.awaiting_join is not None
        return has_joined or group.roster.joined_count < most
    if group.state in (_S.COMPLETING_REBALANCE, _S.STABLE):
        return member is not None or len(group.roster.members) < most
    return True


def _turn_away(group: Rebalancing, join: Join, to: Answer, *, now_ms: int) -> None:
    member = group.roster.members.get(join.member_id)
    group.drop(join.member_id)
    if member is not None:
        group.rebalance(Cause.OVER_CAPACITY, member, reason=join.reason, now_ms=now_ms)
    group.reply(to, JoinAnswer(ErrorCode.GROUP_MAX_SIZE_REACHED, NO_MEMBER_ID))


def _refusal(group: Rebalancing, join: Join) -> ErrorCode:
    if group.state is _S.DEAD:
        return ErrorCode.COORDINATOR_NOT_AVAILABLE
    if group.state is _S.EMPTY:
        is_compatible = bool(join.protocol_type and join.protocols)
    else:
        is_same_type = join.protocol_type == group.protocol_type
        is_compatible = is_same_type and group.roster.supports(join.protocols)
    return ErrorCode.NONE if is_compatible else ErrorCode.INCONSISTENT_GROUP_PROTOCOL


def _join_unknown(
    group: Rebalancing,
    join: Join,
    to: Answer,
    *,
    now_ms: int,
    new_member_id: Callable[[str], str],
) -> None:
    if join.instance_id is not None:
        member_id = new_member_id(join.instance_id)
        known = group.roster.static.get(join.instance_id)
        if known is None:
            _add(group, join, member_id, to, now_ms=now_ms)
        else:
            member = group.roster.members[known]
            replace_static_member(group, member, join, to, new_id=member_id, now_ms=now_ms)
        return
    member_id = new_member_id(join.client_id)
    if join.requires_known_member_id:
        group.roster.pending[member_id] = None
        group.do(SetTimer(pending_timer(member_id), now_ms + join.session_timeout_ms))
        group.reply(to, JoinAnswer(ErrorCode.MEMBER_ID_REQUIRED, member_id))
    else:
        _add(group, join, member_id, to, now_ms=now_ms)


def _join_pending(group: Rebalancing, join: Join, to: Answer, *, now_ms: int) -> None:
    if join.instance_id is not None:
        # We gave this id to a dynamic member. Kafka fails here, and that is what a client hears.
        group.reply(to, JoinAnswer(ErrorCode.UNKNOWN_SERVER_ERROR, NO_MEMBER_ID))
        return
    group.do(CancelTimer(pending_timer(join.member_id)))
    _add(group, join, join.member_id, to, now_ms=now_ms)


def _add(group: Rebalancing, join: Join, member_id: str, to: Answer, *, now_ms: int) -> None:
    member = Member(
        id=member_id,
        instance_id=join.instance_id,
        client_id=join.client_id,
        client_host=join.client_host,
        session_timeout_ms=join.session_timeout_ms,
        rebalance_timeout_ms=join.rebalance_timeout_ms,
        protocols=join.protocols,
        is_new=True,
    )
    if group.state is _S.PREPARING_REBALANCE and group.generation == 0:
        group.new_member_added = True
    if not group.roster.members:
        group.protocol_type = join.protocol_type
    group.roster.add(member)
    group.roster.wait_for_join(member, to)
    group.do(SetTimer(session_timer(member_id), now_ms + NEW_MEMBER_JOIN_TIMEOUT_MS))
    group.rebalance(Cause.MEMBER_JOINED, member, reason=join.reason, now_ms=now_ms)


def _rejoin(group: Rebalancing, join: Join, to: Answer, *, now_ms: int) -> None:
    if error := group.roster.check(join.member_id, join.instance_id):
        group.reply(to, JoinAnswer(error, join.member_id))
        return
    member = group.roster.members[join.member_id]
    has_changed = join.protocols != member.protocols
    is_leader = member.id == group.roster.leader_id
    # A leader may have seen what changes the assignment and not its metadata, as new partitions.
    is_leaders_wish = is_leader and group.state is _S.STABLE
    if has_changed or is_leaders_wish or group.state is _S.PREPARING_REBALANCE:
        _update(group, member, join, to, now_ms=now_ms)
    else:
        # It may have missed the answer to its last join: it hears the same again.
        group.reply(to, group.joined_answer(member))


def _update(group: Rebalancing, member: Member, join: Join, to: Answer, *, now_ms: int) -> None:
    cause = _cause(group, member, join)
    # A join of the same member that waits comes from a connection its client has given up. Kafka
    # never answers it; we do, so that nothing is left behind.
    group.answer_join(member, JoinAnswer(ErrorCode.REBALANCE_IN_PROGRESS, member.id))
    group.roster.update(
        member,
        join.protocols,
        rebalance_timeout_ms=join.rebalance_timeout_ms,
        session_timeout_ms=join.session_timeout_ms,
    )
    group.roster.wait_for_join(member, to)
    # To come back when asked to is no cause of anything.
    if cause is Cause.METADATA_CHANGED or group.state is not _S.PREPARING_REBALANCE:
        group.rebalance(cause, member, reason=join.reason, now_ms=now_ms)


def _cause(group: Rebalancing, member: Member, join: Join) -> Cause:
    if not wants_the_same(member.protocols, join.protocols, protocol_type=group.protocol_type):
        return Cause.METADATA_CHANGED
    is_leader = member.id == group.roster.leader_id
    return Cause.LEADER_REJOINED if is_leader else Cause.MEMBER_REJOINED
