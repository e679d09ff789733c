"""The broker itself: who it is, its threads, its topics' beginnings, its measurements."""

from __future__ import annotations

from ottla.config.kind import BOOLEAN, CLASS, INT, LIST, LONG, STRING
from ottla.config.option import Change, Option
from ottla.config.units import LONG_MAX, MIB, SECOND_MS

BROKER_ID = Option(
    name="broker.id",
    type=INT,
    default=-1,
    doc="The broker's number; -1 takes a free one above reserved.broker.max.id.",
)
NODE_ID = Option(
    name="node.id",
    type=INT,
    default=-1,
    doc="The same as broker.id, by KRaft's name.",
)
BROKER_ID_GENERATION_ENABLE = Option(
    name="broker.id.generation.enable",
    type=BOOLEAN,
    default=True,
    doc="Whether a broker without a number gets one.",
)
RESERVED_BROKER_MAX_ID = Option(
    name="reserved.broker.max.id",
    type=INT,
    default=1000,
    at_least=0,
    doc="The highest number that may be given by hand.",
)
BROKER_RACK = Option(
    name="broker.rack",
    type=STRING,
    default=None,
    doc="Where the broker stands; replicas are spread over racks.",
)
BACKGROUND_THREADS = Option(
    name="background.threads",
    type=INT,
    default=10,
    at_least=1,
    change=Change.LIVE,
    doc="Kafka's threads for background work; timers of the one loop do that here.",
)
NUM_PARTITIONS = Option(
    name="num.partitions",
    type=INT,
    default=1,
    at_least=1,
    doc="Partitions of a topic that is created without a number of them.",
)
DEFAULT_REPLICATION_FACTOR = Option(
    name="default.replication.factor",
    type=INT,
    default=1,
    doc="Replicas of a topic that is created without a number of them.",
)
AUTO_CREATE_TOPICS_ENABLE = Option(
    name="auto.create.topics.enable",
    type=BOOLEAN,
    default=True,
    doc="Whether a client's first use of a topic creates it.",
)
DELETE_TOPIC_ENABLE = Option(
    name="delete.topic.enable",
    type=BOOLEAN,
    default=True,
    doc="Whether topics may be deleted.",
)
CREATE_TOPIC_POLICY_CLASS_NAME = Option(
    name="create.topic.policy.class.name",
    type=CLASS,
    default=None,
    doc="A Python class, package.module.Class, whose validate(topic=, partitions=, "
    "replication_factor=, replicas=, configs=) raises ValueError to refuse a new topic.",
)
ALTER_CONFIG_POLICY_CLASS_NAME = Option(
    name="alter.config.policy.class.name",
    type=CLASS,
    default=None,
    doc="A Python class, package.module.Class, whose validate(resource_type=, name=, configs=) "
    "raises ValueError to refuse a change of configuration.",
)
QUOTA_WINDOW_NUM = Option(
    name="quota.window.num",
    type=INT,
    default=11,
    at_least=1,
    doc="Samples kept for client quotas.",
)
QUOTA_WINDOW_SIZE_SECONDS = Option(
    name="quota.window.size.seconds",
    type=INT,
    default=1,
    at_least=1,
    doc="The length of a sample for client quotas.",
)
REPLICATION_QUOTA_WINDOW_NUM = Option(
    name="replication.quota.window.num",
    type=INT,
    default=11,
    at_least=1,
    doc="Samples kept for replication throttles.",
)
REPLICATION_QUOTA_WINDOW_SIZE_SECONDS = Option(
    name="replication.quota.window.size.seconds",
    type=INT,
    default=1,
    at_least=1,
    doc="The length of a sample for replication throttles.",
)
ALTER_LOG_DIRS_REPLICATION_QUOTA_WINDOW_NUM = Option(
    name="alter.log.dirs.replication.quota.window.num",
    type=INT,
    default=11,
    at_least=1,
    doc="Samples kept for throttled moves between log directories.",
)
ALTER_LOG_DIRS_REPLICATION_QUOTA_WINDOW_SIZE_SECONDS = Option(
    name="alter.log.dirs.replication.quota.window.size.seconds",
    type=INT,
    default=1,
    at_least=1,
    doc="The length of such a sample.",
)
CONTROLLER_QUOTA_WINDOW_NUM = Option(
    name="controller.quota.window.num",
    type=INT,
    default=11,
    at_least=1,
    doc="Samples kept for quotas on changes to the cluster.",
)
CONTROLLER_QUOTA_WINDOW_SIZE_SECONDS = Option(
    name="controller.quota.window.size.seconds",
    type=INT,
    default=1,
    at_least=1,
    doc="The length of a sample for quotas on changes to the cluster.",
)
CLIENT_QUOTA_CALLBACK_CLASS = Option(
    name="client.quota.callback.class",
    type=CLASS,
    default=None,
    doc="A class that decides clients' quotas.",
)
METRIC_REPORTERS = Option(
    name="metric.reporters",
    type=LIST,
    default=(),
    change=Change.LIVE,
    doc="Classes that receive metrics.",
)
METRICS_NUM_SAMPLES = Option(
    name="metrics.num.samples",
    type=INT,
    default=2,
    at_least=1,
    doc="Samples kept for a metric.",
)
METRICS_SAMPLE_WINDOW_MS = Option(
    name="metrics.sample.window.ms",
    type=LONG,
    default=30 * SECOND_MS,
    at_least=1,
    doc="The length of a metric's sample.",
)
METRICS_RECORDING_LEVEL = Option(
    name="metrics.recording.level",
    type=STRING,
    default="INFO",
    doc="How much is measured.",
)
AUTO_INCLUDE_JMX_REPORTER = Option(
    name="auto.include.jmx.reporter",
    type=BOOLEAN,
    default=True,
    doc="Whether metrics go to JMX too, which only a JVM has.",
)
KAFKA_METRICS_REPORTERS = Option(
    name="kafka.metrics.reporters",
    type=LIST,
    default=(),
    doc="Classes that receive the older kind of metrics.",
)
KAFKA_METRICS_POLLING_INTERVAL_SECS = Option(
    name="kafka.metrics.polling.interval.secs",
    type=INT,
    default=10,
    at_least=1,
    doc="How often those classes are called.",
)
TELEMETRY_MAX_BYTES = Option(
    name="telemetry.max.bytes",
    type=INT,
    default=1 * MIB,
    at_least=1,
    doc="The largest telemetry that a client may push, uncompressed.",
)
SERVER_MAX_STARTUP_TIME_MS = Option(
    name="server.max.startup.time.ms",
    type=LONG,
    default=LONG_MAX,
    at_least=0,
    internal=True,
    doc="A broker that is not up by then gives up.",
)
