"""Where the markers of ended transactions go: to the leaders of their partitions.

Those that this broker leads are written by its own handler, without a connection.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ottla.coordinators.transactions.marker_port import NO_LEADER, MarkerCodes
from ottla.coordinators.transactions.requests import Marker
from ottla.metadata.cache import MetadataCache
from ottla.protocol.apis.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)
from ottla.protocol.errors import ErrorCode
from ottla.protocol.internal.topics import TRANSACTION_STATE_TOPIC
from ottla.protocol.schema import Message

Tell = Callable[[Message, Callable[[Message], None]], None]


class TransactionMarkers:
    """Keeps the port `coordinators.transactions.marker_port.MarkerPort`."""

    def __init__(self, broker_id: int, metadata: MetadataCache, tell: Tell) -> None:
        self._broker_id = broker_id
        self._metadata = metadata
        self._tell = tell  # this broker

    def leader_of(self, topic: str, partition: int) -> int | None:
        image = self._metadata.image
        if TRANSACTION_STATE_TOPIC not in image.topics:
            # We have just started: the partitions that we lead are told to us before all others.
            return NO_LEADER
        found = image.partition(topic, partition)
        if found is None:
            return None
        return found.leader if found.leader in image.brokers else NO_LEADER

    def send(
        self, broker: int, markers: Sequence[Marker], to: Callable[[MarkerCodes], None]
    ) -> None:
        if broker != self._broker_id:
            to(None)  # no other is connected
            return
        request = WriteTxnMarkersRequest(markers=[_writable(each) for each in markers])
        self._tell(request, lambda response: to(_written(response)))


def _writable(marker: Marker) -> WritableTxnMarker:
    topics: dict[str, list[int]] = {}
    for topic, index in marker.partitions:
        topics.setdefault(topic, []).append(index)
    return WritableTxnMarker(
        producer_id=marker.producer_id,
        producer_epoch=marker.producer_epoch,
        transaction_result=marker.is_commit,
        topics=[
            WritableTxnMarkerTopic(name=name, partition_indexes=indexes)
            for name, indexes in topics.items()
        ],
        coordinator_epoch=marker.coordinator_epoch,
    )


def _written(response: Message) -> MarkerCodes:
    assert isinstance(response, WriteTxnMarkersResponse)
    return {
        (marker.producer_id, (topic.name, each.partition_index)): ErrorCode(each.error_code)
        for marker in response.markers
        for topic in marker.topics
        for each in topic.partitions
    }
