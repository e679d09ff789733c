"""DescribeProducers: the producers that a partition remembers."""

from __future__ import annotations

from ottla.controller.topic_names import check_name
from ottla.handlers.call import Call
from ottla.protocol.apis.describe_producers import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    PartitionResponse,
    ProducerState,
    TopicResponse,
)
from ottla.protocol.errors import KafkaError


def handle_describe_producers(
    request: DescribeProducersRequest, call: Call
) -> DescribeProducersResponse:
    return DescribeProducersResponse(
        topics=[
            TopicResponse(
                name=topic.name,
                partitions=[_answer(call, topic.name, each) for each in topic.partition_indexes],
            )
            for topic in request.topics
        ]
    )


def _answer(call: Call, topic: str, index: int) -> PartitionResponse:
    try:
        check_name(topic)
        log = call.services.replicas.get(topic, index).leading_log()
    except KafkaError as error:
        return PartitionResponse(
            partition_index=index,
            error_code=error.code,
            error_message=str(error),
            active_producers=[],
        )
    producers = [
        ProducerState(
            producer_id=state.producer_id,
            producer_epoch=state.epoch,
            last_sequence=state.last_sequence,
            last_timestamp=state.last_timestamp,
            coordinator_epoch=state.coordinator_epoch,
            current_txn_start_offset=state.transaction_start,
        )
        for state in log.producers.active_producers()
    ]
    return PartitionResponse(partition_index=index, active_producers=producers)


def refuse(request: DescribeProducersRequest, error: KafkaError) -> DescribeProducersResponse:
    return DescribeProducersResponse(
        topics=[
            TopicResponse(
                name=topic.name,
                partitions=[
                    PartitionResponse(
                        partition_index=each, error_code=error.code, active_producers=[]
                    )
                    for each in topic.partition_indexes
                ],
            )
            for topic in request.topics
        ]
    )
