"""Why groups rebalanced: who or what was the cause, how long nobody read, which partitions moved.

One history for a broker, of the last 1,000 rebalances, as plain values that JSON can carry.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ottla.coordinators.groups.consumers import CONSUMER, assigned_partitions
from ottla.coordinators.groups.witness import Assignments, Cause, Caused, Outcome, Who

MOST_REBALANCES = 1_000
MOST_CAUSES = 10  # of one rebalance; further ones are counted
MOST_MOVES = 500  # partitions named of one rebalance; further ones are counted
MOST_DELETED_TOPICS = 1_000

Partition = tuple[str, int]

# How a consumer behaves that has noticed a change of topics.
_NOTICED = (Cause.LEADER_REJOINED, Cause.MEMBER_REJOINED, Cause.METADATA_CHANGED)


class Move(NamedTuple):
    topic: str
    partition: int
    was: Who | None  # None: nobody's
    now: Who | None


@dataclass(slots=True)
class Rebalance:
    group: str
    generation_before: int
    began_ms: int
    # An interrupted rebalance before this one had stopped consumption already.
    still_since_ms: int
    causes: list[Caused]
    cause_count: int = 1
    generation_after: int | None = None
    protocol: str | None = None
    joined_ms: int | None = None
    ended_ms: int | None = None
    outcome: Outcome | None = None  # None: it is under way
    member_count: int = 0
    moves: list[Move] = field(default_factory=list)
    moved_count: int = 0

    @property
    def stood_still_ms(self) -> int | None:
        """Until members got their assignments. Cooperative ones read on what they keep."""
        if self.ended_ms is None or self.outcome is not Outcome.ASSIGNED:
            return None
        return max(self.ended_ms - self.still_since_ms, 0)

    def as_json(self) -> dict[str, Any]:
        return {
            "group": self.group,
            "generation_before": self.generation_before,
            "generation_after": self.generation_after,
            "cause": self.causes[0].cause.value,
            "causes": [_caused(caused) for caused in self.causes],
            "cause_count": self.cause_count,
            "outcome": self.outcome.value if self.outcome else None,
            "protocol": self.protocol,
            "member_count": self.member_count,
            "began_ms": self.began_ms,
            "joined_ms": self.joined_ms,
            "ended_ms": self.ended_ms,
            "stood_still_ms": self.stood_still_ms,
            "moves": [_move(move) for move in self.moves],
            "moved_count": self.moved_count,
        }


@dataclass(slots=True)
class _Seen:
    """What is known of a group between its rebalances."""

    assignments: Assignments = field(default_factory=dict)
    # Cooperative: revoked in one rebalance, given to another member only in the next.
    released: dict[Partition, Who] = field(default_factory=dict)
    last_ended_ms: int = 0
    under_way: Rebalance | None = None


class RebalanceHistory:
    """A Witness. Its counts are of all rebalances since the broker's start."""

    def __init__(self, *, most: int = MOST_REBALANCES) -> None:
        self._rebalances: deque[Rebalance] = deque(maxlen=most)
        self._groups: dict[str, _Seen] = {}
        self._deleted_topics: dict[str, int] = {}  # when
        self.began_count = dict.fromkeys(Cause, 0)
        self.ended_count = dict.fromkeys(Outcome, 0)
        self.stood_still_ms = 0
        self.moved_count = 0

    def rebalances(self, group: str | None = None) -> list[Rebalance]:
        """The oldest first; of one group or of all."""
        return [one for one in self._rebalances if group is None or one.group == group]

    def as_json(self, group: str | None = None) -> list[dict[str, Any]]:
        return [rebalance.as_json() for rebalance in self.rebalances(group)]

    def topic_deleted(self, topic: str, *, now_ms: int) -> None:
        """Its consumers notice, and rejoin without saying why."""
        self._deleted_topics.pop(topic, None)
        self._deleted_topics[topic] = now_ms
        if len(self._deleted_topics) > MOST_DELETED_TOPICS:
            del self._deleted_topics[next(iter(self._deleted_topics))]

    def loaded(self, group: str, assignments: Assignments, *, protocol_type: str) -> None:
        known = assignments if protocol_type == CONSUMER else {}
        self._groups[group] = _Seen(assignments=known)

    def began(self, group: str, caused: Caused, *, generation: int) -> None:
        seen = self._groups.setdefault(group, _Seen())
        before = seen.under_way
        still_since_ms = before.still_since_ms if before else caused.at_ms
        rebalance = Rebalance(group, generation, caused.at_ms, still_since_ms, [caused])
        seen.under_way = rebalance
        self._rebalances.append(rebalance)
        self.began_count[caused.cause] += 1

    def went_on(self, group: str, caused: Caused) -> None:
        rebalance = self._groups[group].under_way
        assert rebalance is not None, f"{group} goes on with a rebalance that did not begin"
        rebalance.cause_count += 1
        if len(rebalance.causes) < MOST_CAUSES:
            rebalance.causes.append(caused)

    def joined(self, group: str, *, generation: int, protocol: str, now_ms: int) -> None:
        rebalance = self._groups[group].under_way
        assert rebalance is not None, f"{group} has joined without a rebalance"
        rebalance.generation_after = generation
        rebalance.protocol = protocol
        rebalance.joined_ms = now_ms

    def ended(
        self,
        group: str,
        outcome: Outcome,
        assignments: Assignments,
        *,
        generation: int,
        protocol_type: str,
        now_ms: int,
    ) -> None:
        seen = self._groups[group]
        rebalance = seen.under_way
        assert rebalance is not None, f"{group} ends a rebalance that did not begin"
        rebalance.generation_after = generation
        rebalance.member_count = len(assignments)
        self._close(rebalance, outcome, now_ms=now_ms)
        if outcome is Outcome.INTERRUPTED:
            return  # The next one begins now, and consumption stands still since this one began.
        self._record_moves(rebalance, seen, assignments if protocol_type == CONSUMER else {})
        self.stood_still_ms += rebalance.stood_still_ms or 0
        seen.under_way, seen.last_ended_ms = None, now_ms
        if outcome is Outcome.EMPTY:
            del self._groups[group]  # There may be many such, and nothing to compare with.

    def forgotten(self, group: str, *, now_ms: int) -> None:
        seen = self._groups.pop(group, None)
        if seen is not None and seen.under_way is not None:
            self._close(seen.under_way, Outcome.UNLOADED, now_ms=now_ms)

    def _close(self, rebalance: Rebalance, outcome: Outcome, *, now_ms: int) -> None:
        rebalance.outcome = outcome
        rebalance.ended_ms = now_ms
        self.ended_count[outcome] += 1

    def _record_moves(self, rebalance: Rebalance, seen: _Seen, now: Assignments) -> None:
        for move in _moves(seen, now):
            rebalance.moved_count += 1
            if len(rebalance.moves) < MOST_MOVES:
                rebalance.moves.append(move)
            if move.now is None and move.was is not None:
                self._blame_deletion(rebalance, move.topic, since_ms=seen.last_ended_ms)
        self.moved_count += rebalance.moved_count
        seen.assignments = now

    def _blame_deletion(self, rebalance: Rebalance, topic: str, *, since_ms: int) -> None:
        first = rebalance.causes[0]
        if first.cause in _NOTICED and self._deleted_topics.get(topic, -1) >= since_ms:
            rebalance.causes[0] = first._replace(cause=Cause.TOPIC_DELETED, reason=topic)
            self.began_count[first.cause] -= 1
            self.began_count[Cause.TOPIC_DELETED] += 1


