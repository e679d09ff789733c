"""One group of the classic protocol, without clock, log or network: requests in, effects out."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence

from ottla.coordinators.effects import CancelTimer, Effects, Record, Reply
from ottla.coordinators.groups.joining import join_group
from ottla.coordinators.groups.member import Member
from ottla.coordinators.groups.rebalancing import (
    JOIN_TIMER,
    SYNC_TIMER,
    Rebalancing,
    pending_timer,
    session_timer,
)
from ottla.coordinators.groups.requests import (
    NO_MEMBER_ID,
    GroupSettings,
    Join,
    JoinAnswer,
    LeaveAnswer,
    Leaving,
    Sync,
    SyncAnswer,
)
from ottla.coordinators.groups.roster import Roster
from ottla.coordinators.groups.state import GroupState
from ottla.coordinators.groups.static_members import (
    Replacement,
    replacement_refused,
    replacement_stored,
)
from ottla.coordinators.groups.stored import meaning, restored_members
from ottla.coordinators.groups.syncing import (
    Assigning,
    assignments_refused,
    assignments_stored,
    sync_group,
    sync_phase_ended,
)
from ottla.coordinators.groups.witness import Cause, Who, Witness
from ottla.protocol.errors import ErrorCode
from ottla.protocol.internal.group_metadata import GroupMetadataValue

_S = GroupState
# What every commit asks for: members of an enum are slow to find.
_EMPTY, _NONE = GroupState.EMPTY, ErrorCode.NONE


class Group:
    """`now_ms` is wall time: a state's age is stored, and outlives the process."""

    def __init__(self, id: str, settings: GroupSettings, witness: Witness, *, now_ms: int) -> None:
        self.id = id
        self._rebalancing = Rebalancing(id, settings, witness, now_ms=now_ms)

    @property
    def state(self) -> GroupState:
        return self._rebalancing.state

    @property
    def state_changed_ms(self) -> int | None:
        """None: a record too old to tell."""
        return self._rebalancing.state_changed_ms

    @property
    def generation(self) -> int:
        return self._rebalancing.generation

    @property
    def protocol_type(self) -> str | None:
        return self._rebalancing.protocol_type

    @property
    def protocol(self) -> str | None:
        return self._rebalancing.protocol

    @property
    def leader_id(self) -> str | None:
        return self._rebalancing.roster.leader_id

    @property
    def members(self) -> dict[str, Member]:
        return self._rebalancing.roster.members

    @property
    def pending_members(self) -> tuple[str, ...]:
        return tuple(self._rebalancing.roster.pending)

    @property
    def subscribed_topics(self) -> frozenset[str] | None:
        """None: cannot be known, as it is no group of consumers or they cannot be understood."""
        return self._rebalancing.subscribed_topics

    def join(
        self,
        join: Join,
        to: Callable[[JoinAnswer], None],
        *,
        now_ms: int,
        new_member_id: Callable[[str], str],
    ) -> Effects:
        """`new_member_id(prefix)` gives `prefix-UUID`: chance comes from outside."""
        join_group(self._rebalancing, join, to, now_ms=now_ms, new_member_id=new_member_id)
        return self._rebalancing.decided()

    def sync(self, sync: Sync, to: Callable[[SyncAnswer], None], *, now_ms: int) -> Effects:
        sync_group(self._rebalancing, sync, to, now_ms=now_ms)
        return self._rebalancing.decided()

    def heartbeat(
        self,
        member_id: str,
        *,
        instance_id: str | None,
        generation: int,
        to: Callable[[ErrorCode], None],
        now_ms: int,
    ) -> Effects:
        group = self._rebalancing
        error = group.check_member(
            member_id=member_id, instance_id=instance_id, generation=generation
        )
        if not error:
            # Told to rejoin or not, it is alive.
            group.renew_session(self.members[member_id], now_ms=now_ms)
            if self.state is _S.PREPARING_REBALANCE:
                error = ErrorCode.REBALANCE_IN_PROGRESS
        group.reply(to, error)
        return group.decided()

    def leave(
        self, leaving: Sequence[Leaving], to: Callable[[LeaveAnswer], None], *, now_ms: int
    ) -> Effects:
        group = self._rebalancing
        if self.state is _S.DEAD:
            answer = LeaveAnswer(ErrorCode.COORDINATOR_NOT_AVAILABLE)
        else:
            gone = tuple((one, self._leave(one, now_ms=now_ms)) for one in leaving)
            answer = LeaveAnswer(ErrorCode.NONE, gone)
        # First: who leaves does not wait until the log knows that the group is empty.
        return [Reply(to, answer), *group.decided()]

    def _leave(self, leaving: Leaving, *, now_ms: int) -> ErrorCode:
        group = self._rebalancing
        member_id = leaving.member_id
        if member_id in group.roster.pending:
            group.drop(member_id)
            group.recheck_join(now_ms=now_ms)
            return ErrorCode.NONE
        if member_id == NO_MEMBER_ID and leaving.instance_id is not None:
            # An operator removes a static member, whatever its id is at the moment.
            member_id = group.roster.static.get(leaving.instance_id, NO_MEMBER_ID)
        error = group.roster.check(member_id, leaving.instance_id)
        if not error:
            member = self.members[member_id]
            group.remove(member, Cause.MEMBER_LEFT, reason=leaving.reason, now_ms=now_ms)
        return error

    def check_commit(
        self, *, member_id: str, instance_id: str | None, generation: int, now_ms: int
    ) -> tuple[ErrorCode, Effects]:
        """May it commit offsets now? The effects renew its session."""
        group = self._rebalancing
        state = group.state
        if state is _EMPTY and generation < 0:
            return _NONE, []
        check = self._check_committer if generation < 0 else group.check_member
        error = check(member_id=member_id, instance_id=instance_id, generation=generation)
        if error or state is _EMPTY:
            return error, []
        member = group.roster.members.get(member_id)
        if member is None:
            return ErrorCode.UNKNOWN_MEMBER_ID, []
        if state is _S.COMPLETING_REBALANCE:
            return ErrorCode.REBALANCE_IN_PROGRESS, []
        # Allowed while others join: it is told by its heartbeat, and commits before it rejoins.
        group.renew_session(member, now_ms=now_ms)
        return _NONE, group.decided()

    def check_transactional_commit(
        self, *, member_id: str, instance_id: str | None, generation: int
    ) -> ErrorCode:
        """Before version 3 of TxnOffsetCommit nobody says who it is, and everybody may."""
        return self._check_committer(
            member_id=member_id, instance_id=instance_id, generation=generation
        )

    def _check_committer(
        self, *, member_id: str, instance_id: str | None, generation: int
    ) -> ErrorCode:
        group = self._rebalancing
        state = group.state
        if generation < 0 and state is not _S.DEAD:
            if state is _S.EMPTY:
                return ErrorCode.NONE  # Not a member of anything: offsets are kept for it.
            if (member_id, instance_id) == (NO_MEMBER_ID, None):
                return ErrorCode.NONE
        return group.check_member(
            member_id=member_id, instance_id=instance_id, generation=generation
        )

    def timer_due(self, key: tuple[str, ...], *, now_ms: int) -> Effects:
        group = self._rebalancing
        if self.state is _S.DEAD:
            return []
        match key:
            case ("session", member_id):
                self._session_ended(member_id, now_ms=now_ms)
            case ("pending", member_id):
                group.roster.pending.pop(member_id, None)
                group.recheck_join(now_ms=now_ms)
            case ("join",):
                if self.state is _S.PREPARING_REBALANCE:
                    group.join_due(now_ms=now_ms)
            case ("sync",):
                sync_phase_ended(group, now_ms=now_ms)
            case _:
                raise AssertionError(f"{self.id} has no timer {key}")
        return group.decided()

    def _session_ended(self, member_id: str, *, now_ms: int) -> None:
        member = self.members.get(member_id)
        # Who waits for us cannot heartbeat; but a new member's time limit is made for its waiting.
        if member is not None and (member.is_new or not member.is_waiting):
            group = self._rebalancing
            group.remove(member, Cause.SESSION_EXPIRED, reason=None, now_ms=now_ms)

    def apply(self, value: GroupMetadataValue | None, *, now_ms: int) -> None:
        """A record of the log, replayed at load. None is a tombstone, and the group is Dead."""
        group = self._rebalancing
        assert not group.in_flight, f"{self.id} is served already: a load comes before"
        group.roster = Roster()
        if value is None:
            group.state, group.state_changed_ms = _S.DEAD, now_ms
            return
        for member in restored_members(value):
            group.roster.add(member)
        if value.leader is not None and self.members:
            group.roster.leader_id = value.leader
        group.generation = value.generation
        group.protocol_type = value.protocol_type or None
        group.protocol = value.protocol or "" if self.members else value.protocol
        group.subscribed_topics = group.known_topics()
        group.state = _S.STABLE if self.members else _S.EMPTY
        since = value.current_state_timestamp
        group.state_changed_ms = None if since == -1 else since

    def started(self, *, now_ms: int) -> Effects:
        """The load is done: the members found have a session from now on."""
        group = self._rebalancing
        group.witness.loaded(
            self.id,
            {Who.of(member): member.assignment for member in self.members.values()},
            protocol_type=self.protocol_type or "",
        )
        if len(self.members) > group.settings.max_size:
            # They can commit and rejoin; those who come last find no room.
            group.rebalance(Cause.OVER_CAPACITY, None, reason=None, now_ms=now_ms)
        for member in self.members.values():
            group.renew_session(member, now_ms=now_ms)
        return group.decided()

    def stored(self, token: Hashable, *, now_ms: int) -> Effects:
        """The Append with this token is committed: it is applied, and who waits for it hears."""
        group = self._rebalancing
        match group.landed(token):
            case Assigning() as assigning:
                assignments_stored(group, assigning, now_ms=now_ms)
            case Replacement() as replacement:
                replacement_stored(group, replacement, now_ms=now_ms)
        return group.decided()

    def refused(self, token: Hashable, error: ErrorCode, *, now_ms: int) -> Effects:
        """The Append with this token failed with the log's own error."""
        group = self._rebalancing
        match group.landed(token):
            case Assigning() as assigning:
                assignments_refused(group, assigning, error, now_ms=now_ms)
            case Replacement() as replacement:
                replacement_refused(group, replacement, meaning(error), now_ms=now_ms)
        return group.decided()

    def unload(self, *, now_ms: int) -> Effects:
        """Leadership is lost: who waits hears NOT_COORDINATOR, and the group is Dead."""
        group = self._rebalancing
        for member in self.members.values():
            group.answer_join(member, JoinAnswer(ErrorCode.NOT_COORDINATOR, member.id))
            group.answer_sync(member, SyncAnswer(ErrorCode.NOT_COORDINATOR))
        return self._end(now_ms=now_ms)

    def die(self, *, now_ms: int) -> Effects:
        """Deleted, or expired: only an Empty group may be."""
        assert self.state is _S.EMPTY, f"{self.id} is {self.state.value}"
        return self._end(now_ms=now_ms)

    def _end(self, *, now_ms: int) -> Effects:
        group = self._rebalancing
        timers = [session_timer(id) for id in self.members]
        timers += [pending_timer(id) for id in group.roster.pending]
        for key in (*timers, JOIN_TIMER, SYNC_TIMER):
            group.do(CancelTimer(key))
        group.enter(_S.DEAD, now_ms=now_ms)
        group.witness.forgotten(self.id, now_ms=now_ms)
        return group.decided()

    def metadata_record(self, assignments: Mapping[str, bytes]) -> Record:
        """What is stored of the group as it is now, with these assignments."""
        return self._rebalancing.record(assignments)
