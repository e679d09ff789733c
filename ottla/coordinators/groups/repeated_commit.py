"""The commit of one offset, that comes again and again with nothing but another offset.

Who commits, what, and the bytes of its record are known; whether that still holds is looked at each
time, and where it does not, `GroupCoordinator.commit_rows` says why. It is also the plain way to do
the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

from ottla.coordinators.groups.answers import TopicPartition
from ottla.coordinators.groups.committing import meaning
from ottla.coordinators.groups.partition import GroupPartition, HostedGroup
from ottla.coordinators.groups.records import PLAIN_BYTES, offset_key, plain_value_of
from ottla.protocol.errors import ErrorCode
from ottla.protocol.varint import write_varint
from ottla.timing.clock import Clock

_TWO_BYTES_FROM = 1 << 6
_ONE_BYTE = tuple(map(write_varint, range(_TWO_BYTES_FROM)))  # offset deltas
_MOST_OVERHEAD = 10  # lengths, offset, and what has no length of its own
_END = b"\0"  # no headers


class Committer(NamedTuple):
    """Who commits; by default nobody in particular."""

    group_id: str
    member_id: str = ""
    instance_id: str | None = None
    generation: int = -1


class Counts(Protocol):
    committed_count: int


class RepeatedCommit:
    """By one committer, of one partition, while one and the same group is led here.

    One after the other: so it is itself what is on its way, a record for the log and who waits for
    it. Keeps the port `effects.RecordRows`.
    """

    __slots__ = (
        "_after_delta", "_before_delta", "_counts", "_hosted", "_now_ms", "_partition", "_place",
        "_places", "_position", "_start_alone", "_to", "_value", "_who", "size_bytes",
    )  # fmt: skip

    count = 1

    def __init__(
        self,
        who: Committer,
        place: TopicPartition,
        partition: GroupPartition,
        hosted: HostedGroup,
        *,
        clock: Clock,
        counts: Counts,
    ) -> None:
        self._who = who
        self._partition = partition
        self._hosted = hosted
        self._now_ms = clock.now_ms
        self._counts = counts
        self._place = place
        self._places = ((place,),)
        key = offset_key(hosted.key_start, *place)
        self._after_delta = write_varint(len(key)) + key + write_varint(PLAIN_BYTES)
        # Attributes and timestamp come before it, and are 0.
        length = 2 + 1 + len(self._after_delta) + PLAIN_BYTES + len(_END)
        self._before_delta = write_varint(length) + b"\0\0"
        self._start_alone = self._before_delta + _ONE_BYTE[0] + self._after_delta
        self.size_bytes = length + _MOST_OVERHEAD
        self._value = b""
        self._position = 0
        self._to: Callable[[ErrorCode], None] | None = None

    def begin(self, offset_and_epoch: bytes | bytearray, to: Callable[[ErrorCode], None]) -> bool:
        """False, and nothing is done, if this may not be committed any more. `to` comes later."""
        group_id, member_id, instance_id, generation = self._who
        partition, hosted = self._partition, self._hosted
        runtime = partition.runtime
        if (
            runtime.is_closed
            or partition.groups.get(group_id) is not hosted
            or self._to is not None
        ):
            return False
        now_ms = self._now_ms()
        error, effects = hosted.group.check_commit(
            member_id=member_id, instance_id=instance_id, generation=generation, now_ms=now_ms
        )
        if error:
            return False
        if effects:
            runtime.carry_out(hosted.group, effects, hosted.timers, now_ms=now_ms)
        self._counts.committed_count += 1
        self._value = plain_value_of(offset_and_epoch, now_ms)
        self._position = partition.next_position()
        self._to = to
        hosted.offsets.stage_together(self, self._places)
        runtime.append_rows((self,), self._stored, size_bytes=self.size_bytes)
        return True

    def encode(self, first: int) -> bytes:
        if not first:
            return self._start_alone + self._value + _END
        if first < _TWO_BYTES_FROM:
            start = self._before_delta + _ONE_BYTE[first]
            return start + self._after_delta + self._value + _END
        body = b"\0\0" + write_varint(first) + self._after_delta + self._value + _END
        return write_varint(len(body)) + body

    def _stored(self, error: ErrorCode) -> None:
        to, self._to = self._to, None
        assert to is not None, f"nobody waits for the offset of {self._place}"
        offsets = self._hosted.offsets
        offsets.unstage_together(self)
        if error:
            error = meaning(error)
        else:
            offsets.apply(self._place, self._value, position=self._position)
        to(error)
