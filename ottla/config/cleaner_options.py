"""What is dropped from logs: cleanup policy and compaction."""

from __future__ import annotations

from ottla.config.kind import BOOLEAN, DOUBLE, INT, LIST, LONG
from ottla.config.option import Change, Option
from ottla.config.units import DAY_MS, DOUBLE_MAX, KIB, LONG_MAX, MIB, SECOND_MS

LOG_CLEANUP_POLICY = Option(
    name="log.cleanup.policy",
    type=LIST,
    default=("delete",),
    one_of=("compact", "delete"),
    change=Change.LIVE,
    per_topic="cleanup.policy",
    doc="What becomes of old records: delete, compact, or both.",
)
LOG_CLEANER_ENABLE = Option(
    name="log.cleaner.enable",
    type=BOOLEAN,
    default=True,
    doc="Whether compaction runs at all.",
)
LOG_CLEANER_THREADS = Option(
    name="log.cleaner.threads",
    type=INT,
    default=1,
    at_least=0,
    change=Change.LIVE,
    doc="Compactions at one time in Kafka; here one after the other.",
)
LOG_CLEANER_DEDUPE_BUFFER_SIZE = Option(
    name="log.cleaner.dedupe.buffer.size",
    type=LONG,
    default=128 * MIB,
    change=Change.LIVE,
    doc="Memory for the keys of one compaction, over all threads.",
)
LOG_CLEANER_IO_BUFFER_SIZE = Option(
    name="log.cleaner.io.buffer.size",
    type=INT,
    default=512 * KIB,
    at_least=0,
    change=Change.LIVE,
    doc="Kafka's memory for reading and writing; here the cleaning process sizes its own.",
)
LOG_CLEANER_IO_BUFFER_LOAD_FACTOR = Option(
    name="log.cleaner.io.buffer.load.factor",
    type=DOUBLE,
    default=0.9,
    change=Change.LIVE,
    doc="How full Kafka's table of keys may become; here the cleaning process decides.",
)
LOG_CLEANER_IO_MAX_BYTES_PER_SECOND = Option(
    name="log.cleaner.io.max.bytes.per.second",
    type=DOUBLE,
    default=DOUBLE_MAX,
    change=Change.LIVE,
    doc="How fast compaction may read and write together.",
)
LOG_CLEANER_BACKOFF_MS = Option(
    name="log.cleaner.backoff.ms",
    type=LONG,
    default=15 * SECOND_MS,
    at_least=0,
    change=Change.LIVE,
    doc="How long compaction rests when nothing is dirty.",
)
LOG_CLEANER_MIN_CLEANABLE_RATIO = Option(
    name="log.cleaner.min.cleanable.ratio",
    type=DOUBLE,
    default=0.5,
    at_least=0,
    at_most=1,
    change=Change.LIVE,
    per_topic="min.cleanable.dirty.ratio",
    doc="The share of a log that must be dirty before it is compacted.",
)
LOG_CLEANER_DELETE_RETENTION_MS = Option(
    name="log.cleaner.delete.retention.ms",
    type=LONG,
    default=DAY_MS,
    at_least=0,
    change=Change.LIVE,
    per_topic="delete.retention.ms",
    doc="How long a tombstone stays readable.",
)
LOG_CLEANER_MIN_COMPACTION_LAG_MS = Option(
    name="log.cleaner.min.compaction.lag.ms",
    type=LONG,
    default=0,
    at_least=0,
    change=Change.LIVE,
    per_topic="min.compaction.lag.ms",
    doc="How long a record surely stays uncompacted.",
)
LOG_CLEANER_MAX_COMPACTION_LAG_MS = Option(
    name="log.cleaner.max.compaction.lag.ms",
    type=LONG,
    default=LONG_MAX,
    at_least=1,
    change=Change.LIVE,
    per_topic="max.compaction.lag.ms",
    doc="How long a record may stay uncompacted.",
)
