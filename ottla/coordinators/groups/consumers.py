"""What consumers put into a group's opaque bytes, as far as a broker may know it.

Other clients put in what they like, so that bytes which cannot be read are no error. Only the
fields of version 0 are read: later versions begin with the same ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ottla.coordinators.groups.requests import Protocols
from ottla.protocol.codec import decode_at
from ottla.protocol.errors import ProtocolError
from ottla.protocol.internal.consumer_protocol import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
)

CONSUMER = "consumer"
_VERSION_BYTES = 2


def subscribed_topics(subscriptions: Iterable[bytes]) -> frozenset[str] | None:
    """What the members read together; None if one of them cannot be understood."""
    topics: list[str] = []
    try:
        for data in subscriptions:
            topics += decode_at(ConsumerProtocolSubscription, data, 0, _VERSION_BYTES)[0].topics
    except ProtocolError:
        return None
    return frozenset(topics)


def wants_the_same(one: Protocols, other: Protocols, *, protocol_type: str | None) -> bool:
    """Apart from what they own just now: consumers send it along, and it changes all the time."""
    if one == other:
        return True
    if protocol_type != CONSUMER or [name for name, _ in one] != [name for name, _ in other]:
        return False
    pairs = zip(one, other, strict=True)
    return all(_topics(data) == _topics(changed) for (_, data), (_, changed) in pairs)


def _topics(subscription: bytes) -> frozenset[str] | bytes:
    topics = subscribed_topics([subscription])
    return subscription if topics is None else topics


def assigned_partitions(assignment: bytes) -> Iterator[tuple[str, int]]:
    """Nothing for an empty assignment, which is what a member that the leader left out gets."""
    try:
        found, _ = decode_at(ConsumerProtocolAssignment, assignment, 0, _VERSION_BYTES)
    except ProtocolError:
        return
    for topic in found.assigned_partitions:
        for partition in topic.partitions:
            yield topic.topic, partition
