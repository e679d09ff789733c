"""What a coordinator may answer, known from nothing but what clients sent and heard before.

Times tell what came before what: of two requests that overlap either may have been served first.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count

from ottla.protocol.errors import ErrorCode
from tests.simulation.coordinator.assignors import read_assignment

NEVER = float("inf")
NOTHING = -1
STATIC = "static"
# While a partition loads, heartbeats are answered without a look at the group.
LOADING_S = 10.0
_E = ErrorCode
# With these nothing was stored. After the others it may have been, as after no answer at all.
REFUSALS = (
    _E.ILLEGAL_GENERATION,
    _E.UNKNOWN_MEMBER_ID,
    _E.REBALANCE_IN_PROGRESS,
    _E.FENCED_INSTANCE_ID,
    _E.COORDINATOR_LOAD_IN_PROGRESS,
)


def identity(member_id: str) -> str:
    """A static member is the same under every id it is given: `static-2-UUID`."""
    is_static = member_id.startswith(STATIC)
    return "-".join(member_id.split("-")[:2]) if is_static else member_id


@dataclass(slots=True, eq=False)
class Sent:
    """The commit of one partition's offset, which no other commit has."""

    partition: int
    offset: int
    metadata: str
    generation: int
    began: float
    ended: float = NEVER  # when it could not be served any more
    error: ErrorCode | None = None  # None: never heard


@dataclass(frozen=True, slots=True)
class Asked:
    """When a request was sent, and how often the coordinator had been disturbed by then."""

    at: float
    disturbances: int


@dataclass(slots=True)
class Generation:
    leader: str
    protocol: str
    members: tuple[str, ...] = ()  # as the leader was told
    answered: dict[str, None] = field(default_factory=dict)


class Clock:
    """Virtual time, and when it was that somebody last meddled with the coordinator."""

    def __init__(self, now: Callable[[], float]) -> None:
        self.now = now
        self.disturbances = 0
        self.disturbed_at = 0.0
        self.acknowledged = asyncio.Event()  # a commit, just now

    def asked(self) -> Asked:
        return Asked(self.now(), self.disturbances)

    def disturb(self) -> None:
        self.disturbances += 1
        self.disturbed_at = self.now()

    def is_undisturbed(self, asked: Asked) -> bool:
        """Since then, and nobody was at it then: a disturbance begins, and ends."""
        return asked.disturbances == self.disturbances and self.disturbances % 2 == 0

    def may_load(self, asked: Asked) -> bool:
        return asked.at < self.disturbed_at + LOADING_S


