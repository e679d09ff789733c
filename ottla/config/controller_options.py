"""The controller: leaders, shutdown, and the ways to it."""

from __future__ import annotations

from ottla.config.kind import BOOLEAN, INT, LONG
from ottla.config.option import Option
from ottla.config.units import SECOND_MS

AUTO_LEADER_REBALANCE_ENABLE = Option(
    name="auto.leader.rebalance.enable",
    type=BOOLEAN,
    default=True,
    doc="Whether preferred leaders get their partitions back by themselves.",
)
LEADER_IMBALANCE_PER_BROKER_PERCENTAGE = Option(
    name="leader.imbalance.per.broker.percentage",
    type=INT,
    default=10,
    doc="The share of partitions led elsewhere at which they do.",
)
LEADER_IMBALANCE_CHECK_INTERVAL_SECONDS = Option(
    name="leader.imbalance.check.interval.seconds",
    type=LONG,
    default=300,
    at_least=1,
    doc="How often that share is computed.",
)
CONTROLLED_SHUTDOWN_ENABLE = Option(
    name="controlled.shutdown.enable",
    type=BOOLEAN,
    default=True,
    doc="Whether a stopping broker hands its partitions over first.",
)
CONTROLLED_SHUTDOWN_MAX_RETRIES = Option(
    name="controlled.shutdown.max.retries",
    type=INT,
    default=3,
    doc="How often it asks for that.",
)
CONTROLLED_SHUTDOWN_RETRY_BACKOFF_MS = Option(
    name="controlled.shutdown.retry.backoff.ms",
    type=LONG,
    default=5 * SECOND_MS,
    doc="How long it rests between two times.",
)
CONTROLLER_SOCKET_TIMEOUT_MS = Option(
    name="controller.socket.timeout.ms",
    type=INT,
    default=30 * SECOND_MS,
    doc="How long the controller waits for a broker's answer.",
)
ELIGIBLE_LEADER_REPLICAS_ENABLE = Option(
    name="eligible.leader.replicas.enable",
    type=BOOLEAN,
    default=False,
    doc="KIP-966's eligible leader replicas, which only KRaft has.",
)
