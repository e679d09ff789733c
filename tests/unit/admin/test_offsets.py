"""Offsets: the beginning of partitions moves up, and no answer means none."""

from __future__ import annotations

from ottla.admin import offsets
from ottla.admin.cluster import TopicPartition
from ottla.admin.offsets import HIGH_WATERMARK, FoundOffset
from ottla.protocol.apis.delete_records import (
    DeleteRecordsPartitionResult,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopicResult,
)
from ottla.protocol.apis.list_offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from ottla.protocol.errors import ErrorCode, KafkaError
from ottla.protocol.schema import Message
from tests.unit.admin.cluster import ScriptedCluster

FIRST, SECOND = TopicPartition("orders", 0), TopicPartition("orders", 1)
TOPICS = {"orders": [(0, [0], [0]), (1, [1], [1])]}


def test_records_are_deleted_at_each_leader() -> None:
    def handle(broker: int, message: Message) -> Message:
        assert isinstance(message, DeleteRecordsRequest)
        (partition,) = message.topics[0].partitions
        assert partition.offset == {0: 5, 1: HIGH_WATERMARK}[partition.partition_index]
        refused = ErrorCode.OFFSET_OUT_OF_RANGE if broker == 0 else ErrorCode.NONE
        result = DeleteRecordsPartitionResult(
            partition_index=partition.partition_index, low_watermark=9, error_code=refused
        )
        topic = DeleteRecordsTopicResult(name="orders", partitions=[result])
        return DeleteRecordsResponse(topics=[topic])

    before = {FIRST: 5, SECOND: HIGH_WATERMARK}
    results = ScriptedCluster(handle, topics=TOPICS).run(
        lambda cluster: offsets.delete_records(cluster, before)
    )
    refused = results[FIRST]
    assert isinstance(refused, KafkaError)
    assert refused.code is ErrorCode.OFFSET_OUT_OF_RANGE
    assert "5 is not between" in str(refused)
    assert results[SECOND] == 9


def test_a_time_after_the_last_record_has_no_offset() -> None:
    def handle(broker: int, message: Message) -> Message:
        assert isinstance(message, ListOffsetsRequest)
        assert message.isolation_level == 1
        answer = ListOffsetsPartitionResponse(partition_index=0, offset=-1, timestamp=-1)
        topic = ListOffsetsTopicResponse(name="orders", partitions=[answer])
        return ListOffsetsResponse(topics=[topic])

    found = ScriptedCluster(handle, topics=TOPICS).run(
        lambda cluster: offsets.find(cluster, [FIRST], 123, read_committed=True)
    )
    assert found == {FIRST: FoundOffset(None, None)}
