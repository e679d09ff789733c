"""Which offsets nobody will ask for again (KIP-211)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from ottla.coordinators.groups.answers import TopicPartition
from ottla.coordinators.groups.offsets import Offsets
from ottla.coordinators.groups.records import CommittedOffset, parse_offset_value
from ottla.coordinators.groups.state import GroupState

CONSUMER = "consumer"


class Subscriber(Protocol):
    """What expiry asks of a group."""

    @property
    def state(self) -> GroupState: ...
    @property
    def protocol_type(self) -> str | None: ...
    @property
    def state_changed_ms(self) -> int | None: ...
    @property
    def subscribed_topics(self) -> frozenset[str] | None: ...


def expired(
    offsets: Offsets, group: Subscriber, *, now_ms: int, retention_ms: int
) -> list[TopicPartition]:
    """Never one that is on its way, nor one of a topic that the group still reads."""
    since = _since(group)
    if since is None:
        return []
    is_read = group.subscribed_topics if group.state is GroupState.STABLE else None
    return [
        partition
        for partition, value in offsets.committed.items()
        if _is_over(parse_offset_value(value), since, now_ms, retention_ms)
        and not (is_read and partition[0] in is_read)
        and not offsets.is_in_flight(partition)
    ]


def _since(group: Subscriber) -> Callable[[CommittedOffset], int] | None:
    """From when on the retention of an offset runs; None if it does not."""
    if group.protocol_type is None:
        return _commit_ms  # it only stores offsets here
    if group.state is GroupState.EMPTY:
        empty_since_ms = group.state_changed_ms
        return _commit_ms if empty_since_ms is None else lambda _: empty_since_ms
    is_known = group.protocol_type == CONSUMER and group.subscribed_topics is not None
    return _commit_ms if group.state is GroupState.STABLE and is_known else None


def _commit_ms(committed: CommittedOffset) -> int:
    return committed.commit_ms


def _is_over(
    committed: CommittedOffset,
    since: Callable[[CommittedOffset], int],
    now_ms: int,
    retention_ms: int,
) -> bool:
    if committed.expire_ms is not None:
        return now_ms >= committed.expire_ms
    return now_ms - since(committed) >= retention_ms
