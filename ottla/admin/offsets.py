"""Where partitions begin and end, which offset a time has, and moving the beginning up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ottla.admin.cluster import Cluster, TopicPartition
from ottla.admin.refusals import refusal
from ottla.protocol.apis.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopic,
)
from ottla.protocol.apis.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from ottla.protocol.errors import ErrorCode, KafkaError

# Times that are none: ListOffsets gives them a meaning of their own.
LATEST = -1
EARLIEST = -2
MAX_TIMESTAMP = -3
HIGH_WATERMARK = -1  # the offset that makes DeleteRecords drop everything
_FIRST_VERSION = {MAX_TIMESTAMP: 7}


@dataclass(frozen=True, slots=True)
class FoundOffset:
    """None where no record is that late; `timestamp` only where a record was looked for."""

    offset: int | None
    timestamp: int | None


async def find(
    cluster: Cluster,
    partitions: Sequence[TopicPartition],
    at: int,
    *,
    read_committed: bool = False,
) -> dict[TopicPartition, FoundOffset | KafkaError]:
    """`at` is a time in ms (the first record from then on), EARLIEST, LATEST or MAX_TIMESTAMP."""

    async def ask(
        leader: int, led: list[TopicPartition]
    ) -> dict[TopicPartition, FoundOffset | KafkaError]:
        topics = [
            ListOffsetsTopic(
                name=topic,
                partitions=[ListOffsetsPartition(partition_index=p, timestamp=at) for p in indexes],
            )
            for topic, indexes in by_topic(led).items()
        ]
        request = ListOffsetsRequest(
            replica_id=-1, isolation_level=int(read_committed), topics=topics
        )
        # Version 0 answers with segments' starts instead of an offset.
        at_least = _FIRST_VERSION.get(at, 1)
        answer = await cluster.ask_broker(leader, request, ListOffsetsResponse, at_least=at_least)
        return {
            TopicPartition(topic.name, each.partition_index): refusal(each.error_code)
            if each.error_code != ErrorCode.NONE
            else FoundOffset(_known(each.offset), _known(each.timestamp))
            for topic in answer.topics
            for each in topic.partitions
        }

    return await cluster.ask_leaders(partitions, ask)


async def delete_records(
    cluster: Cluster, before: Mapping[TopicPartition, int]
) -> dict[TopicPartition, int | KafkaError]:
    """Drops what is before the offset (HIGH_WATERMARK: all). The results are where each begins."""

    async def ask(leader: int, led: list[TopicPartition]) -> dict[TopicPartition, int | KafkaError]:
        topics = [
            DeleteRecordsTopic(
                name=topic,
                partitions=[
                    DeleteRecordsPartition(
                        partition_index=index, offset=before[TopicPartition(topic, index)]
                    )
                    for index in indexes
                ],
            )
            for topic, indexes in by_topic(led).items()
        ]
        request = DeleteRecordsRequest(topics=topics, timeout_ms=cluster.operation_timeout_ms)
        answer = await cluster.ask_broker(leader, request, DeleteRecordsResponse)
        found: dict[TopicPartition, int | KafkaError] = {}
        for topic in answer.topics:
            for each in topic.partitions:
                place = TopicPartition(topic.name, each.partition_index)
                found[place] = each.low_watermark
                if each.error_code != ErrorCode.NONE:
                    found[place] = refusal(each.error_code, _why(each.error_code, before[place]))
        return found

    return await cluster.ask_leaders(list(before), ask)


def by_topic(partitions: Sequence[TopicPartition]) -> dict[str, list[int]]:
    indexes: dict[str, list[int]] = {}
    for topic, partition in partitions:
        indexes.setdefault(topic, []).append(partition)
    return indexes


def _known(number: int) -> int | None:
    return None if number == -1 else number


def _why(code: int, offset: int) -> str | None:
    """Where the broker has no words and the offset would help."""
    if code == ErrorCode.OFFSET_OUT_OF_RANGE:
        return f"{offset} is not between the first offset and the last: see `ottla offsets get`"
    return None
