"""How a group's leader shares partitions out: anew each time, or so that none moves at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from struct import pack
from typing import NamedTuple

from ottla.protocol.codec import decode_at, encode
from ottla.protocol.internal.consumer_protocol import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
    TopicPartition,
)

COOPERATIVE = "cooperative-sticky"
EAGER = ("range", "roundrobin")
_SUBSCRIPTION_VERSION = 2
_VERSION_BYTES = 2


class Claim(NamedTuple):
    """What a member says that it owns, and since which generation."""

    generation: int
    partitions: tuple[int, ...]


def subscription(topic: str, claim: Claim) -> bytes:
    owned = [TopicPartition(topic=topic, partitions=list(claim.partitions))]
    message = ConsumerProtocolSubscription(
        topics=[topic],
        owned_partitions=owned if claim.partitions else [],
        generation_id=claim.generation,
    )
    return pack(">h", _SUBSCRIPTION_VERSION) + encode(message, _SUBSCRIPTION_VERSION)


def read_claim(data: bytes) -> Claim:
    found, _ = decode_at(ConsumerProtocolSubscription, data, _SUBSCRIPTION_VERSION, _VERSION_BYTES)
    partitions = (index for topic in found.owned_partitions for index in topic.partitions)
    return Claim(found.generation_id, tuple(partitions))


def assignment(topic: str, partitions: Sequence[int]) -> bytes:
    assigned = [TopicPartition(topic=topic, partitions=list(partitions))]
    return pack(">h", 0) + encode(ConsumerProtocolAssignment(assigned_partitions=assigned), 0)


def read_assignment(data: bytes) -> tuple[int, ...]:
    """None at all for those whom the leader did not know."""
    if not data:
        return ()
    found, _ = decode_at(ConsumerProtocolAssignment, data, 0, _VERSION_BYTES)
    return tuple(index for topic in found.assigned_partitions for index in topic.partitions)


def assign(
    protocol: str, claims: Mapping[str, Claim], count: int, chance: Random
) -> dict[str, list[int]]:
    """By member id. A cooperative leader leaves out what its owner must give up first.

    Each time another member is the first, so that no two proposals are alike.
    """
    members = chance.sample(sorted(claims), len(claims))
    if protocol == EAGER[0]:
        share = -(-count // len(members))
        goal = {index: members[index // share] for index in range(count)}
    else:
        goal = {index: members[index % len(members)] for index in range(count)}
    if protocol == COOPERATIVE:
        owners = _owners(claims)
        most = -(-count // len(members))
        goal = _least_moves(goal, owners, members, most)
        goal = {index: to for index, to in goal.items() if owners.get(index, to) == to}
    return {id: [index for index, to in goal.items() if to == id] for id in members}


def _owners(claims: Mapping[str, Claim]) -> dict[int, str]:
    """Of two who claim a partition the one of the later generation is right."""
    since: dict[int, int] = {}
    owners: dict[int, str] = {}
    for id, claim in claims.items():
        for index in claim.partitions:
            if claim.generation > since.get(index, -1):
                since[index], owners[index] = claim.generation, id
    return owners


def _least_moves(
    goal: dict[int, str], owners: dict[int, str], members: list[str], most: int
) -> dict[int, str]:
    shares = dict.fromkeys(members, 0)
    kept: dict[int, str] = {}
    for index in goal:
        owner = owners.get(index)
        if owner is not None and shares[owner] < most:
            kept[index] = owner
            shares[owner] += 1
    for index in goal:
        if index not in kept:
            least = min(members, key=lambda id: shares[id])
            kept[index] = least
            shares[least] += 1
    return dict(sorted(kept.items()))
