"""How partitions are kept on disk; most are the defaults of topic options."""

from __future__ import annotations

from ottla.config.kind import BOOLEAN, INT, LONG, STRING
from ottla.config.option import Change, Computed, Config, Option
from ottla.config.units import GIB, HOUR_MS, KIB, LONG_MAX, MIB, MINUTE_MS, SECOND_MS
from ottla.config.validators import minus_one_or, unlimited_or_positive, version


def _retention_ms(config: Config) -> int:
    minutes = config[LOG_RETENTION_MINUTES]
    if minutes is not None:
        return minutes * MINUTE_MS if minutes > 0 else -1
    hours = config[LOG_RETENTION_HOURS]
    return hours * HOUR_MS if hours > 0 else -1


LOG_DIRS: Option[str] = Option(
    name="log.dirs",
    type=STRING,
    default=Computed(lambda config: config[LOG_DIR]),
    doc="The log directories, comma separated.",
)
LOG_DIR: Option[str] = Option(
    name="log.dir",
    type=STRING,
    default="/tmp/kafka-logs",
    doc="The log directory when log.dirs is not set.",
)
LOG_SEGMENT_BYTES = Option(
    name="log.segment.bytes",
    type=INT,
    default=1 * GIB,
    at_least=14,  # the overhead of one record of format 0
    change=Change.LIVE,
    per_topic="segment.bytes",
    doc="Size at which a log closes its segment and starts the next.",
)
LOG_ROLL_MS: Option[int] = Option(
    name="log.roll.ms",
    type=LONG,
    default=Computed(lambda config: config[LOG_ROLL_HOURS] * HOUR_MS),
    at_least=1,
    change=Change.LIVE,
    per_topic="segment.ms",
    doc="Age at which a log closes its segment.",
)
LOG_ROLL_HOURS: Option[int] = Option(
    name="log.roll.hours",
    type=INT,
    default=168,
    at_least=1,
    per_topic="segment.ms",
    doc="The same in hours, when log.roll.ms is not set.",
)
LOG_ROLL_JITTER_MS: Option[int] = Option(
    name="log.roll.jitter.ms",
    type=LONG,
    default=Computed(lambda config: config[LOG_ROLL_JITTER_HOURS] * HOUR_MS),
    at_least=0,
    change=Change.LIVE,
    per_topic="segment.jitter.ms",
    doc="Random time taken off a segment's age, so that not all roll at once.",
)
LOG_ROLL_JITTER_HOURS: Option[int] = Option(
    name="log.roll.jitter.hours",
    type=INT,
    default=0,
    at_least=0,
    per_topic="segment.jitter.ms",
    doc="The same in hours, when log.roll.jitter.ms is not set.",
)
LOG_RETENTION_MS: Option[int] = Option(
    name="log.retention.ms",
    type=LONG,
    default=Computed(_retention_ms),
    validator=unlimited_or_positive,
    change=Change.LIVE,
    per_topic="retention.ms",
    doc="How long records are kept; -1 for ever.",
)
LOG_RETENTION_MINUTES: Option[int | None] = Option(
    name="log.retention.minutes",
    type=INT,
    default=None,
    validator=unlimited_or_positive,
    per_topic="retention.ms",
    doc="The same in minutes, when log.retention.ms is not set.",
)
LOG_RETENTION_HOURS: Option[int] = Option(
    name="log.retention.hours",
    type=INT,
    default=168,
    validator=unlimited_or_positive,
    per_topic="retention.ms",
    doc="The same in hours, when neither of those is set.",
)
LOG_RETENTION_BYTES = Option(
    name="log.retention.bytes",
    type=LONG,
    default=-1,
    change=Change.LIVE,
    per_topic="retention.bytes",
    doc="How much of a partition is kept; -1 for no limit.",
)
LOG_RETENTION_CHECK_INTERVAL_MS = Option(
    name="log.retention.check.interval.ms",
    type=LONG,
    default=5 * MINUTE_MS,
    at_least=1,
    doc="How often old segments are looked for.",
)
LOG_INDEX_SIZE_MAX_BYTES = Option(
    name="log.index.size.max.bytes",
    type=INT,
    default=10 * MIB,
    at_least=4,
    change=Change.LIVE,
    per_topic="segment.index.bytes",
    doc="The largest an index file becomes.",
)
LOG_INDEX_INTERVAL_BYTES = Option(
    name="log.index.interval.bytes",
    type=INT,
    default=4 * KIB,
    at_least=0,
    change=Change.LIVE,
    per_topic="index.interval.bytes",
    doc="Bytes of records between two entries of the index.",
)
LOG_FLUSH_INTERVAL_MESSAGES = Option(
    name="log.flush.interval.messages",
    type=LONG,
    default=LONG_MAX,
    at_least=1,
    change=Change.LIVE,
    per_topic="flush.messages",
    doc="Records after which a log is forced to disk.",
)
LOG_FLUSH_INTERVAL_MS: Option[int] = Option(
    name="log.flush.interval.ms",
    type=LONG,
    default=Computed(lambda config: config[LOG_FLUSH_SCHEDULER_INTERVAL_MS]),
    change=Change.LIVE,
    per_topic="flush.ms",
    doc="Time after which a log is forced to disk.",
)
LOG_FLUSH_SCHEDULER_INTERVAL_MS: Option[int] = Option(
    name="log.flush.scheduler.interval.ms",
    type=LONG,
    default=LONG_MAX,
    per_topic="flush.ms",
    doc="How often it is checked whether a log is due; the default of that time.",
)
LOG_FLUSH_OFFSET_CHECKPOINT_INTERVAL_MS = Option(
    name="log.flush.offset.checkpoint.interval.ms",
    type=INT,
    default=MINUTE_MS,
    at_least=0,
    doc="How often recovery points are written down.",
)
LOG_FLUSH_START_OFFSET_CHECKPOINT_INTERVAL_MS = Option(
    name="log.flush.start.offset.checkpoint.interval.ms",
    type=INT,
    default=MINUTE_MS,
    at_least=0,
    doc="How often log start offsets are written down.",
)
LOG_SEGMENT_DELETE_DELAY_MS = Option(
    name="log.segment.delete.delay.ms",
    type=LONG,
    default=MINUTE_MS,
    at_least=0,
    change=Change.LIVE,
    per_topic="file.delete.delay.ms",
    doc="How long a deleted segment's files stay.",
)
LOG_PREALLOCATE = Option(
    name="log.preallocate",
    type=BOOLEAN,
    default=False,
    change=Change.LIVE,
    per_topic="preallocate",
    doc="Whether a new segment's file gets its full size at once.",
)
LOG_MESSAGE_FORMAT_VERSION = Option(
    name="log.message.format.version",
    type=STRING,
    default="3.0-IV1",
    validator=version,
    per_topic="message.format.version",
    doc="The oldest record format that is written; Kafka 3 ignores it.",
)
LOG_MESSAGE_TIMESTAMP_TYPE = Option(
    name="log.message.timestamp.type",
    type=STRING,
    default="CreateTime",
    one_of=("CreateTime", "LogAppendTime"),
    change=Change.LIVE,
    per_topic="message.timestamp.type",
    doc="Whether a record keeps its producer's time or gets the broker's.",
)
LOG_MESSAGE_TIMESTAMP_DIFFERENCE_MAX_MS = Option(
    name="log.message.timestamp.difference.max.ms",
    type=LONG,
    default=LONG_MAX,
    at_least=0,
    change=Change.LIVE,
    per_topic="message.timestamp.difference.max.ms",
    doc="How far a record's time may be from the broker's; deprecated.",
)
LOG_MESSAGE_TIMESTAMP_BEFORE_MAX_MS = Option(
    name="log.message.timestamp.before.max.ms",
    type=LONG,
    default=LONG_MAX,
    at_least=0,
    change=Change.LIVE,
    per_topic="message.timestamp.before.max.ms",
    doc="How far a record's time may lie before the broker's.",
)
LOG_MESSAGE_TIMESTAMP_AFTER_MAX_MS = Option(
    name="log.message.timestamp.after.max.ms",
    type=LONG,
    default=LONG_MAX,
    at_least=0,
    change=Change.LIVE,
    per_topic="message.timestamp.after.max.ms",
    doc="How far a record's time may lie after the broker's.",
)
LOG_MESSAGE_DOWNCONVERSION_ENABLE = Option(
    name="log.message.downconversion.enable",
    type=BOOLEAN,
    default=True,
    change=Change.LIVE,
    per_topic="message.downconversion.enable",
    doc="Whether old consumers get records in their own old format.",
)
MESSAGE_MAX_BYTES = Option(
    name="message.max.bytes",
    type=INT,
    default=MIB + 12,  # the overhead of formats 0 and 1 on a set of records
    at_least=0,
    change=Change.LIVE,
    per_topic="max.message.bytes",
    doc="The largest record batch, as compressed.",
)
COMPRESSION_TYPE = Option(
    name="compression.type",
    type=STRING,
    default="producer",
    one_of=("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"),
    change=Change.LIVE,
    per_topic="compression.type",
    doc="How batches are stored: in one codec, or as the producer sent them.",
)
COMPRESSION_GZIP_LEVEL = Option(
    name="compression.gzip.level",
    type=INT,
    default=-1,
    validator=minus_one_or(at_least=1, at_most=9),
    change=Change.LIVE,
    per_topic="compression.gzip.level",
    doc="How hard gzip tries; -1 for its own default.",
)
COMPRESSION_LZ4_LEVEL = Option(
    name="compression.lz4.level",
    type=INT,
    default=9,
    at_least=1,
    at_most=17,
    change=Change.LIVE,
    per_topic="compression.lz4.level",
    doc="How hard lz4 tries.",
)
COMPRESSION_ZSTD_LEVEL = Option(
    name="compression.zstd.level",
    type=INT,
    default=3,
    at_least=-131072,
    at_most=22,
    change=Change.LIVE,
    per_topic="compression.zstd.level",
    doc="How hard zstd tries.",
)
NUM_RECOVERY_THREADS_PER_DATA_DIR = Option(
    name="num.recovery.threads.per.data.dir",
    type=INT,
    default=1,
    at_least=1,
    change=Change.LIVE,
    doc="Kafka's threads that recover logs, for each directory; all share a fixed number here.",
)
LOG_DIR_FAILURE_TIMEOUT_MS = Option(
    name="log.dir.failure.timeout.ms",
    type=LONG,
    default=30 * SECOND_MS,
    at_least=1,
    doc="A KRaft broker stops if it cannot report a failed directory within this time.",
)
LOG_INITIAL_TASK_DELAY_MS = Option(
    name="log.initial.task.delay.ms",
    type=LONG,
    default=30 * SECOND_MS,
    at_least=0,
    internal=True,
    doc="How long after the start the logs' periodic tasks begin.",
)
