"""What Kafka 2.0 to 3.9 writes into the nodes of the tree, except a broker's registration (pure).

The order of the fields is theirs. Where Kafka's own order is by hash (partitions, configs), what
is read keeps its order when it is written again.
"""

from __future__ import annotations

from base64 import urlsafe_b64decode
from collections.abc import Mapping
from dataclasses import dataclass, field

from ottla.protocol.readable import uuid_text
from ottla.store.fields import Fields, decode_number, encode_json
from ottla.store.paths import (
    CLUSTER_ID,
    CONTROLLER,
    CONTROLLER_EPOCH,
    FEATURE,
    LATEST_PRODUCER_ID_BLOCK,
    PREFERRED_REPLICA_ELECTION,
    REASSIGN_PARTITIONS,
)

Replicas = tuple[int, ...]
TopicPartition = tuple[str, int]

NO_LEADER = -1
RECOVERED, RECOVERING = 0, 1  # leader recovery states, KIP-704
LOG_DIR_FAILED = 1  # the only event there is


@dataclass(frozen=True, slots=True)
class Controller:
    """Version 2 since Kafka 3.4, for the move to KRaft."""

    broker_id: int
    timestamp_ms: int
    kraft_epoch: int = -1
    version: int = 2

    def encode(self) -> bytes:
        values: dict[str, object] = {
            "version": self.version,
            "brokerid": self.broker_id,
            "timestamp": str(self.timestamp_ms),
        }
        if self.version >= 2:
            values["kraftControllerEpoch"] = self.kraft_epoch
        return encode_json(values)

    @classmethod
    def decode(cls, data: bytes, path: str = CONTROLLER) -> Controller:
        fields = Fields(data, path)
        return cls(
            broker_id=fields.number("brokerid"),
            timestamp_ms=fields.number_in_text("timestamp"),
            kraft_epoch=fields.number("kraftControllerEpoch", -1),
            version=fields.version(oldest=1, newest=2),
        )


@dataclass(frozen=True, slots=True)
class ControllerEpoch:
    epoch: int

    def encode(self) -> bytes:
        return b"%d" % self.epoch

    @classmethod
    def decode(cls, data: bytes, path: str = CONTROLLER_EPOCH) -> ControllerEpoch:
        return cls(decode_number(data, path))


@dataclass(frozen=True, slots=True)
class TopicAssignment:
    """Version 2 (Kafka 2.4) added reassignments (KIP-455), version 3 (2.8) the id (KIP-516)."""

    replicas: Mapping[int, Replicas]  # by partition; the first is the preferred leader
    topic_id: bytes | None = None
    adding: Mapping[int, Replicas] = field(default_factory=dict)
    removing: Mapping[int, Replicas] = field(default_factory=dict)
    version: int = 3

    def encode(self) -> bytes:
        reassigned = {"adding_replicas": self.adding, "removing_replicas": self.removing}
        if self.version < 3:
            plain = {"version": self.version, "partitions": self.replicas}
            return encode_json({**plain, **reassigned} if self.version == 2 else plain)
        identity = {} if self.topic_id is None else {"topic_id": uuid_text(self.topic_id)}
        return encode_json({"partitions": self.replicas, **identity, **reassigned, "version": 3})

    @classmethod
    def decode(cls, data: bytes, path: str) -> TopicAssignment:
        fields = Fields(data, path)
        return cls(
            replicas=fields.numbers_by_number("partitions"),
            topic_id=_topic_id(fields),
            adding=fields.numbers_by_number("adding_replicas", {}),
            removing=fields.numbers_by_number("removing_replicas", {}),
            version=fields.version(oldest=1, newest=3),
        )


def _topic_id(fields: Fields) -> bytes | None:
    text = fields.optional_text("topic_id")
    if text is None:
        return None
    try:
        topic_id = urlsafe_b64decode(text + "==")
    except ValueError:
        topic_id = b""
    if len(topic_id) != 16:
        raise fields.malformed(f"the topic id {text!r}, which is not 22 characters of base64,")
    return topic_id


@dataclass(frozen=True, slots=True)
class PartitionState:
    leader: int
    leader_epoch: int
    isr: Replicas
    controller_epoch: int
    leader_recovery_state: int = RECOVERED

    def encode(self) -> bytes:
        values: dict[str, object] = {
            "controller_epoch": self.controller_epoch,
            "leader": self.leader,
            "version": 1,
        }
        if self.leader_recovery_state != RECOVERED:
            values["leader_recovery_state"] = self.leader_recovery_state
        return encode_json(values | {"leader_epoch": self.leader_epoch, "isr": self.isr})

    @classmethod
    def decode(cls, data: bytes, path: str) -> PartitionState:
        fields = Fields(data, path)
        return cls(
            leader=fields.number("leader"),
            leader_epoch=fields.number("leader_epoch"),
            isr=fields.numbers("isr"),
            controller_epoch=fields.number("controller_epoch"),
            leader_recovery_state=fields.number("leader_recovery_state", RECOVERED),
        )


