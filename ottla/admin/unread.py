"""How old the next unread record is: one record fetched at each offset, and its time looked at."""

from __future__ import annotations

from collections.abc import Mapping

from ottla.admin.cluster import Cluster, TopicPartition, together
from ottla.admin.offsets import EARLIEST, FoundOffset, find
from ottla.admin.refusals import refusal
from ottla.protocol.apis.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
)
from ottla.protocol.errors import ErrorCode, KafkaError
from ottla.protocol.records.record_set import Batch, read_batches

_FIRST_WITH_WHOLE_BATCHES = 4
_LAST_VERSION_WITH_NAMES = 12
# The first batch of a partition comes whole whatever its size, if nothing else is asked for.
_ONE_BATCH_BYTES = 1
_WAIT_MS = 500
# Batches may be empty (compacted) or markers of transactions; a few are passed over.
_MOST_BATCHES = 10
_NO_TIMESTAMP = -1


async def unread_timestamps(
    cluster: Cluster, positions: Mapping[TopicPartition, int]
) -> dict[TopicPartition, int | KafkaError | None]:
    """The time of the first record from each offset on; None if there is none or it has none."""

    async def ask(
        leader: int, led: list[TopicPartition]
    ) -> dict[TopicPartition, int | KafkaError | None]:
        # One request each, or only the first partition of a request would get a whole batch.
        found = await together(_timestamp(cluster, leader, each, positions[each]) for each in led)
        return dict(zip(led, found, strict=True))

    return await cluster.ask_leaders(list(positions), ask)


async def _timestamp(
    cluster: Cluster, leader: int, partition: TopicPartition, offset: int
) -> int | KafkaError | None:
    for _ in range(_MOST_BATCHES):
        told = await _fetch(cluster, leader, partition, offset)
        if told.error_code == ErrorCode.OFFSET_OUT_OF_RANGE:
            first = (await find(cluster, [partition], EARLIEST))[partition]
            if isinstance(first, FoundOffset) and (first.offset or 0) > offset:
                offset = first.offset or 0  # what was not read by then is gone already
                continue
        if told.error_code != ErrorCode.NONE:
            return refusal(told.error_code)
        assert isinstance(told.records, bytes | memoryview | None)
        batches = list(read_batches(told.records or b""))
        for batch in batches:
            if (timestamp := _first_timestamp(batch, offset)) is not None:
                return None if timestamp == _NO_TIMESTAMP else timestamp
        if not batches:
            return None
        offset = batches[-1].next_offset
    return None


async def _fetch(
    cluster: Cluster, leader: int, partition: TopicPartition, offset: int
) -> PartitionData:
    wanted = FetchPartition(
        partition=partition.partition, fetch_offset=offset, partition_max_bytes=_ONE_BATCH_BYTES
    )
    request = FetchRequest(
        max_wait_ms=_WAIT_MS,
        min_bytes=1,
        max_bytes=_ONE_BATCH_BYTES,
        topics=[FetchTopic(topic=partition.topic, partitions=[wanted])],
    )
    answer = await cluster.ask_broker(
        leader,
        request,
        FetchResponse,
        at_least=_FIRST_WITH_WHOLE_BATCHES,
        at_most=_LAST_VERSION_WITH_NAMES,
    )
    if answer.error_code != ErrorCode.NONE:
        raise refusal(answer.error_code)
    (topic,) = answer.responses
    (told,) = topic.partitions
    return told


def _first_timestamp(batch: Batch, offset: int) -> int | None:
    if batch.is_control:
        return None
    for record in batch.records():
        if record.offset >= offset:
            appended = batch.log_append_time
            return record.timestamp if appended is None else appended
    return None
