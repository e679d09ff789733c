"""The topics that brokers keep for themselves: how large they are, and what they are set to."""

from __future__ import annotations

from collections.abc import Callable

from ottla.config import group_options, transaction_options
from ottla.config.broker_config import BrokerConfig
from ottla.config.general_options import DEFAULT_REPLICATION_FACTOR
from ottla.controller.topics import UNSET
from ottla.protocol.apis.create_topics import CreatableTopic, CreatableTopicConfig
from ottla.protocol.internal.topics import GROUP_METADATA_TOPIC, TRANSACTION_STATE_TOPIC
from ottla.store import paths
from ottla.store.port import MetadataStore
from ottla.store.znodes import TopicAssignment

Config = Callable[[], BrokerConfig]


class AutomaticTopics:
    """What a topic is like that comes to be because somebody asked for it."""

    def __init__(self, config: Config) -> None:
        self._config = config

    def replication_factor(self, name: str) -> int:
        config = self._config()
        if name == GROUP_METADATA_TOPIC:
            return config[group_options.OFFSETS_TOPIC_REPLICATION_FACTOR]
        if name == TRANSACTION_STATE_TOPIC:
            return config[transaction_options.TRANSACTION_STATE_LOG_REPLICATION_FACTOR]
        return config[DEFAULT_REPLICATION_FACTOR]

    def creatable(self, name: str) -> CreatableTopic:
        config = self._config()
        if name == GROUP_METADATA_TOPIC:
            partitions = config[group_options.OFFSETS_TOPIC_NUM_PARTITIONS]
            configs = {
                "cleanup.policy": "compact",
                "segment.bytes": str(config[group_options.OFFSETS_TOPIC_SEGMENT_BYTES]),
                "compression.type": "producer",
            }
        elif name == TRANSACTION_STATE_TOPIC:
            partitions = config[transaction_options.TRANSACTION_STATE_LOG_NUM_PARTITIONS]
            segment_bytes = config[transaction_options.TRANSACTION_STATE_LOG_SEGMENT_BYTES]
            configs = {
                "unclean.leader.election.enable": "false",
                "compression.type": "uncompressed",
                "cleanup.policy": "compact",
                "min.insync.replicas": str(
                    config[transaction_options.TRANSACTION_STATE_LOG_MIN_ISR]
                ),
                "segment.bytes": str(segment_bytes),
            }
        else:
            return CreatableTopic(
                name=name,
                num_partitions=UNSET,
                replication_factor=UNSET,
                assignments=[],
                configs=[],
            )
        return CreatableTopic(
            name=name,
            num_partitions=partitions,
            replication_factor=self.replication_factor(name),
            assignments=[],
            configs=[CreatableTopicConfig(name=k, value=v) for k, v in configs.items()],
        )


async def group_partitions(store: MetadataStore, config: BrokerConfig) -> int:
    default = config[group_options.OFFSETS_TOPIC_NUM_PARTITIONS]
    return await _partitions(store, GROUP_METADATA_TOPIC, default)


async def transaction_partitions(store: MetadataStore, config: BrokerConfig) -> int:
    default = config[transaction_options.TRANSACTION_STATE_LOG_NUM_PARTITIONS]
    return await _partitions(store, TRANSACTION_STATE_TOPIC, default)


async def _partitions(store: MetadataStore, topic: str, default: int) -> int:
    """Of the topic as it is; of the configuration only while there is none.

    Read once: another number would send every group or producer to another coordinator.
    """
    path = paths.topic(topic)
    entry = await store.read(path)
    if entry is None:
        return default
    return len(TopicAssignment.decode(entry.data, path).replicas)
