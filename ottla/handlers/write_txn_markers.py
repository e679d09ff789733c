"""WriteTxnMarkers: transactions end in the partitions that this broker leads.

What they committed of a group's offsets counts from then on.
"""

from __future__ import annotations

from functools import partial

from ottla.config.network_options import REQUEST_TIMEOUT_MS
from ottla.coordinators.groups.answers import TopicPartition
from ottla.handlers.call import Call
from ottla.protocol.apis.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)
from ottla.protocol.errors import ErrorCode, KafkaError
from ottla.protocol.internal.topics import GROUP_METADATA_TOPIC
from ottla.protocol.records.control import ControlType
from ottla.replication.delayed_produce import DelayedProduce, PartitionResult

_ALL_IN_SYNC = -1
_FIRST_MAGIC = 2


class _Answer:
    """One answer for all markers, when the last of them is safe."""

    def __init__(self, call: Call, count: int) -> None:
        self._call = call
        self._left = count
        self._codes: dict[int, dict[TopicPartition, ErrorCode]] = {}

    def written(self, marker: WritableTxnMarker, results: list[PartitionResult]) -> None:
        codes = self._codes.setdefault(marker.producer_id, {})
        for result in results:
            codes[result.topic, result.index] = result.error
            if result.topic == GROUP_METADATA_TOPIC and not result.error:
                self._call.services.groups.transaction_ended(
                    result.index, marker.producer_id, is_commit=marker.transaction_result
                )
        self._left -= 1
        if not self._left:
            self._call.reply(_response(self._codes))


def handle_write_txn_markers(
    request: WriteTxnMarkersRequest, call: Call
) -> WriteTxnMarkersResponse | None:
    if not request.markers:
        return WriteTxnMarkersResponse(markers=[])
    answer = _Answer(call, len(request.markers))
    for marker in request.markers:
        _write(call, marker, answer)
    return None


def _write(call: Call, marker: WritableTxnMarker, answer: _Answer) -> None:
    services = call.services
    results = [
        _append(call, marker, topic.name, index)
        for topic in marker.topics
        for index in topic.partition_indexes
    ]
    operation = DelayedProduce(results, acks=_ALL_IN_SYNC, reply=partial(answer.written, marker))
    timeout_ms = services.overrides.broker[REQUEST_TIMEOUT_MS]
    services.tick.settle(
        lambda: operation.written(services.replicas.produces, timeout_ms=timeout_ms)
    )


def _append(call: Call, marker: WritableTxnMarker, topic: str, index: int) -> PartitionResult:
    partition = call.services.replicas.partitions.get((topic, index))
    if partition is None or partition.log is None:
        return PartitionResult(topic, index, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    if partition.log.config.message_magic < _FIRST_MAGIC:
        return PartitionResult(topic, index, ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT)
    result = PartitionResult(topic, index)
    try:
        appended = partition.append_marker(
            ControlType.COMMIT if marker.transaction_result else ControlType.ABORT,
            producer_id=marker.producer_id,
            producer_epoch=marker.producer_epoch,
            coordinator_epoch=marker.coordinator_epoch,
            now_ms=call.services.clock.now_ms(),
        )
        result.appended(partition, appended)
    except KafkaError as error:
        result.refuse(error.code)
    return result


def _response(codes: dict[int, dict[TopicPartition, ErrorCode]]) -> WriteTxnMarkersResponse:
    return WriteTxnMarkersResponse(
        markers=[
            WritableTxnMarkerResult(producer_id=producer_id, topics=_topics(found))
            for producer_id, found in codes.items()
        ]
    )


def _topics(codes: dict[TopicPartition, ErrorCode]) -> list[WritableTxnMarkerTopicResult]:
    topics: dict[str, list[WritableTxnMarkerPartitionResult]] = {}
    for (topic, index), code in codes.items():
        result = WritableTxnMarkerPartitionResult(partition_index=index, error_code=code)
        topics.setdefault(topic, []).append(result)
    return [
        WritableTxnMarkerTopicResult(name=name, partitions=partitions)
        for name, partitions in topics.items()
    ]


def refuse(request: WriteTxnMarkersRequest, error: KafkaError) -> WriteTxnMarkersResponse:
    return _response(
        {
            marker.producer_id: {
                (topic.name, index): error.code
                for topic in marker.topics
                for index in topic.partition_indexes
            }
            for marker in request.markers
        }
    )