@dataclass(frozen=True, slots=True)
class Config:
    """Overrides of a topic, broker, user, client or address; quotas and credentials, too."""

    values: Mapping[str, str]

    def encode(self) -> bytes:
        return encode_json({"version": 1, "config": self.values})

    @classmethod
    def decode(cls, data: bytes, path: str) -> Config:
        fields = Fields(data, path)
        fields.version(oldest=1, newest=1)
        return cls(fields.texts_by_name("config"))


@dataclass(frozen=True, slots=True)
class ConfigChange:
    """Version 1, which could not name a client of a user, is only read."""

    entity_path: str

    def encode(self) -> bytes:
        return encode_json({"version": 2, "entity_path": self.entity_path})

    @classmethod
    def decode(cls, data: bytes, path: str) -> ConfigChange:
        fields = Fields(data, path)
        if fields.version(oldest=1, newest=2) == 1:
            return cls(f"{fields.text('entity_type')}/{fields.text('entity_name')}")
        return cls(fields.text("entity_path"))


@dataclass(frozen=True, slots=True)
class ReassignPartitions:
    replicas: Mapping[TopicPartition, Replicas]

    def encode(self) -> bytes:
        partitions = [
            {"topic": topic, "partition": index, "replicas": replicas}
            for (topic, index), replicas in self.replicas.items()
        ]
        return encode_json({"version": 1, "partitions": partitions})

    @classmethod
    def decode(cls, data: bytes, path: str = REASSIGN_PARTITIONS) -> ReassignPartitions:
        partitions = Fields(data, path).objects("partitions")
        return cls({_partition(fields): fields.numbers("replicas") for fields in partitions})


@dataclass(frozen=True, slots=True)
class PreferredReplicaElection:
    partitions: tuple[TopicPartition, ...]

    def encode(self) -> bytes:
        return _encode_partitions(self.partitions)

    @classmethod
    def decode(
        cls, data: bytes, path: str = PREFERRED_REPLICA_ELECTION
    ) -> PreferredReplicaElection:
        return cls(_decode_partitions(data, path))


@dataclass(frozen=True, slots=True)
class IsrChange:
    partitions: tuple[TopicPartition, ...]

    def encode(self) -> bytes:
        return _encode_partitions(self.partitions)

    @classmethod
    def decode(cls, data: bytes, path: str) -> IsrChange:
        return cls(_decode_partitions(data, path))


def _encode_partitions(partitions: tuple[TopicPartition, ...]) -> bytes:
    listed = [{"topic": topic, "partition": index} for topic, index in partitions]
    return encode_json({"version": 1, "partitions": listed})


def _decode_partitions(data: bytes, path: str) -> tuple[TopicPartition, ...]:
    return tuple(_partition(fields) for fields in Fields(data, path).objects("partitions"))


def _partition(fields: Fields) -> TopicPartition:
    return fields.text("topic"), fields.number("partition")


@dataclass(frozen=True, slots=True)
class LogDirEvent:
    broker_id: int
    event: int = LOG_DIR_FAILED

    def encode(self) -> bytes:
        return encode_json({"version": 1, "broker": self.broker_id, "event": self.event})

    @classmethod
    def decode(cls, data: bytes, path: str) -> LogDirEvent:
        fields = Fields(data, path)
        return cls(fields.number("broker"), fields.number("event"))


@dataclass(frozen=True, slots=True)
class ClusterId:
    id: str

    def encode(self) -> bytes:
        return encode_json({"version": "1", "id": self.id})  # a text, here alone

    @classmethod
    def decode(cls, data: bytes, path: str = CLUSTER_ID) -> ClusterId:
        return cls(Fields(data, path).text("id"))


@dataclass(frozen=True, slots=True)
class ProducerIdBlock:
    broker_id: int
    first: int
    last: int

    def encode(self) -> bytes:
        block = {"block_start": str(self.first), "block_end": str(self.last)}
        return encode_json({"version": 1, "broker": self.broker_id, **block})

    @classmethod
    def decode(cls, data: bytes, path: str = LATEST_PRODUCER_ID_BLOCK) -> ProducerIdBlock:
        fields = Fields(data, path)
        first, last = fields.number_in_text("block_start"), fields.number_in_text("block_end")
        return cls(fields.number("broker"), first, last)


@dataclass(frozen=True, slots=True)
class Feature:
    """Finalized features (KIP-584). Version 1 has lowest levels beside the highest."""

    is_enabled: bool
    features: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    version: int = 2

    def encode(self) -> bytes:
        status = int(self.is_enabled)
        return encode_json({"features": self.features, "version": self.version, "status": status})

    @classmethod
    def decode(cls, data: bytes, path: str = FEATURE) -> Feature:
        fields = Fields(data, path)
        version = fields.version(oldest=1, newest=2)
        return cls(fields.number("status") == 1, fields.levels("features"), version)


@dataclass(frozen=True, slots=True)
class ConsumerOffset:
    """Where a group stands that commits to the store (OffsetCommit version 0)."""

    offset: int

    def encode(self) -> bytes:
        return b"%d" % self.offset

    @classmethod
    def decode(cls, data: bytes, path: str) -> ConsumerOffset:
        return cls(decode_number(data, path))
