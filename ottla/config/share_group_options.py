"""Share groups (KIP-932), which a ZooKeeper-mode broker knows and describes but does not serve."""

from __future__ import annotations

from ottla.config.kind import BOOLEAN, INT, SHORT
from ottla.config.option import Option
from ottla.config.units import HOUR_MS, MINUTE_MS, SECOND_MS

GROUP_SHARE_ENABLE = Option(
    name="group.share.enable",
    type=BOOLEAN,
    default=False,
    internal=True,
    doc="Whether share groups are served.",
)
GROUP_SHARE_DELIVERY_COUNT_LIMIT = Option(
    name="group.share.delivery.count.limit",
    type=INT,
    default=5,
    at_least=2,
    at_most=10,
    doc="How often a record is delivered before it is given up.",
)
GROUP_SHARE_MAX_GROUPS = Option(
    name="group.share.max.groups",
    type=SHORT,
    default=10,
    at_least=1,
    at_most=100,
    doc="Share groups at most.",
)
GROUP_SHARE_MAX_SIZE = Option(
    name="group.share.max.size",
    type=SHORT,
    default=200,
    at_least=10,
    at_most=1000,
    doc="Members of a share group at most.",
)
GROUP_SHARE_PARTITION_MAX_RECORD_LOCKS = Option(
    name="group.share.partition.max.record.locks",
    type=INT,
    default=200,
    at_least=100,
    at_most=10_000,
    doc="Records of a partition that may be out at one time.",
)
GROUP_SHARE_RECORD_LOCK_DURATION_MS = Option(
    name="group.share.record.lock.duration.ms",
    type=INT,
    default=30 * SECOND_MS,
    at_least=1000,
    at_most=MINUTE_MS,
    doc="How long a record is out before others may get it.",
)
GROUP_SHARE_MIN_RECORD_LOCK_DURATION_MS = Option(
    name="group.share.min.record.lock.duration.ms",
    type=INT,
    default=15 * SECOND_MS,
    at_least=1000,
    at_most=30 * SECOND_MS,
    doc="The least a group may set that to.",
)
GROUP_SHARE_MAX_RECORD_LOCK_DURATION_MS = Option(
    name="group.share.max.record.lock.duration.ms",
    type=INT,
    default=MINUTE_MS,
    at_least=30 * SECOND_MS,
    at_most=HOUR_MS,
    doc="The most a group may set that to.",
)
GROUP_SHARE_SESSION_TIMEOUT_MS = Option(
    name="group.share.session.timeout.ms",
    type=INT,
    default=45 * SECOND_MS,
    at_least=1,
    doc="How long a silent member stays.",
)
GROUP_SHARE_MIN_SESSION_TIMEOUT_MS = Option(
    name="group.share.min.session.timeout.ms",
    type=INT,
    default=45 * SECOND_MS,
    at_least=1,
    doc="The least a group may set that to.",
)
GROUP_SHARE_MAX_SESSION_TIMEOUT_MS = Option(
    name="group.share.max.session.timeout.ms",
    type=INT,
    default=MINUTE_MS,
    at_least=1,
    doc="The most a group may set that to.",
)
GROUP_SHARE_HEARTBEAT_INTERVAL_MS = Option(
    name="group.share.heartbeat.interval.ms",
    type=INT,
    default=5 * SECOND_MS,
    at_least=1,
    doc="How often a member is heard.",
)
GROUP_SHARE_MIN_HEARTBEAT_INTERVAL_MS = Option(
    name="group.share.min.heartbeat.interval.ms",
    type=INT,
    default=5 * SECOND_MS,
    at_least=1,
    doc="The least a group may set that to.",
)
GROUP_SHARE_MAX_HEARTBEAT_INTERVAL_MS = Option(
    name="group.share.max.heartbeat.interval.ms",
    type=INT,
    default=15 * SECOND_MS,
    at_least=1,
    doc="The most a group may set that to.",
)
