"""Consumer groups: members' limits, and the log of committed offsets."""

from __future__ import annotations

from ottla.config.kind import BOOLEAN, INT, LIST, LONG, SHORT, STRING
from ottla.config.option import Option
from ottla.config.units import INT_MAX, KIB, MIB, MINUTE_MS, SECOND_MS
from ottla.config.validators import codec_number, one_of_whatever_case

GROUP_MIN_SESSION_TIMEOUT_MS = Option(
    name="group.min.session.timeout.ms",
    type=INT,
    default=6 * SECOND_MS,
    doc="The shortest session timeout a member may ask for.",
)
GROUP_MAX_SESSION_TIMEOUT_MS = Option(
    name="group.max.session.timeout.ms",
    type=INT,
    default=30 * MINUTE_MS,
    doc="The longest session timeout a member may ask for.",
)
GROUP_INITIAL_REBALANCE_DELAY_MS = Option(
    name="group.initial.rebalance.delay.ms",
    type=INT,
    default=3 * SECOND_MS,
    doc="How long a new group waits for more members before its first rebalance.",
)
GROUP_MAX_SIZE = Option(
    name="group.max.size",
    type=INT,
    default=INT_MAX,
    at_least=1,
    doc="Members of a group at most.",
)
OFFSET_METADATA_MAX_BYTES = Option(
    name="offset.metadata.max.bytes",
    type=INT,
    default=4 * KIB,
    doc="The longest text beside a committed offset.",
)
OFFSETS_LOAD_BUFFER_SIZE = Option(
    name="offsets.load.buffer.size",
    type=INT,
    default=5 * MIB,
    at_least=1,
    doc="Bytes read at a time while committed offsets are loaded.",
)
OFFSETS_TOPIC_REPLICATION_FACTOR = Option(
    name="offsets.topic.replication.factor",
    type=SHORT,
    default=3,
    at_least=1,
    doc="Replicas of the topic of committed offsets.",
)
OFFSETS_TOPIC_NUM_PARTITIONS = Option(
    name="offsets.topic.num.partitions",
    type=INT,
    default=50,
    at_least=1,
    doc="Partitions of the topic of committed offsets.",
)
OFFSETS_TOPIC_SEGMENT_BYTES = Option(
    name="offsets.topic.segment.bytes",
    type=INT,
    default=100 * MIB,
    at_least=1,
    doc="Segment size of the topic of committed offsets.",
)
OFFSETS_TOPIC_COMPRESSION_CODEC = Option(
    name="offsets.topic.compression.codec",
    type=INT,
    default=0,
    validator=codec_number,
    doc="The codec of that topic, by its number: 0 for none.",
)
OFFSETS_RETENTION_MINUTES = Option(
    name="offsets.retention.minutes",
    type=INT,
    default=10_080,
    at_least=1,
    doc="How long offsets of an empty group are kept.",
)
OFFSETS_RETENTION_CHECK_INTERVAL_MS = Option(
    name="offsets.retention.check.interval.ms",
    type=LONG,
    default=10 * MINUTE_MS,
    at_least=1,
    doc="How often expired offsets are looked for.",
)
OFFSETS_COMMIT_TIMEOUT_MS = Option(
    name="offsets.commit.timeout.ms",
    type=INT,
    default=5 * SECOND_MS,
    at_least=1,
    doc="How long a commit may wait for replicas.",
)
OFFSETS_COMMIT_REQUIRED_ACKS = Option(
    name="offsets.commit.required.acks",
    type=SHORT,
    default=-1,
    doc="The acks a commit needs; only -1 keeps its promise.",
)
GROUP_COORDINATOR_REBALANCE_PROTOCOLS = Option(
    name="group.coordinator.rebalance.protocols",
    type=LIST,
    default=("classic",),
    one_of=("consumer", "classic", "share", "unknown"),
    doc="The protocols that groups may use.",
)
GROUP_COORDINATOR_THREADS = Option(
    name="group.coordinator.threads",
    type=INT,
    default=1,
    at_least=1,
    doc="Threads of the KRaft group coordinator.",
)
GROUP_COORDINATOR_APPEND_LINGER_MS = Option(
    name="group.coordinator.append.linger.ms",
    type=INT,
    default=10,
    at_least=0,
    doc="How long that coordinator gathers records before it writes them.",
)
GROUP_COORDINATOR_NEW_ENABLE = Option(
    name="group.coordinator.new.enable",
    type=BOOLEAN,
    default=False,
    internal=True,
    doc="Whether the KRaft group coordinator is used.",
)
GROUP_CONSUMER_SESSION_TIMEOUT_MS = Option(
    name="group.consumer.session.timeout.ms",
    type=INT,
    default=45 * SECOND_MS,
    at_least=1,
    doc="KIP-848: how long a silent member stays.",
)
GROUP_CONSUMER_MIN_SESSION_TIMEOUT_MS = Option(
    name="group.consumer.min.session.timeout.ms",
    type=INT,
    default=45 * SECOND_MS,
    at_least=1,
    doc="The least a group may set that to.",
)
GROUP_CONSUMER_MAX_SESSION_TIMEOUT_MS = Option(
    name="group.consumer.max.session.timeout.ms",
    type=INT,
    default=MINUTE_MS,
    at_least=1,
    doc="The most a group may set that to.",
)
GROUP_CONSUMER_HEARTBEAT_INTERVAL_MS = Option(
    name="group.consumer.heartbeat.interval.ms",
    type=INT,
    default=5 * SECOND_MS,
    at_least=1,
    doc="KIP-848: how often a member is heard.",
)
GROUP_CONSUMER_MIN_HEARTBEAT_INTERVAL_MS = Option(
    name="group.consumer.min.heartbeat.interval.ms",
    type=INT,
    default=5 * SECOND_MS,
    at_least=1,
    doc="The least a group may set that to.",
)
GROUP_CONSUMER_MAX_HEARTBEAT_INTERVAL_MS = Option(
    name="group.consumer.max.heartbeat.interval.ms",
    type=INT,
    default=15 * SECOND_MS,
    at_least=1,
    doc="The most a group may set that to.",
)
GROUP_CONSUMER_MAX_SIZE = Option(
    name="group.consumer.max.size",
    type=INT,
    default=INT_MAX,
    at_least=1,
    doc="KIP-848: members of a group at most.",
)
GROUP_CONSUMER_ASSIGNORS = Option(
    name="group.consumer.assignors",
    type=LIST,
    default=(
        "org.apache.kafka.coordinator.group.assignor.UniformAssignor",
        "org.apache.kafka.coordinator.group.assignor.RangeAssignor",
    ),
    doc="KIP-848: the assignors a group may choose of, the first by default.",
)
GROUP_CONSUMER_MIGRATION_POLICY = Option(
    name="group.consumer.migration.policy",
    type=STRING,
    default="disabled",
    validator=one_of_whatever_case("DISABLED", "DOWNGRADE", "UPGRADE", "BIDIRECTIONAL"),
    internal=True,
    doc="Whether groups may go over to KIP-848, or back.",
)
