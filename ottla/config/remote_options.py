"""Tiered storage, which is known and described but not served yet."""

from __future__ import annotations

from ottla.config.kind import BOOLEAN, DOUBLE, INT, LONG, STRING
from ottla.config.option import Change, Option
from ottla.config.units import GIB, LONG_MAX, SECOND_MS
from ottla.config.validators import minus_one_or, not_empty

REMOTE_LOG_STORAGE_SYSTEM_ENABLE = Option(
    name="remote.log.storage.system.enable",
    type=BOOLEAN,
    default=False,
    doc="Whether tiered storage is on.",
)
REMOTE_LOG_STORAGE_MANAGER_CLASS_NAME = Option(
    name="remote.log.storage.manager.class.name",
    type=STRING,
    default=None,
    validator=not_empty,
    doc="The class that stores segments away.",
)
REMOTE_LOG_STORAGE_MANAGER_CLASS_PATH = Option(
    name="remote.log.storage.manager.class.path",
    type=STRING,
    default=None,
    doc="Where that class is found.",
)
REMOTE_LOG_STORAGE_MANAGER_IMPL_PREFIX = Option(
    name="remote.log.storage.manager.impl.prefix",
    type=STRING,
    default="rsm.config.",
    validator=not_empty,
    doc="The prefix of that class's own options.",
)
REMOTE_LOG_METADATA_MANAGER_CLASS_NAME = Option(
    name="remote.log.metadata.manager.class.name",
    type=STRING,
    default="org.apache.kafka.server.log.remote.metadata.storage."
    "TopicBasedRemoteLogMetadataManager",
    validator=not_empty,
    doc="The class that knows where segments are.",
)
REMOTE_LOG_METADATA_MANAGER_CLASS_PATH = Option(
    name="remote.log.metadata.manager.class.path",
    type=STRING,
    default=None,
    doc="Where that class is found.",
)
REMOTE_LOG_METADATA_MANAGER_IMPL_PREFIX = Option(
    name="remote.log.metadata.manager.impl.prefix",
    type=STRING,
    default="rlmm.config.",
    validator=not_empty,
    doc="The prefix of that class's own options.",
)
REMOTE_LOG_METADATA_MANAGER_LISTENER_NAME = Option(
    name="remote.log.metadata.manager.listener.name",
    type=STRING,
    default=None,
    validator=not_empty,
    doc="The listener that class reaches brokers by.",
)
REMOTE_LOG_METADATA_CUSTOM_METADATA_MAX_BYTES = Option(
    name="remote.log.metadata.custom.metadata.max.bytes",
    type=INT,
    default=128,
    at_least=0,
    doc="Bytes of its own that the store may keep with a segment.",
)
REMOTE_LOG_INDEX_FILE_CACHE_TOTAL_SIZE_BYTES = Option(
    name="remote.log.index.file.cache.total.size.bytes",
    type=LONG,
    default=1 * GIB,
    at_least=1,
    change=Change.LIVE,
    doc="Bytes of remote indexes kept on local disk.",
)
REMOTE_LOG_MANAGER_THREAD_POOL_SIZE = Option(
    name="remote.log.manager.thread.pool.size",
    type=INT,
    default=10,
    at_least=1,
    doc="Threads that copy, expire and follow segments.",
)
REMOTE_LOG_MANAGER_COPIER_THREAD_POOL_SIZE = Option(
    name="remote.log.manager.copier.thread.pool.size",
    type=INT,
    default=-1,
    validator=minus_one_or(at_least=1),
    doc="Threads that copy segments; -1 for that number.",
)
REMOTE_LOG_MANAGER_EXPIRATION_THREAD_POOL_SIZE = Option(
    name="remote.log.manager.expiration.thread.pool.size",
    type=INT,
    default=-1,
    validator=minus_one_or(at_least=1),
    doc="Threads that expire segments; -1 for that number.",
)
REMOTE_LOG_MANAGER_TASK_INTERVAL_MS = Option(
    name="remote.log.manager.task.interval.ms",
    type=LONG,
    default=30 * SECOND_MS,
    at_least=1,
    doc="How often those threads look for work.",
)
REMOTE_LOG_MANAGER_TASK_RETRY_BACKOFF_MS = Option(
    name="remote.log.manager.task.retry.backoff.ms",
    type=LONG,
    default=500,
    at_least=1,
    internal=True,
    doc="How long they rest after a first failure.",
)
REMOTE_LOG_MANAGER_TASK_RETRY_BACKOFF_MAX_MS = Option(
    name="remote.log.manager.task.retry.backoff.max.ms",
    type=LONG,
    default=30 * SECOND_MS,
    at_least=1,
    internal=True,
    doc="How long they rest at most.",
)
REMOTE_LOG_MANAGER_TASK_RETRY_JITTER = Option(
    name="remote.log.manager.task.retry.jitter",
    type=DOUBLE,
    default=0.2,
    at_least=0,
    at_most=0.5,
    internal=True,
    doc="Random share added to that rest.",
)
REMOTE_LOG_MANAGER_COPY_MAX_BYTES_PER_SECOND = Option(
    name="remote.log.manager.copy.max.bytes.per.second",
    type=LONG,
    default=LONG_MAX,
    at_least=1,
    change=Change.LIVE,
    doc="How fast segments may be copied away.",
)
REMOTE_LOG_MANAGER_COPY_QUOTA_WINDOW_NUM = Option(
    name="remote.log.manager.copy.quota.window.num",
    type=INT,
    default=11,
    at_least=1,
    doc="Samples kept for that limit.",
)
REMOTE_LOG_MANAGER_COPY_QUOTA_WINDOW_SIZE_SECONDS = Option(
    name="remote.log.manager.copy.quota.window.size.seconds",
    type=INT,
    default=1,
    at_least=1,
    doc="The length of such a sample.",
)
REMOTE_LOG_MANAGER_FETCH_MAX_BYTES_PER_SECOND = Option(
    name="remote.log.manager.fetch.max.bytes.per.second",
    type=LONG,
    default=LONG_MAX,
    at_least=1,
    change=Change.LIVE,
    doc="How fast segments may be fetched back.",
)
REMOTE_LOG_MANAGER_FETCH_QUOTA_WINDOW_NUM = Option(
    name="remote.log.manager.fetch.quota.window.num",
    type=INT,
    default=11,
    at_least=1,
    doc="Samples kept for that limit.",
)
REMOTE_LOG_MANAGER_FETCH_QUOTA_WINDOW_SIZE_SECONDS = Option(
    name="remote.log.manager.fetch.quota.window.size.seconds",
    type=INT,
    default=1,
    at_least=1,
    doc="The length of such a sample.",
)
REMOTE_LOG_READER_THREADS = Option(
    name="remote.log.reader.threads",
    type=INT,
    default=10,
    at_least=1,
    doc="Threads that read remote segments.",
)
REMOTE_LOG_READER_MAX_PENDING_TASKS = Option(
    name="remote.log.reader.max.pending.tasks",
    type=INT,
    default=100,
    at_least=1,
    doc="Reads that may wait for those threads.",
)
REMOTE_FETCH_MAX_WAIT_MS = Option(
    name="remote.fetch.max.wait.ms",
    type=INT,
    default=500,
    at_least=1,
    change=Change.LIVE,
    doc="How long a fetch waits for a remote read.",
)
LOG_LOCAL_RETENTION_MS = Option(
    name="log.local.retention.ms",
    type=LONG,
    default=-2,
    at_least=-2,
    change=Change.LIVE,
    per_topic="local.retention.ms",
    doc="How long a segment also stays on local disk; -2 for as long as it is kept.",
)
LOG_LOCAL_RETENTION_BYTES = Option(
    name="log.local.retention.bytes",
    type=LONG,
    default=-2,
    at_least=-2,
    change=Change.LIVE,
    per_topic="local.retention.bytes",
    doc="How much of a partition also stays on local disk; -2 for all that is kept.",
)
