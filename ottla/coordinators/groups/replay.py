"""What is left of the offsets log becomes groups and offsets again, in small steps."""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct
from typing import Protocol

from ottla.coordinators.groups.offsets import Offsets
from ottla.coordinators.groups.records import (
    GroupKey,
    OffsetKey,
    check_offset_value,
    parse_key,
)
from ottla.coordinators.replay import UNREADABLE, Replay

# How keys of offsets begin. Those of groups count at once, whatever transaction they are in.
OFFSET_VERSIONS = (b"\0\1", b"\0\0")
_INT32 = Struct(">i")


class State(Protocol):
    """What is restored."""

    def offsets_of(self, group_id: str) -> Offsets: ...

    def pending_offsets_of(self, group_id: str, producer_id: int) -> Offsets:
        """Some of which belong to a transaction of that producer."""
        ...

    def restore_group(self, group_id: str, value: bytes) -> None: ...


def restore(replay: Replay, state: State) -> Iterator[None]:
    """Hands over everything that is left, groups and offsets in the order of the log."""
    yield from replay.each(_Restored(state).take)
    _restore_open(replay, state)


class _Restored:
    """Remembers names, so as not to make the same strings over and over."""

    __slots__ = ("_offsets", "_state", "_topics")

    def __init__(self, state: State) -> None:
        self._state = state
        self._offsets: dict[bytes, Offsets] = {}
        self._topics: dict[bytes, str] = {}

    def take(self, key: bytes, value: bytes) -> None:
        if key[:2] not in OFFSET_VERSIONS:
            found = parse_key(key)
            if isinstance(found, GroupKey):
                self._state.restore_group(found.group, value)
            return
        # As `parse_key`.
        middle = 4 + (key[2] << 8 | key[3])
        last = middle + 2 + (key[middle] << 8 | key[middle + 1])
        group, name = key[4:middle], key[middle + 2 : last]
        (partition,) = _INT32.unpack_from(key, last)
        topic = self._topics.get(name)
        if topic is None:
            topic = self._topics[name] = name.decode()
        check_offset_value(value)
        offsets = self._offsets.get(group)
        if offsets is None:
            offsets = self._offsets[group] = self._state.offsets_of(group.decode())
        offsets.committed[topic, partition] = value


def _restore_open(replay: Replay, state: State) -> None:
    for producer_id, pending in replay.open.items():
        for key, (value, position) in pending.items():
            try:
                _restore_pending(replay, state, producer_id, key, value, position)
            except UNREADABLE as error:
                replay.pass_over(f"the record with key {key!r}", error)


def _restore_pending(
    replay: Replay, state: State, producer_id: int, key: bytes, value: bytes, position: int
) -> None:
    found = parse_key(key)
    assert isinstance(found, OffsetKey)
    check_offset_value(value)
    offsets = state.pending_offsets_of(found.group, producer_id)
    partition = (found.topic, found.partition)
    committed = offsets.committed.get(partition)
    later = replay.positions.get(key, -1)
    if committed is None and later > position:
        return  # it was deleted while it waited
    offsets.begin_transactional(producer_id, partition, value, position=position)
    if committed is not None and later > position:
        offsets.apply(partition, committed, position=later)
