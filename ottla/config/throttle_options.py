"""Options of brokers that exist only while it runs: never in server.properties."""

from __future__ import annotations

from ottla.config.kind import LONG
from ottla.config.option import Change, Option
from ottla.config.units import LONG_MAX

LEADER_REPLICATION_THROTTLED_RATE = Option(
    name="leader.replication.throttled.rate",
    type=LONG,
    default=LONG_MAX,
    at_least=0,
    change=Change.LIVE,
    doc="Bytes a second that leaders send for throttled replicas.",
)
FOLLOWER_REPLICATION_THROTTLED_RATE = Option(
    name="follower.replication.throttled.rate",
    type=LONG,
    default=LONG_MAX,
    at_least=0,
    change=Change.LIVE,
    doc="Bytes a second that followers fetch for throttled replicas.",
)
REPLICA_ALTER_LOG_DIRS_IO_MAX_BYTES_PER_SECOND = Option(
    name="replica.alter.log.dirs.io.max.bytes.per.second",
    type=LONG,
    default=LONG_MAX,
    at_least=0,
    change=Change.LIVE,
    doc="Bytes a second that replicas move between log directories.",
)
