"""What members ask of a group and what they hear."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ottla.protocol.errors import ErrorCode

NO_MEMBER_ID = ""
NO_GENERATION = -1
NO_LEADER = ""

Protocols = tuple[tuple[str, bytes], ...]


class GroupSettings(NamedTuple):
    min_session_timeout_ms: int
    max_session_timeout_ms: int
    initial_rebalance_delay_ms: int
    max_size: int

    def allow_session(self, timeout_ms: int) -> bool:
        return self.min_session_timeout_ms <= timeout_ms <= self.max_session_timeout_ms


class Join(NamedTuple):
    member_id: str  # empty: not a member yet, or a static one that has restarted
    instance_id: str | None
    client_id: str
    client_host: str
    session_timeout_ms: int
    rebalance_timeout_ms: int
    protocol_type: str
    protocols: Protocols  # the preferred one first
    reason: str | None = None  # KIP-800
    requires_known_member_id: bool = False  # KIP-394: JoinGroup v4 or later without instance id
    supports_skipping_assignment: bool = False  # KIP-814: JoinGroup v9 or later


class JoinedMember(NamedTuple):
    member_id: str
    instance_id: str | None
    metadata: bytes  # for the chosen protocol


class JoinAnswer(NamedTuple):
    error: ErrorCode
    member_id: str
    generation: int = NO_GENERATION
    protocol_type: str | None = None
    protocol: str | None = None
    leader: str = NO_LEADER
    members: tuple[JoinedMember, ...] = ()  # only the leader is told
    skip_assignment: bool = False


class Sync(NamedTuple):
    member_id: str
    instance_id: str | None
    generation: int
    protocol_type: str | None
    protocol: str | None
    assignments: Mapping[str, bytes]  # only the leader's counts


class SyncAnswer(NamedTuple):
    error: ErrorCode
    protocol_type: str | None = None
    protocol: str | None = None
    assignment: bytes = b""


class Leaving(NamedTuple):
    member_id: str  # empty: whoever has the instance id
    instance_id: str | None = None
    reason: str | None = None


class LeaveAnswer(NamedTuple):
    """`error` is the whole request's; then there are no members."""

    error: ErrorCode
    members: tuple[tuple[Leaving, ErrorCode], ...] = ()
