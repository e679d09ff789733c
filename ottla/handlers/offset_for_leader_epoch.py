"""OffsetForLeaderEpoch: where an epoch ends in the leader's log."""

from __future__ import annotations

from ottla.handlers.call import Call
from ottla.protocol.apis.offset_for_leader_epoch import (
    EpochEndOffset,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderPartition,
    OffsetForLeaderTopicResult,
)
from ottla.protocol.errors import ErrorCode, KafkaError


def handle_offset_for_leader_epoch(
    request: OffsetForLeaderEpochRequest, call: Call
) -> OffsetForLeaderEpochResponse:
    return OffsetForLeaderEpochResponse(
        topics=[
            OffsetForLeaderTopicResult(
                topic=topic.topic,
                partitions=[_answer(topic.topic, each, call) for each in topic.partitions],
            )
            for topic in request.topics
        ]
    )


def _answer(topic: str, asked: OffsetForLeaderPartition, call: Call) -> EpochEndOffset:
    try:
        partition = call.services.replicas.get(topic, asked.partition)
        log = partition.leading_log(leader_epoch=asked.current_leader_epoch)
        end = log.epochs.end_offset_for(asked.leader_epoch, log_end_offset=log.next_offset)
    except KafkaError as error:
        return EpochEndOffset(partition=asked.partition, error_code=error.code)
    return EpochEndOffset(
        partition=asked.partition,
        error_code=ErrorCode.NONE,
        leader_epoch=end.epoch,
        end_offset=end.end_offset,
    )


def refuse(request: OffsetForLeaderEpochRequest, error: KafkaError) -> OffsetForLeaderEpochResponse:
    return OffsetForLeaderEpochResponse(
        topics=[
            OffsetForLeaderTopicResult(
                topic=topic.topic,
                partitions=[
                    EpochEndOffset(partition=each.partition, error_code=error.code)
                    for each in topic.partitions
                ],
            )
            for topic in request.topics
        ]
    )
