"""ListOffsets: the offset at a time, at the start or at the end of a partition."""

from __future__ import annotations

from collections import Counter
from collections.abc import Coroutine, Generator
from typing import Any

from ottla.handlers.call import Call
from ottla.handlers.slices import at_once_or_later
from ottla.protocol.apis.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from ottla.protocol.errors import ErrorCode, KafkaError
from ottla.replication.offsets import EARLIEST, MAX_TIMESTAMP, OffsetSearch, segment_offsets
from ottla.replication.partition import Partition
from ottla.replication.reading import DEBUGGER, Reader, isolation_of
from ottla.storage.files import CorruptLog, DiskFailed
from ottla.storage.log import Log

_OLD_STYLE = 0
# Which version brought which of the times that are none.
_SPECIAL_FROM = {-1: 1, -2: 1, MAX_TIMESTAMP: 7, -4: 8, -5: 9}


def handle_list_offsets(
    request: ListOffsetsRequest, call: Call
) -> ListOffsetsResponse | Coroutine[Any, Any, ListOffsetsResponse]:
    return at_once_or_later(_answers(request, call), call.services.timer)


def _answers(request: ListOffsetsRequest, call: Call) -> Generator[None, None, ListOffsetsResponse]:
    named = Counter(
        (topic.name, each.partition_index) for topic in request.topics for each in topic.partitions
    )
    response = ListOffsetsResponse(topics=[])
    for topic in request.topics:
        partitions = []
        for each in topic.partitions:
            count = named[topic.name, each.partition_index]
            partitions.append((yield from _answer(request, topic.name, each, call, count=count)))
            yield
        response.topics.append(ListOffsetsTopicResponse(name=topic.name, partitions=partitions))
    return response


def _answer(
    request: ListOffsetsRequest,
    topic: str,
    asked: ListOffsetsPartition,
    call: Call,
    *,
    count: int,
) -> Generator[None, None, ListOffsetsPartitionResponse]:
    response = ListOffsetsPartitionResponse(partition_index=asked.partition_index)
    try:
        if count > 1 and call.version > _OLD_STYLE:
            raise KafkaError(ErrorCode.INVALID_REQUEST, f"{topic} is named {count} times")
        partition = call.services.replicas.get(topic, asked.partition_index)
        try:
            yield from _find(request, partition, asked, call, response)
        except (CorruptLog, DiskFailed) as failure:
            raise partition.unreadable(failure) from failure
    except KafkaError as error:
        response.error_code = error.code
    return response


def _find(
    request: ListOffsetsRequest,
    partition: Partition,
    asked: ListOffsetsPartition,
    call: Call,
    response: ListOffsetsPartitionResponse,
) -> Generator[None, None, None]:
    reader = Reader(
        replica_id=request.replica_id,
        isolation=isolation_of(request.isolation_level),
        max_bytes=0,
        min_bytes=0,
        first_batch_whole=False,
    )
    if call.version == _OLD_STYLE:
        if asked.max_num_offsets < 0:
            detail = f"{asked.max_num_offsets} offsets at most"
            raise KafkaError(ErrorCode.INVALID_REQUEST, detail)
        if asked.timestamp < EARLIEST:
            detail = f"version 0 has no time {asked.timestamp}"
            raise KafkaError(ErrorCode.UNSUPPORTED_VERSION, detail)
        log = _log(partition, asked, reader)
        response.old_style_offsets = segment_offsets(
            log, asked.timestamp, count=asked.max_num_offsets, reader=reader
        )
        return
    if asked.timestamp < 0 and call.version < _SPECIAL_FROM.get(asked.timestamp, 0x7FFF):
        detail = f"version {call.version} has no time {asked.timestamp}"
        raise KafkaError(ErrorCode.UNSUPPORTED_VERSION, detail)
    log = _log(partition, asked, reader)
    search = OffsetSearch(log, asked.timestamp, reader=reader, leader_epoch=partition.leader_epoch)
    while not search.step():
        yield
        if _log(partition, asked, reader) is not log:  # in between it may have gone, or moved
            raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER, f"{partition.topic} has moved")
    found = search.found
    if found is not None:
        response.timestamp, response.offset = found.timestamp, found.offset
        if call.version >= 4:
            response.leader_epoch = found.leader_epoch


def _log(partition: Partition, asked: ListOffsetsPartition, reader: Reader) -> Log:
    if reader.replica_id != DEBUGGER:
        return partition.leading_log(leader_epoch=asked.current_leader_epoch)
    log = partition.local_log()
    partition.check_epoch(asked.current_leader_epoch)
    return log


def refuse(request: ListOffsetsRequest, error: KafkaError) -> ListOffsetsResponse:
    return ListOffsetsResponse(
        topics=[
            ListOffsetsTopicResponse(
                name=topic.name,
                partitions=[
                    ListOffsetsPartitionResponse(
                        partition_index=each.partition_index, error_code=error.code
                    )
                    for each in topic.partitions
                ],
            )
            for topic in request.topics
        ]
    )
