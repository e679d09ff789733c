"""Log directories: every broker is asked for its own, and a move names what it did not find."""

from __future__ import annotations

import pytest

from ottla.admin import log_dirs
from ottla.admin.cluster import TopicPartition
from ottla.admin.log_dirs import Replica
from ottla.protocol.apis.alter_replica_log_dirs import (
    AlterReplicaLogDirPartitionResult,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopicResult,
)
from ottla.protocol.apis.describe_log_dirs import (
    DescribeLogDirsPartition,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)
from ottla.protocol.errors import ErrorCode, KafkaError
from ottla.protocol.schema import Message
from tests.unit.admin.cluster import ScriptedCluster

ORDERS_0 = TopicPartition("orders", 0)


def handle(broker: int, message: Message) -> Message:
    if isinstance(message, AlterReplicaLogDirsRequest):
        partition = AlterReplicaLogDirPartitionResult(
            partition_index=0, error_code=ErrorCode.LOG_DIR_NOT_FOUND
        )
        topic = AlterReplicaLogDirTopicResult(topic_name="orders", partitions=[partition])
        return AlterReplicaLogDirsResponse(results=[topic])
    assert isinstance(message, DescribeLogDirsRequest)
    replica = DescribeLogDirsPartition(
        partition_index=0, partition_size=10, offset_lag=2, is_future_key=broker == 1
    )
    topics = [DescribeLogDirsTopic(name="orders", partitions=[replica])]
    sound = DescribeLogDirsResult(log_dir=f"/disk{broker}", topics=topics, total_bytes=99)
    failed = DescribeLogDirsResult(
        log_dir="/bad", topics=[], error_code=ErrorCode.KAFKA_STORAGE_ERROR
    )
    return DescribeLogDirsResponse(results=[sound, failed])


def test_every_broker_shows_its_directories() -> None:
    found = ScriptedCluster(handle).run(log_dirs.describe)
    assert [(each.broker_id, each.path) for each in found] == [
        (0, "/disk0"),
        (0, "/bad"),
        (1, "/disk1"),
        (1, "/bad"),
    ]
    assert found[2].replicas == (Replica(ORDERS_0, 10, 2, True),)
    assert (found[0].total_bytes, found[0].usable_bytes) == (99, None)


def test_a_failed_directory_has_an_error() -> None:
    found = ScriptedCluster(handle).run(lambda c: log_dirs.describe(c, broker_ids=[0]))
    assert [each.error is None for each in found] == [True, False]
    assert found[1].error is not None
    assert found[1].error.code is ErrorCode.KAFKA_STORAGE_ERROR


def test_only_the_named_partitions_are_asked_for() -> None:
    scripted = ScriptedCluster(handle)
    scripted.run(lambda c: log_dirs.describe(c, broker_ids=[1], partitions=[ORDERS_0]))
    ((broker, message),) = scripted.asked
    assert broker == 1
    assert isinstance(message, DescribeLogDirsRequest)
    assert [(each.topic, each.partitions) for each in message.topics or ()] == [("orders", [0])]


def test_a_move_to_nowhere_is_told_where_it_could_go() -> None:
    told = "broker 1 has no log directory /nowhere; it has /disk1, /bad."
    with pytest.raises(KafkaError, match=told):
        ScriptedCluster(handle).run(
            lambda c: log_dirs.move(c, ORDERS_0, broker_id=1, path="/nowhere")
        )