def _moves(seen: _Seen, now: Assignments) -> Iterator[Move]:
    """Only of members whose assignment differs: in a large group most stay as they were."""
    before = {_identity(who): (who, data) for who, data in seen.assignments.items()}
    after = {_identity(who): (who, data) for who, data in now.items()}
    released, lost = seen.released, dict(_changed(before, after))
    for key, who in _changed(after, before):
        was = lost.pop(key, None) or released.get(key)
        if was is None or _identity(was) != _identity(who):
            yield Move(*key, was, who)
    for key, was in lost.items():
        yield Move(*key, was, None)
    seen.released = lost


_Owned = dict[str, tuple[Who, bytes]]


def _changed(one: _Owned, other: _Owned) -> Iterator[tuple[Partition, Who]]:
    """What the members of `one` own whose assignment is not the same in `other`."""
    for identity, (who, data) in one.items():
        if identity not in other or other[identity][1] != data:
            for partition in assigned_partitions(data):
                yield partition, who


def _identity(who: Who) -> str:
    """A static member is the same after its restart."""
    return who.member_id if who.instance_id is None else f"static {who.instance_id}"


def _caused(caused: Caused) -> dict[str, Any]:
    return {
        "cause": caused.cause.value,
        "who": _who(caused.who),
        "reason": caused.reason,
        "at_ms": caused.at_ms,
    }


def _move(move: Move) -> dict[str, Any]:
    return {
        "topic": move.topic,
        "partition": move.partition,
        "from": _who(move.was),
        "to": _who(move.now),
    }


def _who(who: Who | None) -> dict[str, Any] | None:
    return None if who is None else who._asdict()
