"""Who leads instead: a client that asked the wrong broker is told, and need not ask (KIP-951)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ottla.handlers.call import Call
from ottla.metadata.image import NO_LEADER
from ottla.replication.leadership import NO_EPOCH


class CurrentLeader(NamedTuple):
    leader_id: int
    leader_epoch: int


class Node(NamedTuple):
    """A broker, and where it is reached from the listener that the request came in through."""

    node_id: int
    host: str
    port: int
    rack: str | None


def current_leader(call: Call, topic: str, index: int) -> CurrentLeader:
    """As its replica here knows it; without one, as the whole cluster is told."""
    services = call.services
    held = services.replicas.partitions.get((topic, index))
    if held is not None:
        return CurrentLeader(held.leader, held.leader_epoch)
    known = services.metadata.image.partition(topic, index)
    if known is not None:
        return CurrentLeader(known.leader, known.leader_epoch)
    return CurrentLeader(NO_LEADER, NO_EPOCH)


def nodes(call: Call, leaders: Iterable[int]) -> list[Node]:
    """Each of them once, and none that cannot be reached."""
    brokers = call.services.metadata.image.brokers
    found = []
    for leader in dict.fromkeys(leaders):
        broker = brokers.get(leader)
        endpoint = broker.endpoint(call.listener) if broker is not None else None
        if broker is not None and endpoint is not None:
            found.append(Node(broker.id, endpoint.host, endpoint.port, broker.rack))
    return found
