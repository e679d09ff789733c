"""Options of KRaft clusters, which a ZooKeeper-mode broker knows and describes but does not use."""

from __future__ import annotations

from ottla.config.kind import INT, LIST, LONG, STRING
from ottla.config.option import Option
from ottla.config.units import DAY_MS, GIB, HOUR_MS, MIB, MINUTE_MS, SECOND_MS

PROCESS_ROLES = Option(
    name="process.roles",
    type=LIST,
    default=(),
    one_of=("broker", "controller"),
    doc="Broker, controller or both; empty in ZooKeeper mode.",
)
CONTROLLER_QUORUM_VOTERS = Option(
    name="controller.quorum.voters",
    type=LIST,
    default=(),
    doc="The controllers: id@host:port, comma separated.",
)
CONTROLLER_QUORUM_BOOTSTRAP_SERVERS = Option(
    name="controller.quorum.bootstrap.servers",
    type=LIST,
    default=(),
    doc="Where controllers are found first.",
)
CONTROLLER_QUORUM_ELECTION_TIMEOUT_MS = Option(
    name="controller.quorum.election.timeout.ms",
    type=INT,
    default=SECOND_MS,
    doc="How long a controller waits for a leader before it runs itself.",
)
CONTROLLER_QUORUM_ELECTION_BACKOFF_MAX_MS = Option(
    name="controller.quorum.election.backoff.max.ms",
    type=INT,
    default=SECOND_MS,
    doc="The longest rest between two elections.",
)
CONTROLLER_QUORUM_FETCH_TIMEOUT_MS = Option(
    name="controller.quorum.fetch.timeout.ms",
    type=INT,
    default=2 * SECOND_MS,
    doc="How long a controller lives without the leader's answer.",
)
CONTROLLER_QUORUM_REQUEST_TIMEOUT_MS = Option(
    name="controller.quorum.request.timeout.ms",
    type=INT,
    default=2 * SECOND_MS,
    doc="How long a controller waits for one answer.",
)
CONTROLLER_QUORUM_RETRY_BACKOFF_MS = Option(
    name="controller.quorum.retry.backoff.ms",
    type=INT,
    default=20,
    doc="How long it rests before it asks again.",
)
CONTROLLER_QUORUM_APPEND_LINGER_MS = Option(
    name="controller.quorum.append.linger.ms",
    type=INT,
    default=25,
    doc="How long the leader gathers records before it writes them.",
)
BROKER_HEARTBEAT_INTERVAL_MS = Option(
    name="broker.heartbeat.interval.ms",
    type=INT,
    default=2 * SECOND_MS,
    doc="How often a broker tells the controller that it lives.",
)
BROKER_SESSION_TIMEOUT_MS = Option(
    name="broker.session.timeout.ms",
    type=INT,
    default=9 * SECOND_MS,
    doc="How long the controller believes a silent broker.",
)
INITIAL_BROKER_REGISTRATION_TIMEOUT_MS = Option(
    name="initial.broker.registration.timeout.ms",
    type=INT,
    default=MINUTE_MS,
    doc="How long a broker's first registration may take.",
)
METADATA_LOG_DIR = Option(
    name="metadata.log.dir",
    type=STRING,
    default=None,
    doc="Where the metadata log is kept, if not in the first log directory.",
)
METADATA_LOG_SEGMENT_BYTES = Option(
    name="metadata.log.segment.bytes",
    type=INT,
    default=1 * GIB,
    at_least=12,
    doc="Size at which the metadata log starts the next segment.",
)
METADATA_LOG_SEGMENT_MIN_BYTES = Option(
    name="metadata.log.segment.min.bytes",
    type=INT,
    default=8 * MIB,
    at_least=12,
    internal=True,
    doc="The smallest that size may be.",
)
METADATA_LOG_SEGMENT_MS = Option(
    name="metadata.log.segment.ms",
    type=LONG,
    default=7 * DAY_MS,
    doc="Age at which the metadata log starts the next segment.",
)
METADATA_LOG_MAX_RECORD_BYTES_BETWEEN_SNAPSHOTS = Option(
    name="metadata.log.max.record.bytes.between.snapshots",
    type=LONG,
    default=20 * MIB,
    at_least=1,
    doc="Bytes of metadata records after which a snapshot is made.",
)
METADATA_LOG_MAX_SNAPSHOT_INTERVAL_MS = Option(
    name="metadata.log.max.snapshot.interval.ms",
    type=LONG,
    default=HOUR_MS,
    at_least=0,
    doc="Time after which a snapshot is made.",
)
METADATA_MAX_RETENTION_BYTES = Option(
    name="metadata.max.retention.bytes",
    type=LONG,
    default=100 * MIB,
    doc="How much of metadata log and snapshots is kept.",
)
METADATA_MAX_RETENTION_MS = Option(
    name="metadata.max.retention.ms",
    type=LONG,
    default=7 * DAY_MS,
    doc="How long they are kept.",
)
METADATA_MAX_IDLE_INTERVAL_MS = Option(
    name="metadata.max.idle.interval.ms",
    type=INT,
    default=500,
    at_least=0,
    doc="How often an idle controller writes a record to show that it lives.",
)
