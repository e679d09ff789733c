"""Takes offsets, and groups that have none left, out of the log and then out of the coordinator."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ottla.coordinators.effects import Record
from ottla.coordinators.groups.answers import TopicPartition
from ottla.coordinators.groups.committing import meaning
from ottla.coordinators.groups.partition import GroupPartition, HostedGroup
from ottla.coordinators.groups.records import group_tombstone, offset_key
from ottla.coordinators.groups.state import GroupState
from ottla.protocol.errors import ErrorCode
from ottla.timing.clock import Clock

# Tombstones of one append: few enough for any batch size that lets commits through.
_MOST = 1000


class Removal:
    """A group that goes is gone for its clients at once, as in Kafka, and comes back if refused.

    Whoever joins or commits meanwhile starts a new group, whose records follow the tombstones.
    """

    __slots__ = ("_clock", "_dies", "_error", "_hosted", "_left", "_partition", "_to")

    def __init__(
        self,
        partition: GroupPartition,
        hosted: HostedGroup,
        clock: Clock,
        to: Callable[[ErrorCode], None],
    ) -> None:
        self._partition = partition
        self._hosted = hosted
        self._clock = clock
        self._to = to
        self._dies = False
        self._left = 0
        self._error = ErrorCode.NONE

    def begin(self, gone: Sequence[TopicPartition], *, whole_group: bool = False) -> None:
        """Of `gone` whatever is known; the group too if it is empty and nothing is left of it."""
        hosted, group = self._hosted, self._hosted.group
        known = hosted.offsets.known()
        wanted = dict.fromkeys(gone)
        places = known if whole_group else [place for place in known if place in wanted]
        is_idle = group.state is GroupState.EMPTY and not group.pending_members
        has_more = len(places) < len(known) or hosted.offsets.producer_ids
        self._dies = whole_group or (is_idle and not has_more)
        pieces = [places[start : start + _MOST] for start in range(0, len(places), _MOST)]
        # Of a group that only ever stored offsets nothing else is in the log.
        last = [group_tombstone(group.id)] if self._dies and group.generation > 0 else []
        if last and not pieces:
            pieces = [[]]
        if self._dies:
            self._partition.groups.pop(group.id, None)
        self._left = len(pieces)
        for number, piece in enumerate(pieces):
            self._append(piece, last if number == len(pieces) - 1 else [])
        if not pieces:
            self._end()

    def _append(self, places: list[TopicPartition], last: list[Record]) -> None:
        start = self._hosted.key_start
        records = [Record(offset_key(start, *place), None) for place in places]
        self._partition.runtime.append([*records, *last], lambda error: self._stored(places, error))

    def _stored(self, places: list[TopicPartition], error: ErrorCode) -> None:
        self._error = self._error or meaning(error)
        if not error:
            position = self._partition.next_position()
            for place in places:
                self._hosted.offsets.apply(place, None, position=position)
        self._left -= 1
        if not self._left:
            self._end()

    def _end(self) -> None:
        group_id, groups = self._hosted.group.id, self._partition.groups
        if self._error and self._dies and group_id not in groups:
            groups[group_id] = self._hosted
        elif self._dies and self._hosted.group.state is GroupState.EMPTY:
            now_ms = self._clock.now_ms()
            effects = self._hosted.group.die(now_ms=now_ms)
            self._partition.carry_out(self._hosted, effects, now_ms=now_ms)
        self._to(self._error)