class GroupModel:
    """One group. `clock` counts disturbances: reloads and deaths, at their begin and their end."""

    def __init__(self, id: str, clock: Clock) -> None:
        self.id = id
        self._clock = clock
        self._offsets = count(1)
        self._sent: dict[int, dict[int, Sent]] = {}  # by partition and offset
        self._synced: list[tuple[float, int]] = [(-1.0, 0)]  # the highest so far, and since when
        self._joined: list[tuple[float, int]] = []
        self._generations: dict[tuple[int, int], Generation] = {}  # and disturbances
        self._proposals: dict[int, list[dict[str, bytes]]] = {}
        self._owners: dict[int, dict[int, str]] = {}

    # Generations

    def _stored_before(self, at: float) -> int:
        """The highest generation that somebody had synced with: it is in the log for good."""
        return max(generation for since, generation in self._synced if since < at)

    def heard_join(
        self,
        asked: Asked,
        *,
        member_id: str,
        leader: str,
        protocol: str,
        generation: int,
        members: Sequence[str],
    ) -> None:
        stored = self._stored_before(asked.at)
        assert generation >= stored, f"{member_id} joined {generation} after {stored} was stored"
        if not self._clock.is_undisturbed(asked):
            return
        self._joined.append((self._clock.now(), generation))
        key = (generation, asked.disturbances)
        found = self._generations.setdefault(key, Generation(identity(leader), protocol))
        known = (found.leader, found.protocol)
        assert known == (identity(leader), protocol), f"{generation}: {known}, {leader} {protocol}"
        found.answered[identity(member_id)] = None
        if members:
            assert identity(member_id) == found.leader, f"{member_id} does not lead {generation}"
            found.members = tuple(identity(each) for each in members)
            assert len(dict.fromkeys(found.members)) == len(members), f"twice: {members}"
        strangers = [each for each in found.answered if found.members and each not in found.members]
        assert not strangers, f"{strangers} are in {generation}, but not among {found.members}"

    def proposes(self, generation: int, assignments: Mapping[str, bytes]) -> None:
        """Before the leader sends it."""
        shares = {identity(id): data for id, data in assignments.items()}
        self._proposals.setdefault(generation, []).append(shares)

    def heard_sync(self, asked: Asked, *, member_id: str, generation: int, data: bytes) -> None:
        stored = self._stored_before(asked.at)
        assert generation >= stored, f"{member_id} synced with {generation} after {stored}"
        who = identity(member_id)
        proposals = self._proposals.get(generation, [])
        # What one member hears decides which proposal became the generation's.
        fitting = [each for each in proposals if each.get(who, b"") == data]
        assert fitting, f"{member_id} got {data!r} in {generation}, which nobody proposed"
        self._proposals[generation] = fitting
        owners = self._owners.setdefault(generation, {})
        for partition in read_assignment(data):
            owner = owners.setdefault(partition, who)
            assert owner == who, f"{partition} is {owner}'s and {who}'s in {generation}"
        self._synced.append((self._clock.now(), max(generation, self._synced[-1][1])))

    def heard_heartbeat(self, asked: Asked, *, member_id: str, generation: int) -> None:
        if self._clock.is_undisturbed(asked) and not self._clock.may_load(asked):
            self._check_current(asked, f"heartbeat of {member_id}", generation)

    def _check_current(self, asked: Asked, what: str, generation: int) -> None:
        stored = self._stored_before(asked.at)
        assert generation >= stored, f"{what} with {generation} after {stored} was stored"
        if self._clock.is_undisturbed(asked):
            newer = [
                found
                for at, found in self._joined
                if found > generation and self._clock.disturbed_at < at < asked.at
            ]
            assert not newer, f"{what} with {generation} after {newer} had been joined"

    # Offsets

    def commits(self, partition: int, *, generation: int) -> Sent:
        offset = next(self._offsets)
        sent = Sent(partition, offset, f"{self.id}:{offset}", generation, self._clock.now())
        self._sent.setdefault(partition, {})[offset] = sent
        return sent

    def heard_commit(self, sent: Sent, asked: Asked, error: ErrorCode) -> None:
        sent.ended, sent.error = self._clock.now(), error
        if error is ErrorCode.NONE:
            self._clock.acknowledged.set()
        if error is ErrorCode.NONE and sent.generation >= 0:
            self._check_current(asked, f"commit of {sent.partition}", sent.generation)

    def lost_commit(self, sent: Sent) -> None:
        """Its connection is closed. What the broker has read of it, it may still serve."""
        sent.ended = self._clock.now() + 1.0

    def heard_offset(self, asked: Asked, *, partition: int, offset: int, metadata: str) -> None:
        sent = self._sent.get(partition, {})
        told = [each for each in sent.values() if each.error is _E.NONE and each.ended < asked.at]
        if offset == NOTHING:
            assert not told, f"{self.id} {partition}: {told[-1]} was acknowledged and is lost"
            return
        found = sent.get(offset)
        assert found is not None, f"{self.id} {partition}: nobody committed {offset}"
        assert found.metadata == metadata, f"{found} came back with {metadata!r}"
        assert found.error not in REFUSALS, f"{found} was refused, and is there"
        later = [each for each in told if found.ended < each.began]
        assert not later, f"{self.id} {partition}: back at {found} after {later[-1]}"
