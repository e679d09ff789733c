"""Replicas: how followers fetch, when they count as in sync."""

from __future__ import annotations

from ottla.config.kind import BOOLEAN, INT, LONG, STRING
from ottla.config.log_options import LOG_DIRS
from ottla.config.option import Change, Computed, Option
from ottla.config.units import KIB, MIB, MINUTE_MS, SECOND_MS
from ottla.config.validators import version

MIN_INSYNC_REPLICAS = Option(
    name="min.insync.replicas",
    type=INT,
    default=1,
    at_least=1,
    change=Change.LIVE,
    per_topic="min.insync.replicas",
    doc="In-sync replicas that acks=all needs.",
)
UNCLEAN_LEADER_ELECTION_ENABLE = Option(
    name="unclean.leader.election.enable",
    type=BOOLEAN,
    default=False,
    change=Change.LIVE,
    per_topic="unclean.leader.election.enable",
    doc="Whether a replica that is not in sync may lead when no other can: records are lost.",
)
UNCLEAN_LEADER_ELECTION_INTERVAL_MS = Option(
    name="unclean.leader.election.interval.ms",
    type=LONG,
    default=5 * MINUTE_MS,
    at_least=1,
    internal=True,
    doc="How often KRaft looks for partitions that need that.",
)
REPLICA_LAG_TIME_MAX_MS = Option(
    name="replica.lag.time.max.ms",
    type=LONG,
    default=30 * SECOND_MS,
    doc="A follower that has not caught up for this time leaves the in-sync replicas.",
)
REPLICA_SOCKET_TIMEOUT_MS = Option(
    name="replica.socket.timeout.ms",
    type=INT,
    default=30 * SECOND_MS,
    doc="How long a follower waits for the leader's answer.",
)
REPLICA_SOCKET_RECEIVE_BUFFER_BYTES = Option(
    name="replica.socket.receive.buffer.bytes",
    type=INT,
    default=64 * KIB,
    doc="The follower's SO_RCVBUF; -1 leaves it to the system.",
)
REPLICA_FETCH_MAX_BYTES = Option(
    name="replica.fetch.max.bytes",
    type=INT,
    default=1 * MIB,
    at_least=0,
    doc="Bytes a follower asks for of each partition.",
)
REPLICA_FETCH_WAIT_MAX_MS = Option(
    name="replica.fetch.wait.max.ms",
    type=INT,
    default=500,
    doc="How long the leader may hold a follower's fetch.",
)
REPLICA_FETCH_MIN_BYTES = Option(
    name="replica.fetch.min.bytes",
    type=INT,
    default=1,
    doc="Bytes for which the leader holds a follower's fetch.",
)
REPLICA_FETCH_RESPONSE_MAX_BYTES = Option(
    name="replica.fetch.response.max.bytes",
    type=INT,
    default=10 * MIB,
    at_least=0,
    doc="Bytes a follower takes in one answer.",
)
REPLICA_FETCH_BACKOFF_MS = Option(
    name="replica.fetch.backoff.ms",
    type=INT,
    default=SECOND_MS,
    at_least=0,
    doc="How long a follower rests after a failed fetch.",
)
REPLICA_HIGH_WATERMARK_CHECKPOINT_INTERVAL_MS = Option(
    name="replica.high.watermark.checkpoint.interval.ms",
    type=LONG,
    default=5 * SECOND_MS,
    doc="How often high watermarks are written down.",
)
REPLICA_SELECTOR_CLASS = Option(
    name="replica.selector.class",
    type=STRING,
    default=None,
    doc="A class that picks the replica a consumer should read from.",
)
NUM_REPLICA_FETCHERS = Option(
    name="num.replica.fetchers",
    type=INT,
    default=1,
    change=Change.LIVE,
    doc="Connections a follower fetches by, for each leader.",
)
NUM_REPLICA_ALTER_LOG_DIRS_THREADS: Option[int] = Option(
    name="num.replica.alter.log.dirs.threads",
    type=INT,
    default=Computed(lambda config: len(config[LOG_DIRS].split(","))),
    doc="Threads that move replicas between log directories; one for each by default.",
)
FETCH_MAX_BYTES = Option(
    name="fetch.max.bytes",
    type=INT,
    default=55 * MIB,
    at_least=1 * KIB,
    doc="Bytes that one fetch may return, whatever it asks for.",
)
MAX_INCREMENTAL_FETCH_SESSION_CACHE_SLOTS = Option(
    name="max.incremental.fetch.session.cache.slots",
    type=INT,
    default=1000,
    at_least=0,
    doc="Fetch sessions that are remembered.",
)
FETCH_PURGATORY_PURGE_INTERVAL_REQUESTS = Option(
    name="fetch.purgatory.purge.interval.requests",
    type=INT,
    default=1000,
    doc="Waiting fetches after which the finished ones are purged.",
)
PRODUCER_PURGATORY_PURGE_INTERVAL_REQUESTS = Option(
    name="producer.purgatory.purge.interval.requests",
    type=INT,
    default=1000,
    doc="The same for waiting produces.",
)
DELETE_RECORDS_PURGATORY_PURGE_INTERVAL_REQUESTS = Option(
    name="delete.records.purgatory.purge.interval.requests",
    type=INT,
    default=1,
    doc="The same for waiting deletions of records.",
)
INTER_BROKER_PROTOCOL_VERSION = Option(
    name="inter.broker.protocol.version",
    type=STRING,
    default="3.9-IV0",
    validator=version,
    doc="The newest protocol that brokers speak among each other.",
)
