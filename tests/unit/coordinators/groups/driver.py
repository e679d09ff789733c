"""Carries out a group's effects in virtual time: answers land in lists, appends wait in a queue."""

from __future__ import annotations

from collections.abc import Mapping
from struct import pack
from typing import Any

from ottla.coordinators.effects import Append, CancelTimer, Effects, Reply, SetTimer
from ottla.coordinators.groups.forensics import RebalanceHistory
from ottla.coordinators.groups.group import Group
from ottla.coordinators.groups.requests import (
    GroupSettings,
    Join,
    JoinAnswer,
    LeaveAnswer,
    Leaving,
    Sync,
    SyncAnswer,
)
from ottla.coordinators.groups.state import GroupState
from ottla.protocol.codec import decode, encode
from ottla.protocol.errors import ErrorCode
from ottla.protocol.internal.consumer_protocol import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
    TopicPartition,
)
from ottla.protocol.internal.group_metadata import GroupMetadataValue

NONE = ErrorCode.NONE
BEGINNING_MS = 1_000_000
DELAY_MS = 3_000
SESSION_MS = 10_000
REBALANCE_MS = 60_000
SETTINGS = GroupSettings(
    min_session_timeout_ms=6_000,
    max_session_timeout_ms=1_800_000,
    initial_rebalance_delay_ms=DELAY_MS,
    max_size=2**31 - 1,
)


def subscription(*topics: str) -> bytes:
    return pack(">h", 0) + encode(ConsumerProtocolSubscription(topics=list(topics)), 0)


def owning(subscribed: bytes, **partitions: list[int]) -> bytes:
    """The same subscription as a consumer sends it that owns these."""
    return b"\x00\x01" + subscribed[2:] + assignment(**partitions)[2:-4]


def assignment(**partitions: list[int]) -> bytes:
    assigned = [TopicPartition(topic=name, partitions=own) for name, own in partitions.items()]
    return pack(">h", 0) + encode(ConsumerProtocolAssignment(assigned_partitions=assigned), 0)


RANGE = (("range", subscription("orders")),)


