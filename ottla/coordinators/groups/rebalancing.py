"""A group's state, and how it comes from one generation to the next.

Joining and syncing, static members and the group itself are written in terms of this. What is to be
done is gathered in order, and handed out when the decision is made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ottla.coordinators.effects import Append, CancelTimer, Effect, Effects, Record, Reply, SetTimer
from ottla.coordinators.groups.consumers import CONSUMER, subscribed_topics
from ottla.coordinators.groups.member import Member
from ottla.coordinators.groups.requests import (
    NO_LEADER,
    NO_MEMBER_ID,
    GroupSettings,
    JoinAnswer,
    JoinedMember,
    SyncAnswer,
)
from ottla.coordinators.groups.roster import Roster
from ottla.coordinators.groups.state import BEFORE, GroupState
from ottla.coordinators.groups.stored import encode_group, group_value
from ottla.coordinators.groups.witness import Cause, Caused, Outcome, Who, Witness
from ottla.protocol.errors import ErrorCode

# What every heartbeat asks for: members of an enum are slow to find.
_DEAD, _NONE = GroupState.DEAD, ErrorCode.NONE
JOIN_TIMER = ("join",)
SYNC_TIMER = ("sync",)


def session_timer(member_id: str) -> tuple[str, str]:
    return "session", member_id


def pending_timer(member_id: str) -> tuple[str, str]:
    return "pending", member_id


class Rebalancing:
    def __init__(self, id: str, settings: GroupSettings, witness: Witness, *, now_ms: int) -> None:
        self.id = id
        self.settings = settings
        self.witness = witness
        self.roster = Roster()
        self.state = GroupState.EMPTY
        self.state_changed_ms: int | None = now_ms
        self.generation = 0
        self.protocol_type: str | None = None
        self.protocol: str | None = None
        self.subscribed_topics: frozenset[str] | None = None
        self.pending_sync: dict[str, None] = {}
        # Somebody came while the first members' delay ran: it may be prolonged.
        self.new_member_added = False
        # The initial delay that runs, and how much longer it may be prolonged; else None.
        self._initial_delay: tuple[int, int] | None = None
        self._in_flight: dict[int, Any] = {}
        self._appends = 0
        self._effects: Effects = []

    def decided(self) -> Effects:
        effects, self._effects = self._effects, []
        return effects

    def do(self, effect: Effect) -> None:
        self._effects.append(effect)

    def reply(self, to: Callable[[Any], None], answer: Any) -> None:
        self._effects.append(Reply(to, answer))

    def answer_join(self, member: Member, answer: JoinAnswer) -> None:
        to = self.roster.end_wait_for_join(member)
        if to is not None:
            self.reply(to, answer)

    def answer_sync(self, member: Member, answer: SyncAnswer) -> bool:
        to, member.awaiting_sync = member.awaiting_sync, None
        if to is not None:
            self.reply(to, answer)
        return to is not None

    def renew_session(self, member: Member, *, now_ms: int) -> None:
        self.do(SetTimer(session_timer(member.id), now_ms + member.session_timeout_ms))

    def check_member(
        self, *, member_id: str, instance_id: str | None, generation: int
    ) -> ErrorCode:
        if self.state is _DEAD:
            return ErrorCode.COORDINATOR_NOT_AVAILABLE
        if error := self.roster.check(member_id, instance_id):
            return error
        return _NONE if generation == self.generation else ErrorCode.ILLEGAL_GENERATION

    # Storing

    def append(self, assignments: Mapping[str, bytes], purpose: Any) -> None:
        """`purpose` is told again by `landed`, when it is known how the append went."""
        self._appends += 1
        self._in_flight[self._appends] = purpose
        self.do(Append((self.record(assignments),), self._appends))

    def landed(self, token: object) -> Any:
        """None: nobody waits for it."""
        return self._in_flight.pop(token, None) if isinstance(token, int) else None

    @property
    def in_flight(self) -> tuple[Any, ...]:
        return tuple(self._in_flight.values())

    def record(self, assignments: Mapping[str, bytes]) -> Record:
        value = group_value(
            self.roster.members.values(),
            assignments,
            protocol_type=self.protocol_type,
            protocol=self.protocol,
            leader_id=self.roster.leader_id,
            generation=self.generation,
            state_changed_ms=self.state_changed_ms,
        )
        return encode_group(self.id, value)

    # From one state to the next

    def enter(self, state: GroupState, *, now_ms: int) -> None:
        assert self.state in BEFORE[state], f"{self.id}: {state.value} after {self.state.value}"
        self.state = state
        self.state_changed_ms = now_ms

    def rebalance(
        self, cause: Cause, member: Member | None, *, reason: str | None, now_ms: int
    ) -> None:
        """Begins one, unless one is at the stage where all may still join: then it goes on."""
        caused = Caused(cause, None if member is None else Who.of(member), reason, now_ms)
        if self.state is GroupState.PREPARING_REBALANCE:
            self.witness.went_on(self.id, caused)
            return
        if self.state is GroupState.COMPLETING_REBALANCE:
            self.propagate_error(ErrorCode.REBALANCE_IN_PROGRESS, now_ms=now_ms)
            self._tell_end(Outcome.INTERRUPTED, now_ms=now_ms)
        self.end_sync_phase()
        is_first = self.state is GroupState.EMPTY
        self.enter(GroupState.PREPARING_REBALANCE, now_ms=now_ms)
        self.witness.began(self.id, caused, generation=self.generation)
        if is_first:
            self._delay_first_join(now_ms=now_ms)
        else:
            self._delay_join(now_ms=now_ms)

    def _delay_first_join(self, *, now_ms: int) -> None:
        """Members of a new group come one after the other: wait, or each would be a rebalance."""
        delay_ms = self.settings.initial_rebalance_delay_ms
        prolongation_ms = max(self.roster.rebalance_timeout_ms - delay_ms, 0)
        self._initial_delay = delay_ms, prolongation_ms
        self.do(SetTimer(JOIN_TIMER, now_ms + delay_ms))

    def _delay_join(self, *, now_ms: int) -> None:
        if not self.try_complete_join(now_ms=now_ms):
            self.do(SetTimer(JOIN_TIMER, now_ms + self.roster.rebalance_timeout_ms))

    def join_due(self, *, now_ms: int) -> None:
        if self._initial_delay is not None:
            delay_ms, prolongation_ms = self._initial_delay
            if self.new_member_added and prolongation_ms:
                self.new_member_added = False
                next_ms = min(self.settings.initial_rebalance_delay_ms, prolongation_ms)
                self._initial_delay = next_ms, max(prolongation_ms - delay_ms, 0)
                self.do(SetTimer(JOIN_TIMER, now_ms + next_ms))
                return
            self._initial_delay = None
        self._complete_join(now_ms=now_ms)

    def try_complete_join(self, *, now_ms: int) -> bool:
        """The initial delay is waited for, even when all who are known have joined."""
        if self._initial_delay is not None or not self.roster.all_joined:
            return False
        self._complete_join(now_ms=now_ms)
        return True

    def _complete_join(self, *, now_ms: int) -> None:
        self._drop_unjoined(now_ms=now_ms)
        if self.roster.members and not self.roster.elect_joined_leader():
            # Only static members, and none is back: until their sessions end we keep waiting.
            self._delay_join(now_ms=now_ms)
            return
        self.do(CancelTimer(JOIN_TIMER))
        self.generation += 1
        self.pending_sync.clear()
        if self.roster.members:
            self._await_assignments(now_ms=now_ms)
        else:
            self._become_empty(now_ms=now_ms)

    def _drop_unjoined(self, *, now_ms: int) -> None:
        """Static members may be restarting: they stay until their session ends."""
        for member in list(self.roster.members.values()):
            if member.awaiting_join is None and not member.is_static:
                self.drop(member.id)
                self.rebalance(Cause.JOIN_TIMED_OUT, member, reason=None, now_ms=now_ms)

    def _become_empty(self, *, now_ms: int) -> None:
        self.protocol = None
        self.enter(GroupState.EMPTY, now_ms=now_ms)
        self.subscribed_topics = self.known_topics()
        # Nobody waits for it: an old generation that comes back would only time out.
        self.append({}, None)
        self._tell_end(Outcome.EMPTY, now_ms=now_ms)

    def _await_assignments(self, *, now_ms: int) -> None:
        self.protocol = self.roster.vote()
        self.enter(GroupState.COMPLETING_REBALANCE, now_ms=now_ms)
        self.subscribed_topics = self.known_topics()
        self.witness.joined(
            self.id, generation=self.generation, protocol=self.protocol, now_ms=now_ms
        )
        for member in self.roster.members.values():
            self.answer_join(member, self.joined_answer(member))
            self.renew_session(member, now_ms=now_ms)
            member.is_new = False
            self.pending_sync[member.id] = None
        self.do(SetTimer(SYNC_TIMER, now_ms + self.roster.rebalance_timeout_ms))

    def joined_answer(self, member: Member) -> JoinAnswer:
        is_leader = member.id == self.roster.leader_id
        return JoinAnswer(
            ErrorCode.NONE,
            member.id,
            self.generation,
            self.protocol_type,
            self.protocol,
            self.roster.leader_id or NO_LEADER,
            self.joined_members() if is_leader else (),
        )

    def joined_members(self) -> tuple[JoinedMember, ...]:
        return tuple(
            JoinedMember(member.id, member.instance_id, member.metadata(self.protocol))
            for member in self.roster.members.values()
        )

    def known_topics(self) -> frozenset[str] | None:
        if self.protocol_type != CONSUMER:
            return None
        members = self.roster.members.values()
        return subscribed_topics(member.metadata(self.protocol) for member in members)

    # The sync phase

    def synced(self, member_id: str) -> None:
        """When the last one has asked for its assignment, nobody is late any more."""
        if self.pending_sync.pop(member_id, 0) is None and not self.pending_sync:
            self.do(CancelTimer(SYNC_TIMER))

    def end_sync_phase(self) -> None:
        if self.pending_sync:
            self.pending_sync.clear()
            self.do(CancelTimer(SYNC_TIMER))

    def propagate_assignments(self, *, now_ms: int) -> None:
        self.enter(GroupState.STABLE, now_ms=now_ms)
        for member in self.roster.members.values():
            self._answer_sync_and_renew(member, self.sync_answer(member), now_ms=now_ms)
        self._tell_end(Outcome.ASSIGNED, now_ms=now_ms)

    def propagate_error(self, error: ErrorCode, *, now_ms: int) -> None:
        for member in self.roster.members.values():
            member.assignment = b""
            self._answer_sync_and_renew(member, SyncAnswer(error), now_ms=now_ms)

    def sync_answer(self, member: Member) -> SyncAnswer:
        return SyncAnswer(ErrorCode.NONE, self.protocol_type, self.protocol, member.assignment)

    def _answer_sync_and_renew(self, member: Member, answer: SyncAnswer, *, now_ms: int) -> None:
        # Its session did not count while it waited.
        if self.answer_sync(member, answer):
            self.renew_session(member, now_ms=now_ms)

    # Members who go

    def remove(self, member: Member, cause: Cause, *, reason: str | None, now_ms: int) -> None:
        self.drop(member.id)
        self.rebalance(cause, member, reason=reason, now_ms=now_ms)
        self.recheck_join(now_ms=now_ms)

    def drop(self, member_id: str) -> None:
        """Without a rebalance. Whoever it is, waiting or only pending: no trace of it is left."""
        member = self.roster.members.get(member_id)
        if member is not None:
            # It may be alive and have waited too long as a new member: then it joins once more.
            self.answer_join(member, JoinAnswer(ErrorCode.UNKNOWN_MEMBER_ID, NO_MEMBER_ID))
            self.answer_sync(member, SyncAnswer(ErrorCode.UNKNOWN_MEMBER_ID))
            self.do(CancelTimer(session_timer(member_id)))
        if member_id in self.roster.pending:
            self.do(CancelTimer(pending_timer(member_id)))
        self.roster.remove(member_id)
        self.pending_sync.pop(member_id, None)

    def recheck_join(self, *, now_ms: int) -> None:
        if self.state is GroupState.PREPARING_REBALANCE:
            self.try_complete_join(now_ms=now_ms)

    def _tell_end(self, outcome: Outcome, *, now_ms: int) -> None:
        self.witness.ended(
            self.id,
            outcome,
            {Who.of(member): member.assignment for member in self.roster.members.values()},
            generation=self.generation,
            protocol_type=self.protocol_type or "",
            now_ms=now_ms,
        )
