"""What a produce request is answered with, when all that it waited for is done."""

from __future__ import annotations

from ottla.handlers.call import Call
from ottla.handlers.current_leader import current_leader, nodes
from ottla.handlers.slow_requests import name_if_slow
from ottla.protocol.apis.produce import (
    BatchIndexAndErrorMessage,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionProduceResponse,
    ProduceResponse,
    TopicProduceResponse,
)
from ottla.protocol.errors import ErrorCode
from ottla.replication.delayed_produce import PartitionResult

_CURRENT_LEADER_FROM = 10


def answer_produce(call: Call, acks: int, results: list[PartitionResult]) -> None:
    name_if_slow(call, "")  # with the write, and with what it waited for
    if acks == 0:
        if any(result.error for result in results):
            call.connection.close()  # so that the producer asks who leads
        else:
            call.reply_with([])
        return
    topics: dict[str, list[PartitionProduceResponse]] = {}
    for result in results:
        topics.setdefault(result.topic, []).append(
            PartitionProduceResponse(
                index=result.index,
                error_code=result.error,
                base_offset=result.base_offset,
                log_append_time_ms=result.log_append_time,
                log_start_offset=result.log_start_offset,
                record_errors=[
                    BatchIndexAndErrorMessage(batch_index=index, batch_index_error_message=why)
                    for index, why in result.record_errors
                ],
                error_message=result.error_message,
            )
        )
    responses = [
        TopicProduceResponse(name=name, partition_responses=partitions)
        for name, partitions in topics.items()
    ]
    response = ProduceResponse(responses=responses)
    if call.version >= _CURRENT_LEADER_FROM and any(result.error for result in results):
        _tell_leaders(call, response)
    call.reply(response)


def _tell_leaders(call: Call, response: ProduceResponse) -> None:
    leaders = []
    for topic in response.responses:
        for each in topic.partition_responses:
            if each.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER:
                leader = current_leader(call, topic.name, each.index)
                each.current_leader = LeaderIdAndEpoch(**leader._asdict())
                leaders.append(leader.leader_id)
    response.node_endpoints = [NodeEndpoint(**node._asdict()) for node in nodes(call, leaders)]
