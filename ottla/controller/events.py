"""What the controller reacts to. Equal events that wait are one: each looks at the whole anew."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TypeAlias

from ottla.controller.context import TopicPartition
from ottla.protocol.apis.leader_and_isr import LeaderAndIsrResponse
from ottla.protocol.apis.stop_replica import StopReplicaResponse
from ottla.protocol.errors import ErrorCode


class ElectionType(IntEnum):
    PREFERRED = 0
    UNCLEAN = 1


@dataclass(frozen=True, slots=True)
class ControllerChange:
    """The node of the active controller has come, changed or gone."""


@dataclass(frozen=True, slots=True)
class SessionExpired:
    """The store has taken us for dead; our registration is gone."""


@dataclass(frozen=True, slots=True)
class BrokerChange:
    """Brokers came or went."""


@dataclass(frozen=True, slots=True)
class BrokerModification:
    broker: int


@dataclass(frozen=True, slots=True)
class TopicChange:
    """Topics came or went."""


@dataclass(frozen=True, slots=True)
class PartitionModification:
    topic: str


@dataclass(frozen=True, slots=True)
class TopicDeletionRequest:
    """Somebody wants topics deleted."""


@dataclass(frozen=True, slots=True)
class IsrChangeNotification:
    """Leaders have changed in-sync sets."""


@dataclass(frozen=True, slots=True)
class LogDirFailure:
    """Brokers have lost a disk."""


@dataclass(frozen=True, slots=True)
class PreferredElectionRequest:
    """Kafka's old tool asks for preferred leaders by a node in the store."""


@dataclass(frozen=True, slots=True)
class ReassignmentRequest:
    """Kafka's old tool asks for partitions to be moved by a node in the store."""


@dataclass(frozen=True, slots=True)
class ReassignmentResumption:
    """The controller before us has left partitions on their way."""


@dataclass(frozen=True, slots=True)
class BalanceLeaders:
    """It is time to see whether leadership is spread as the assignment wants it."""


@dataclass(frozen=True, slots=True, eq=False)
class ReplicaAnswers:
    """A broker has answered LeaderAndIsr: which of its replicas have a disk that works."""

    broker: int
    answer: LeaderAndIsrResponse


@dataclass(frozen=True, slots=True, eq=False)
class DeletionAnswers:
    """A broker has answered StopReplica for replicas that were to be deleted."""

    broker: int
    answer: StopReplicaResponse
    asked: tuple[TopicPartition, ...]


@dataclass(frozen=True, slots=True)
class ElectionResult:
    code: ErrorCode
    message: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class LeaderElection:
    """`partitions` None means all."""

    election_type: ElectionType
    partitions: tuple[TopicPartition, ...] | None
    done: asyncio.Future[dict[TopicPartition, ElectionResult]] = field(repr=False)


@dataclass(frozen=True, slots=True)
class ReassignmentResult:
    code: ErrorCode
    message: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class ReassignmentAlteration:
    """Where partitions are to go; None takes back what was begun."""

    wanted: Mapping[TopicPartition, tuple[int, ...] | None]
    done: asyncio.Future[dict[TopicPartition, ReassignmentResult]] = field(repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class ControlledShutdown:
    broker: int
    broker_epoch: int
    done: asyncio.Future[list[TopicPartition]] = field(repr=False)


Request: TypeAlias = LeaderElection | ReassignmentAlteration | ControlledShutdown

Event: TypeAlias = (
    ControllerChange
    | SessionExpired
    | BrokerChange
    | BrokerModification
    | TopicChange
    | PartitionModification
    | TopicDeletionRequest
    | IsrChangeNotification
    | LogDirFailure
    | PreferredElectionRequest
    | ReassignmentRequest
    | ReassignmentResumption
    | BalanceLeaders
    | ReplicaAnswers
    | DeletionAnswers
    | Request
)
