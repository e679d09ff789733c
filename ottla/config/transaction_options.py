"""Transactions and idempotent producers: their limits, and the log of transactions."""

from __future__ import annotations

from ottla.config.kind import BOOLEAN, INT, SHORT
from ottla.config.option import Change, Option
from ottla.config.units import DAY_MS, HOUR_MS, MIB, MINUTE_MS, SECOND_MS

TRANSACTION_MAX_TIMEOUT_MS = Option(
    name="transaction.max.timeout.ms",
    type=INT,
    default=15 * MINUTE_MS,
    at_least=1,
    doc="The longest transaction timeout a producer may ask for.",
)
TRANSACTIONAL_ID_EXPIRATION_MS = Option(
    name="transactional.id.expiration.ms",
    type=INT,
    default=7 * DAY_MS,
    at_least=1,
    doc="How long an unused transactional id is remembered.",
)
TRANSACTION_STATE_LOG_REPLICATION_FACTOR = Option(
    name="transaction.state.log.replication.factor",
    type=SHORT,
    default=3,
    at_least=1,
    doc="Replicas of the topic of transactions.",
)
TRANSACTION_STATE_LOG_NUM_PARTITIONS = Option(
    name="transaction.state.log.num.partitions",
    type=INT,
    default=50,
    at_least=1,
    doc="Partitions of the topic of transactions.",
)
TRANSACTION_STATE_LOG_MIN_ISR = Option(
    name="transaction.state.log.min.isr",
    type=INT,
    default=2,
    at_least=1,
    doc="In-sync replicas that the topic of transactions needs.",
)
TRANSACTION_STATE_LOG_SEGMENT_BYTES = Option(
    name="transaction.state.log.segment.bytes",
    type=INT,
    default=100 * MIB,
    at_least=1,
    doc="Segment size of the topic of transactions.",
)
TRANSACTION_STATE_LOG_LOAD_BUFFER_SIZE = Option(
    name="transaction.state.log.load.buffer.size",
    type=INT,
    default=5 * MIB,
    at_least=1,
    doc="Bytes read at a time while transactions are loaded.",
)
TRANSACTION_ABORT_TIMED_OUT_TRANSACTION_CLEANUP_INTERVAL_MS = Option(
    name="transaction.abort.timed.out.transaction.cleanup.interval.ms",
    type=INT,
    default=10 * SECOND_MS,
    at_least=1,
    doc="How often overdue transactions are looked for.",
)
TRANSACTION_REMOVE_EXPIRED_TRANSACTION_CLEANUP_INTERVAL_MS = Option(
    name="transaction.remove.expired.transaction.cleanup.interval.ms",
    type=INT,
    default=HOUR_MS,
    at_least=1,
    doc="How often expired transactional ids are looked for.",
)
TRANSACTION_PARTITION_VERIFICATION_ENABLE = Option(
    name="transaction.partition.verification.enable",
    type=BOOLEAN,
    default=True,
    change=Change.LIVE,
    doc="Whether a partition must be in the transaction before it takes its records (KIP-890).",
)
PRODUCER_ID_EXPIRATION_MS = Option(
    name="producer.id.expiration.ms",
    type=INT,
    default=DAY_MS,
    at_least=1,
    change=Change.LIVE,
    doc="How long a silent idempotent producer is remembered.",
)
PRODUCER_ID_EXPIRATION_CHECK_INTERVAL_MS = Option(
    name="producer.id.expiration.check.interval.ms",
    type=INT,
    default=10 * MINUTE_MS,
    at_least=1,
    internal=True,
    doc="How often silent producers are looked for.",
)
