"""Who is in a group: members, static ones by instance, those who were only given an id, the leader.

Everything keeps the order in which members came, so that a rerun decides the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from ottla.coordinators.groups.member import Member
from ottla.coordinators.groups.requests import JoinAnswer, Protocols
from ottla.protocol.errors import ErrorCode

_NONE = ErrorCode.NONE  # asked for by every heartbeat: members of an enum are slow to find


class Roster:
    def __init__(self) -> None:
        self.members: dict[str, Member] = {}
        self.static: dict[str, str] = {}  # member id by instance id
        self.pending: dict[str, None] = {}  # KIP-394: have an id, have not come back with it yet
        self.leader_id: str | None = None
        self.joined_count = 0  # how many wait for the answer to their join
        self._support: Counter[str] = Counter()  # how many members can speak each protocol

    @property
    def rebalance_timeout_ms(self) -> int:
        """The slowest member's."""
        return max((member.rebalance_timeout_ms for member in self.members.values()), default=0)

    @property
    def all_joined(self) -> bool:
        return self.joined_count == len(self.members) and not self.pending

    def check(self, member_id: str, instance_id: str | None) -> ErrorCode:
        """Is this who it claims to be? An instance belongs to the member that took it last."""
        if instance_id is not None:
            current = self.static.get(instance_id)
            if current is not None and current != member_id:
                return ErrorCode.FENCED_INSTANCE_ID
            if current is None:
                return ErrorCode.UNKNOWN_MEMBER_ID
        return _NONE if member_id in self.members else ErrorCode.UNKNOWN_MEMBER_ID

    def add(self, member: Member) -> None:
        assert member.id not in self.members, f"{member.id} is a member already"
        if member.instance_id is not None:
            self.static[member.instance_id] = member.id
        self.members[member.id] = member
        self._support.update(_names(member.protocols))
        self.pending.pop(member.id, None)
        if self.leader_id is None:
            self.leader_id = member.id

    def remove(self, member_id: str) -> None:
        """Also one who is only pending, or unknown."""
        self.pending.pop(member_id, None)
        member = self.members.pop(member_id, None)
        if member is None:
            return
        assert member.awaiting_join is None, (
            f"{member_id} waits for an answer and leaves unanswered"
        )
        self._end_support(member)
        if member.instance_id is not None:
            del self.static[member.instance_id]
        if self.leader_id == member_id:
            self.leader_id = next(iter(self.members), None)

    def rename(self, member: Member, new_id: str) -> None:
        """A static member has come back, and its old id is worth nothing from now on."""
        assert member.instance_id is not None, f"{member.id} is not static"
        del self.members[member.id]
        if self.leader_id == member.id:
            self.leader_id = new_id
        member.id = new_id
        self.members[new_id] = member
        self.static[member.instance_id] = new_id

    def update(
        self,
        member: Member,
        protocols: Protocols,
        *,
        rebalance_timeout_ms: int,
        session_timeout_ms: int,
    ) -> None:
        self._end_support(member)
        self._support.update(_names(protocols))
        member.protocols = protocols
        member.rebalance_timeout_ms = rebalance_timeout_ms
        member.session_timeout_ms = session_timeout_ms

    def wait_for_join(self, member: Member, to: Callable[[JoinAnswer], None]) -> None:
        assert member.awaiting_join is None, f"{member.id} waits already"
        member.awaiting_join = to
        self.joined_count += 1

    def end_wait_for_join(self, member: Member) -> Callable[[JoinAnswer], None] | None:
        to, member.awaiting_join = member.awaiting_join, None
        if to is not None:
            self.joined_count -= 1
        return to

    def _end_support(self, member: Member) -> None:
        for name in _names(member.protocols):
            self._support[name] -= 1
            if not self._support[name]:
                del self._support[name]  # Clients invent names: they must not pile up.

    def supports(self, protocols: Protocols) -> bool:
        """Is there one that everybody here speaks as well?"""
        return any(self._support[name] == len(self.members) for name, _ in protocols)

    def vote(self) -> str:
        """Everybody votes for its first protocol that all can speak; ties go to the first named."""
        count = len(self.members)
        candidates = {name: None for name, support in self._support.items() if support == count}
        votes = Counter(member.vote(candidates) for member in self.members.values())
        return votes.most_common(1)[0][0]

    def elect_joined_leader(self) -> bool:
        """A leader that has not rejoined makes way for one who has; False if nobody has."""
        leader = self.members.get(self.leader_id or "")
        if leader is None or leader.awaiting_join is None:
            joined = (id for id, member in self.members.items() if member.awaiting_join is not None)
            elected = next(joined, None)
            if elected is None:
                return False
            self.leader_id = elected
        return True


def _names(protocols: Protocols) -> list[str]:
    return list(dict(protocols))
