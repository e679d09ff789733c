"""How large the brokers' own topics are made, and with which options."""

from __future__ import annotations

from ottla.broker.internal_topics import (
    AutomaticTopics,
    group_partitions,
    transaction_partitions,
)
from ottla.config.broker_config import BrokerConfig
from ottla.simulation.store import MemoryStore, MemoryTree
from ottla.store import paths
from ottla.store.znodes import TopicAssignment
from tests.virtual_time import on_virtual_time

CONFIG = BrokerConfig.load(
    {
        "broker.id": "1",
        "log.dirs": "/data",
        "offsets.topic.num.partitions": "7",
        "offsets.topic.replication.factor": "2",
        "offsets.topic.segment.bytes": "1000000",
        "default.replication.factor": "4",
    }
)
TOPICS = AutomaticTopics(lambda: CONFIG)


def test_committed_offsets_are_compacted_and_as_many_as_configured() -> None:
    topic = TOPICS.creatable("__consumer_offsets")
    assert (topic.num_partitions, topic.replication_factor) == (7, 2)
    assert {each.name: each.value for each in topic.configs} == {
        "cleanup.policy": "compact",
        "segment.bytes": "1000000",
        "compression.type": "producer",
    }


def test_transactions_are_kept_by_at_least_two() -> None:
    topic = TOPICS.creatable("__transaction_state")
    assert (topic.num_partitions, topic.replication_factor) == (50, 3)
    configs = {each.name: each.value for each in topic.configs}
    assert configs["min.insync.replicas"] == "2"
    assert configs["unclean.leader.election.enable"] == "false"


def test_any_other_topic_has_what_the_broker_gives_by_default() -> None:
    topic = TOPICS.creatable("orders")
    assert (topic.num_partitions, topic.replication_factor, topic.configs) == (-1, -1, [])
    assert TOPICS.replication_factor("orders") == 4


@on_virtual_time
async def test_the_topic_that_is_there_counts_more_than_the_configuration() -> None:
    store = MemoryStore(MemoryTree())
    assert await group_partitions(store, CONFIG) == 7
    assignment = TopicAssignment(replicas=dict.fromkeys(range(3), (1,)))
    await store.create(paths.topic("__consumer_offsets"), assignment.encode(), parents=True)
    assert await group_partitions(store, CONFIG) == 3
    assert await transaction_partitions(store, CONFIG) == 50
    await store.create(paths.topic("__transaction_state"), assignment.encode(), parents=True)
    assert await transaction_partitions(store, CONFIG) == 3
