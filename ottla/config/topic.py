"""Every option of topics, and which broker options are its default."""

from __future__ import annotations

from ottla.config.broker import BROKER_OPTIONS
from ottla.config.kind import BOOLEAN, DOUBLE, INT, LIST, LONG, STRING
from ottla.config.option import AnyOption, Change, Option, declared
from ottla.config.units import DAY_MS, GIB, KIB, LONG_MAX, MIB, MINUTE_MS
from ottla.config.validators import minus_one_or, throttled_replicas, version

CLEANUP_POLICY = Option(
    name="cleanup.policy",
    type=LIST,
    default=("delete",),
    one_of=("compact", "delete"),
    change=Change.LIVE,
    doc="What becomes of old records: delete, compact, or both.",
)
COMPRESSION_TYPE = Option(
    name="compression.type",
    type=STRING,
    default="producer",
    one_of=("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"),
    change=Change.LIVE,
    doc="How batches are stored: in one codec, or as the producer sent them.",
)
COMPRESSION_GZIP_LEVEL = Option(
    name="compression.gzip.level",
    type=INT,
    default=-1,
    validator=minus_one_or(at_least=1, at_most=9),
    change=Change.LIVE,
    doc="How hard gzip tries; -1 for its own default.",
)
COMPRESSION_LZ4_LEVEL = Option(
    name="compression.lz4.level",
    type=INT,
    default=9,
    at_least=1,
    at_most=17,
    change=Change.LIVE,
    doc="How hard lz4 tries.",
)
COMPRESSION_ZSTD_LEVEL = Option(
    name="compression.zstd.level",
    type=INT,
    default=3,
    at_least=-131072,
    at_most=22,
    change=Change.LIVE,
    doc="How hard zstd tries.",
)
DELETE_RETENTION_MS = Option(
    name="delete.retention.ms",
    type=LONG,
    default=DAY_MS,
    at_least=0,
    change=Change.LIVE,
    doc="How long a tombstone stays readable.",
)
FILE_DELETE_DELAY_MS = Option(
    name="file.delete.delay.ms",
    type=LONG,
    default=MINUTE_MS,
    at_least=0,
    change=Change.LIVE,
    doc="How long a deleted segment's files stay.",
)
FLUSH_MESSAGES = Option(
    name="flush.messages",
    type=LONG,
    default=LONG_MAX,
    at_least=1,
    change=Change.LIVE,
    doc="Records after which a log is forced to disk.",
)
FLUSH_MS = Option(
    name="flush.ms",
    type=LONG,
    default=LONG_MAX,
    at_least=0,
    change=Change.LIVE,
    doc="Time after which a log is forced to disk.",
)
FOLLOWER_REPLICATION_THROTTLED_REPLICAS = Option(
    name="follower.replication.throttled.replicas",
    type=LIST,
    default=(),
    validator=throttled_replicas,
    change=Change.LIVE,
    doc="Followers that are throttled: partition:broker, comma separated, or *.",
)
LEADER_REPLICATION_THROTTLED_REPLICAS = Option(
    name="leader.replication.throttled.replicas",
    type=LIST,
    default=(),
    validator=throttled_replicas,
    change=Change.LIVE,
    doc="Leaders that are throttled: partition:broker, comma separated, or *.",
)
INDEX_INTERVAL_BYTES = Option(
    name="index.interval.bytes",
    type=INT,
    default=4 * KIB,
    at_least=0,
    change=Change.LIVE,
    doc="Bytes of records between two entries of the index.",
)
LOCAL_RETENTION_BYTES = Option(
    name="local.retention.bytes",
    type=LONG,
    default=-2,
    at_least=-2,
    change=Change.LIVE,
    doc="How much of a partition also stays on local disk; -2 for all that is kept.",
)
LOCAL_RETENTION_MS = Option(
    name="local.retention.ms",
    type=LONG,
    default=-2,
    at_least=-2,
    change=Change.LIVE,
    doc="How long a segment also stays on local disk; -2 for as long as it is kept.",
)
MAX_COMPACTION_LAG_MS = Option(
    name="max.compaction.lag.ms",
    type=LONG,
    default=LONG_MAX,
    at_least=1,
    change=Change.LIVE,
    doc="How long a record may stay uncompacted.",
)
MAX_MESSAGE_BYTES = Option(
    name="max.message.bytes",
    type=INT,
    default=MIB + 12,
    at_least=0,
    change=Change.LIVE,
    doc="The largest record batch, as compressed.",
)
MESSAGE_DOWNCONVERSION_ENABLE = Option(
    name="message.downconversion.enable",
    type=BOOLEAN,
    default=True,
    change=Change.LIVE,
    doc="Whether old consumers get records in their own old format.",
)
MESSAGE_FORMAT_VERSION = Option(
    name="message.format.version",
    type=STRING,
    default="3.0-IV1",
    validator=version,
    change=Change.LIVE,
    doc="The oldest record format that is written; Kafka 3 ignores it.",
)
MESSAGE_TIMESTAMP_AFTER_MAX_MS = Option(
    name="message.timestamp.after.max.ms",
    type=LONG,
    default=LONG_MAX,
    at_least=0,
    change=Change.LIVE,
    doc="How far a record's time may lie after the broker's.",
)
MESSAGE_TIMESTAMP_BEFORE_MAX_MS = Option(
    name="message.timestamp.before.max.ms",
    type=LONG,
    default=LONG_MAX,
    at_least=0,
    change=Change.LIVE,
    doc="How far a record's time may lie before the broker's.",
)
MESSAGE_TIMESTAMP_DIFFERENCE_MAX_MS = Option(
    name="message.timestamp.difference.max.ms",
    type=LONG,
    default=LONG_MAX,
    at_least=0,
    change=Change.LIVE,
    doc="How far a record's time may be from the broker's; deprecated.",
)
MESSAGE_TIMESTAMP_TYPE = Option(
    name="message.timestamp.type",
    type=STRING,
    default="CreateTime",
    one_of=("CreateTime", "LogAppendTime"),
    change=Change.LIVE,
    doc="Whether a record keeps its producer's time or gets the broker's.",
)
MIN_CLEANABLE_DIRTY_RATIO = Option(
    name="min.cleanable.dirty.ratio",
    type=DOUBLE,
    default=0.5,
    at_least=0,
    at_most=1,
    change=Change.LIVE,
    doc="The share of a log that must be dirty before it is compacted.",
)
MIN_COMPACTION_LAG_MS = Option(
    name="min.compaction.lag.ms",
    type=LONG,
    default=0,
    at_least=0,
    change=Change.LIVE,
    doc="How long a record surely stays uncompacted.",
)
MIN_INSYNC_REPLICAS = Option(
    name="min.insync.replicas",
    type=INT,
    default=1,
    at_least=1,
    change=Change.LIVE,
    doc="In-sync replicas that acks=all needs.",
)
PREALLOCATE = Option(
    name="preallocate",
    type=BOOLEAN,
    default=False,
    change=Change.LIVE,
    doc="Whether a new segment's file gets its full size at once.",
)
REMOTE_LOG_COPY_DISABLE = Option(
    name="remote.log.copy.disable",
    type=BOOLEAN,
    default=False,
    change=Change.LIVE,
    doc="Whether tiered storage keeps what it has but takes no more.",
)
REMOTE_LOG_DELETE_ON_DISABLE = Option(
    name="remote.log.delete.on.disable",
    type=BOOLEAN,
    default=False,
    change=Change.LIVE,
    doc="Whether switching tiered storage off deletes what it has.",
)
REMOTE_STORAGE_ENABLE = Option(
    name="remote.storage.enable",
    type=BOOLEAN,
    default=False,
    change=Change.LIVE,
    doc="Whether the topic uses tiered storage.",
)
RETENTION_BYTES = Option(
    name="retention.bytes",
    type=LONG,
    default=-1,
    change=Change.LIVE,
    doc="How much of a partition is kept; -1 for no limit.",
)
RETENTION_MS = Option(
    name="retention.ms",
    type=LONG,
    default=7 * DAY_MS,
    at_least=-1,
    change=Change.LIVE,
    doc="How long records are kept; -1 for ever.",
)
SEGMENT_BYTES = Option(
    name="segment.bytes",
    type=INT,
    default=1 * GIB,
    at_least=14,
    change=Change.LIVE,
    doc="Size at which a log closes its segment and starts the next.",
)
SEGMENT_INDEX_BYTES = Option(
    name="segment.index.bytes",
    type=INT,
    default=10 * MIB,
    at_least=4,
    change=Change.LIVE,
    doc="The largest an index file becomes.",
)
SEGMENT_JITTER_MS = Option(
    name="segment.jitter.ms",
    type=LONG,
    default=0,
    at_least=0,
    change=Change.LIVE,
    doc="Random time taken off a segment's age, so that not all roll at once.",
)
SEGMENT_MS = Option(
    name="segment.ms",
    type=LONG,
    default=7 * DAY_MS,
    at_least=1,
    change=Change.LIVE,
    doc="Age at which a log closes its segment.",
)
UNCLEAN_LEADER_ELECTION_ENABLE = Option(
    name="unclean.leader.election.enable",
    type=BOOLEAN,
    default=False,
    change=Change.LIVE,
    doc="Whether a replica that is not in sync may lead when no other can: records are lost.",
)

TOPIC_OPTIONS: dict[str, AnyOption] = declared(globals())

# The broker option whose value a topic has that sets none of its own.
BROKER_DEFAULT: dict[str, AnyOption] = {
    name: next(option for option in BROKER_OPTIONS.values() if option.per_topic == name)
    for name in TOPIC_OPTIONS
    if any(option.per_topic == name for option in BROKER_OPTIONS.values())
}
