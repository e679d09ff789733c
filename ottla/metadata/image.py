"""What the cluster looks like: brokers, topics and partitions as one value that never changes.

A change is a new image which shares everything that stayed as it was.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

NO_LEADER = -1
# Sent in place of a leader while the partition's topic is being deleted.
LEADER_DURING_DELETE = -2


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a listener of a broker is reached; `security_protocol` is Kafka's number for it."""

    listener: str
    host: str
    port: int
    security_protocol: int


@dataclass(frozen=True, slots=True)
class BrokerImage:
    id: int
    endpoints: tuple[Endpoint, ...]
    rack: str | None

    def endpoint(self, listener: str) -> Endpoint | None:
        """Where this broker is reached by those who came in through `listener`."""
        return next((known for known in self.endpoints if known.listener == listener), None)


@dataclass(frozen=True, slots=True)
class PartitionImage:
    index: int
    leader: int
    leader_epoch: int
    isr: tuple[int, ...]
    replicas: tuple[int, ...]
    offline_replicas: tuple[int, ...]
    controller_epoch: int


@dataclass(frozen=True, slots=True)
class TopicImage:
    """A topic with its partitions in the order of their indexes."""

    name: str
    topic_id: bytes
    partitions: tuple[PartitionImage, ...]

    def partition(self, index: int) -> PartitionImage | None:
        partitions = self.partitions
        if 0 <= index < len(partitions) and partitions[index].index == index:
            return partitions[index]
        # Some partition before it is not known yet: its state has not been sent to us.
        return next((known for known in partitions if known.index == index), None)


@dataclass(frozen=True, slots=True)
class ClusterImage:
    """`topic_names` finds a topic by its id; a topic without an id is not in it."""

    cluster_id: str
    controller_id: int = -1
    brokers: Mapping[int, BrokerImage] = field(default_factory=dict)
    topics: Mapping[str, TopicImage] = field(default_factory=dict)
    topic_names: Mapping[bytes, str] = field(default_factory=dict)

    def partition(self, topic: str, index: int) -> PartitionImage | None:
        known = self.topics.get(topic)
        return known.partition(index) if known else None