class Driver:
    """One group and everything around it. Unless told otherwise, appends commit at once."""

    def __init__(self, settings: GroupSettings = SETTINGS, *, id: str = "readers") -> None:
        self.now_ms = BEGINNING_MS
        self.history = RebalanceHistory()
        self.settings = settings
        self.group = Group(id, settings, self.history, now_ms=self.now_ms)
        self.commits_at_once = True
        self.in_flight: list[Append] = []
        self.log: list[GroupMetadataValue] = []  # what was committed
        self.timers: dict[tuple[str, ...], int] = {}
        self.replies = 0
        self._ids = 0

    def state(self) -> GroupState:
        """A call, since a type checker takes a property to stay what it was."""
        return self.group.state

    def new_member_id(self, prefix: str) -> str:
        self._ids += 1
        return f"{prefix}-{self._ids}"

    def ask_join(self, **changes: Any) -> list[JoinAnswer]:
        """The list gets the answer when it comes."""
        join = Join(
            member_id="",
            instance_id=None,
            client_id="client",
            client_host="/10.0.0.1",
            session_timeout_ms=SESSION_MS,
            rebalance_timeout_ms=REBALANCE_MS,
            protocol_type="consumer",
            protocols=RANGE,
        )._replace(**changes)
        answers: list[JoinAnswer] = []
        self.carry_out(
            self.group.join(
                join, answers.append, now_ms=self.now_ms, new_member_id=self.new_member_id
            )
        )
        return answers

    def refused_join(self, **changes: Any) -> ErrorCode:
        [answer] = self.ask_join(**changes)
        assert answer.generation == -1
        assert (answer.protocol_type, answer.protocol, answer.leader) == (None, None, "")
        return answer.error

    def ask_sync(
        self, member_id: str, assignments: Mapping[str, bytes] | None = None, **changes: Any
    ) -> list[SyncAnswer]:
        sync = Sync(
            member_id=member_id,
            instance_id=None,
            generation=self.group.generation,
            protocol_type=None,
            protocol=None,
            assignments=assignments or {},
        )._replace(**changes)
        answers: list[SyncAnswer] = []
        self.carry_out(self.group.sync(sync, answers.append, now_ms=self.now_ms))
        return answers

    def heartbeat(
        self, member_id: str, *, generation: int | None = None, instance_id: str | None = None
    ) -> ErrorCode:
        answers: list[ErrorCode] = []
        effects = self.group.heartbeat(
            member_id,
            instance_id=instance_id,
            generation=self.group.generation if generation is None else generation,
            to=answers.append,
            now_ms=self.now_ms,
        )
        self.carry_out(effects)
        [answer] = answers
        return answer

    def leave(self, *leaving: Leaving) -> LeaveAnswer:
        answers: list[LeaveAnswer] = []
        self.carry_out(self.group.leave(leaving, answers.append, now_ms=self.now_ms))
        [answer] = answers
        return answer

    def commit(
        self, member_id: str, *, generation: int | None = None, instance_id: str | None = None
    ) -> ErrorCode:
        error, effects = self.group.check_commit(
            member_id=member_id,
            instance_id=instance_id,
            generation=self.group.generation if generation is None else generation,
            now_ms=self.now_ms,
        )
        self.carry_out(effects)
        return error

    def carry_out(self, effects: Effects) -> None:
        for effect in effects:
            match effect:
                case Reply(to, answer):
                    self.replies += 1
                    to(answer)
                case SetTimer(key, due_ms):
                    self.timers[key] = due_ms
                case CancelTimer(key):
                    self.timers.pop(key, None)
                case Append():
                    # What a runtime would hold back until the append is through.
                    after = effects[effects.index(effect) + 1 :]
                    assert not any(isinstance(later, Append | Reply) for later in after)
                    self.in_flight.append(effect)
        if self.commits_at_once:
            self.store()

    def store(self) -> None:
        """All appends so far are committed."""
        in_flight, self.in_flight = self.in_flight, []
        for append in in_flight:
            [(_, value)] = append.records
            assert value is not None
            self.log.append(decode(GroupMetadataValue, value[2:], 3))
            self.carry_out(self.group.stored(append.token, now_ms=self.now_ms))

    def refuse(self, error: ErrorCode) -> None:
        in_flight, self.in_flight = self.in_flight, []
        for append in in_flight:
            self.carry_out(self.group.refused(append.token, error, now_ms=self.now_ms))

    def advance(self, by_ms: int, *, alive: tuple[str, ...] = ()) -> None:
        """Timers fire in order; those who are alive heartbeat every 3 s."""
        end_ms = self.now_ms + by_ms
        while alive and self.now_ms + 3_000 < end_ms:
            self._run_until(self.now_ms + 3_000)
            for member_id in alive:
                self.heartbeat(member_id)
        self._run_until(end_ms)

    def _run_until(self, end_ms: int) -> None:
        while self.timers:
            due_ms, key = min((due, key) for key, due in self.timers.items())
            if due_ms > end_ms:
                break
            self.now_ms = due_ms
            del self.timers[key]
            self.carry_out(self.group.timer_due(key, now_ms=due_ms))
        self.now_ms = end_ms

    def reload(self) -> None:
        """Another broker takes over with what is in the log."""
        self.carry_out(self.group.unload(now_ms=self.now_ms))
        assert not self.timers
        self.in_flight.clear()
        self.group = Group(self.group.id, self.settings, self.history, now_ms=self.now_ms)
        for value in self.log:
            self.group.apply(value, now_ms=self.now_ms)
        self.carry_out(self.group.started(now_ms=self.now_ms))

    def formed(self, *instances: str | None, **changes: Any) -> list[str]:
        """A stable group with one member for each; their ids, the leader's first."""
        waiting = [
            self.ask_join(instance_id=instance, client_id=f"client{index}", **changes)
            for index, instance in enumerate(instances)
        ]
        while not all(waiting):  # the delay may be prolonged
            self.advance(1_000)
        ids = [answer.member_id for [answer] in waiting]
        self.share_out(ids)
        return ids

    def share_out(self, ids: list[str]) -> None:
        """Everybody syncs; member N is assigned orders-N."""
        shares = {id: assignment(orders=[number]) for number, id in enumerate(ids)}
        leader = self.group.leader_id or ""
        for id in sorted(ids, key=leader.__ne__):
            instance = self.group.members[id].instance_id
            sent = shares if id == leader else {}
            [answer] = self.ask_sync(id, sent, instance_id=instance)
            assert answer == SyncAnswer(
                NONE, self.group.protocol_type, self.group.protocol, shares[id]
            )
