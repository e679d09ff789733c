"""To whom a group tells its rebalances while they happen; see forensics.py for who listens."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import NamedTuple, Protocol

from ottla.coordinators.groups.member import Member


class Cause(Enum):
    MEMBER_JOINED = "member joined"
    MEMBER_LEFT = "member left"
    SESSION_EXPIRED = "session expired"
    METADATA_CHANGED = "metadata changed"
    LEADER_REJOINED = "leader rejoined"
    MEMBER_REJOINED = "member rejoined"  # cooperative: it has given up what it had to
    STATIC_REPLACED = "static member replaced"
    JOIN_TIMED_OUT = "join timed out"
    SYNC_TIMED_OUT = "sync timed out"
    NOT_STORED = "assignment not stored"
    OVER_CAPACITY = "group over its maximum size"
    TOPIC_DELETED = "topic deleted"


class Outcome(Enum):
    ASSIGNED = "assigned"
    EMPTY = "empty"  # nobody is left
    INTERRUPTED = "interrupted"  # by the next one
    UNLOADED = "unloaded"  # another broker coordinates the group by now


class Who(NamedTuple):
    member_id: str
    client_id: str
    client_host: str
    instance_id: str | None

    @staticmethod
    def of(member: Member) -> Who:
        return Who(member.id, member.client_id, member.client_host, member.instance_id)


class Caused(NamedTuple):
    cause: Cause
    who: Who | None
    reason: str | None  # the client's own words (KIP-800), or the error
    at_ms: int


Assignments = Mapping[Who, bytes]


class Witness(Protocol):
    def loaded(self, group: str, assignments: Assignments, *, protocol_type: str) -> None:
        """What members own before the first rebalance that is seen here."""

    def began(self, group: str, caused: Caused, *, generation: int) -> None: ...

    def went_on(self, group: str, caused: Caused) -> None:
        """Somebody else came, went or changed while a rebalance was under way."""

    def joined(self, group: str, *, generation: int, protocol: str, now_ms: int) -> None:
        """All have joined: they have a generation, and wait for their assignments."""

    def ended(
        self,
        group: str,
        outcome: Outcome,
        assignments: Assignments,
        *,
        generation: int,
        protocol_type: str,
        now_ms: int,
    ) -> None: ...

    def forgotten(self, group: str, *, now_ms: int) -> None:
        """Deleted or unloaded."""
