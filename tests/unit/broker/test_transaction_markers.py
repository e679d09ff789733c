"""Where markers go, and what becomes of what is written here."""

from __future__ import annotations

from collections.abc import Callable

from ottla.broker.transaction_markers import TransactionMarkers
from ottla.coordinators.transactions.marker_port import NO_LEADER, MarkerCodes
from ottla.coordinators.transactions.requests import Marker
from ottla.metadata.cache import MetadataCache
from ottla.protocol.apis.update_metadata import (
    UpdateMetadataBroker,
    UpdateMetadataEndpoint,
    UpdateMetadataPartitionState,
    UpdateMetadataRequest,
    UpdateMetadataTopicState,
)
from ottla.protocol.apis.write_txn_markers import (
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)
from ottla.protocol.errors import ErrorCode
from ottla.protocol.internal.topics import TRANSACTION_STATE_TOPIC
from ottla.protocol.schema import Message

NONE, REFUSED = ErrorCode.NONE, ErrorCode.NOT_LEADER_OR_FOLLOWER
MARKER = Marker(
    producer_id=5,
    producer_epoch=2,
    coordinator_epoch=9,
    is_commit=True,
    partitions=(("orders", 0), ("clicks", 3), ("orders", 1)),
)


def metadata(**leaders: int) -> MetadataCache:
    """One broker, 1, and topics of one partition by their leaders."""
    cache = MetadataCache("cluster")
    states = [
        UpdateMetadataTopicState(
            topic_name=name,
            partition_states=[
                UpdateMetadataPartitionState(
                    partition_index=0, controller_epoch=1, leader=leader, leader_epoch=0,
                    isr=[1], zk_version=0, replicas=[1], offline_replicas=[],
                )
            ],
        )
        for name, leader in leaders.items()
    ]  # fmt: skip
    endpoint = UpdateMetadataEndpoint(port=1, host="h", listener="PLAINTEXT", security_protocol=0)
    cache.update(
        UpdateMetadataRequest(
            controller_id=1,
            controller_epoch=1,
            topic_states=states,
            live_brokers=[UpdateMetadataBroker(id=1, endpoints=[endpoint])],
        )
    )
    return cache


class Handler:
    """Refuses the partition "clicks"."""

    def __init__(self) -> None:
        self.asked: list[Message] = []

    def tell(self, request: Message, to: Callable[[Message], None]) -> None:
        assert isinstance(request, WriteTxnMarkersRequest)
        self.asked.append(request)
        to(
            WriteTxnMarkersResponse(
                markers=[
                    WritableTxnMarkerResult(
                        producer_id=marker.producer_id,
                        topics=[
                            WritableTxnMarkerTopicResult(
                                name=topic.name,
                                partitions=[
                                    WritableTxnMarkerPartitionResult(
                                        partition_index=index,
                                        error_code=REFUSED if topic.name == "clicks" else NONE,
                                    )
                                    for index in topic.partition_indexes
                                ],
                            )
                            for topic in marker.topics
                        ],
                    )
                    for marker in request.markers
                ]
            )
        )


def test_the_leader_is_a_broker_none_now_or_none_ever_again() -> None:
    cache = metadata(orders=1, away=2, leaderless=-1, **{TRANSACTION_STATE_TOPIC: 1})
    markers = TransactionMarkers(1, cache, Handler().tell)
    assert markers.leader_of("orders", 0) == 1
    assert markers.leader_of("away", 0) == NO_LEADER
    assert markers.leader_of("leaderless", 0) == NO_LEADER
    assert markers.leader_of("orders", 1) is None
    assert markers.leader_of("gone", 0) is None


def test_a_broker_that_knows_little_yet_takes_no_topic_for_deleted() -> None:
    markers = TransactionMarkers(1, metadata(orders=1), Handler().tell)
    assert markers.leader_of("orders", 0) == NO_LEADER
    assert markers.leader_of("gone", 0) == NO_LEADER


def test_what_this_broker_leads_its_own_handler_writes() -> None:
    handler, told = Handler(), list[MarkerCodes]()
    TransactionMarkers(1, metadata(), handler.tell).send(1, [MARKER], told.append)
    [request] = handler.asked
    assert isinstance(request, WriteTxnMarkersRequest)
    [marker] = request.markers
    assert (marker.producer_id, marker.producer_epoch, marker.coordinator_epoch) == (5, 2, 9)
    assert marker.transaction_result
    topics = [(topic.name, topic.partition_indexes) for topic in marker.topics]
    assert topics == [("orders", [0, 1]), ("clicks", [3])]
    assert told == [
        {(5, ("orders", 0)): NONE, (5, ("orders", 1)): NONE, (5, ("clicks", 3)): REFUSED}
    ]


def test_a_broker_that_is_not_connected_is_tried_again() -> None:
    handler, told = Handler(), list[MarkerCodes]()
    TransactionMarkers(1, metadata(), handler.tell).send(2, [MARKER], told.append)
    assert (handler.asked, told) == ([], [None])
