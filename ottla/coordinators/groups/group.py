"""One group of the classic protocol, without clock, log or network: requests in, effects out."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence

from ottla.coordinators.effects import Effects, Record
from ottla.coordinators.groups.member import Member
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
from ottla.protocol.errors import ErrorCode
from ottla.protocol.internal.group_metadata import GroupMetadataValue


class Group:
    """`now_ms` is wall time: a state's age is stored, and outlives the process."""

    def __init__(self, id: str, settings: GroupSettings, *, now_ms: int) -> None:
        self.id = id

    state: GroupState
    generation: int
    protocol_type: str | None
    protocol: str | None
    leader_id: str | None
    members: dict[str, Member]
    state_changed_ms: int | None  # None: a record too old to tell
    subscribed_topics: frozenset[str] | None  # None: cannot be known

    def join(
        self,
        join: Join,
        to: Callable[[JoinAnswer], None],
        *,
        now_ms: int,
        new_member_id: Callable[[str], str],
    ) -> Effects:
        """`new_member_id(prefix)` gives `prefix-UUID`: chance comes from outside."""
        raise NotImplementedError

    def sync(self, sync: Sync, to: Callable[[SyncAnswer], None], *, now_ms: int) -> Effects:
        raise NotImplementedError

    def heartbeat(
        self,
        member_id: str,
        *,
        instance_id: str | None,
        generation: int,
        to: Callable[[ErrorCode], None],
        now_ms: int,
    ) -> Effects:
        raise NotImplementedError

    def leave(
        self, leaving: Sequence[Leaving], to: Callable[[LeaveAnswer], None], *, now_ms: int
    ) -> Effects:
        raise NotImplementedError

    def check_commit(
        self, *, member_id: str, instance_id: str | None, generation: int, now_ms: int
    ) -> tuple[ErrorCode, Effects]:
        """May this member commit offsets now? The effects renew its session."""
        raise NotImplementedError

    def check_transactional_commit(
        self, *, member_id: str, instance_id: str | None, generation: int
    ) -> ErrorCode:
        raise NotImplementedError

    def timer_due(self, key: tuple[str, ...], *, now_ms: int) -> Effects:
        raise NotImplementedError

    def apply(self, value: GroupMetadataValue | None, *, now_ms: int) -> None:
        """A record of the log, replayed at load. None is a tombstone."""
        raise NotImplementedError

    def started(self, *, now_ms: int) -> Effects:
        """The load is done: the members found have a session from now on."""
        raise NotImplementedError

    def stored(self, token: Hashable, *, now_ms: int) -> Effects:
        """The Append with this token is committed: it is applied, and who waits for it hears."""
        raise NotImplementedError

    def refused(self, token: Hashable, error: ErrorCode, *, now_ms: int) -> Effects:
        """The Append with this token failed with the log's own error."""
        raise NotImplementedError

    def unload(self, *, now_ms: int) -> Effects:
        """Leadership is lost: who waits hears NOT_COORDINATOR, and the group is Dead."""
        raise NotImplementedError

    def die(self, *, now_ms: int) -> Effects:
        """Deleted, or expired: only an Empty group may be."""
        raise NotImplementedError

    def metadata_record(self, assignments: Mapping[str, bytes]) -> Record:
        """What is stored of the group as it is now, with these assignments."""
        raise NotImplementedError
