"""WriteTxnMarkers (27): the transaction coordinator has commit or abort written to partitions."""

from ottla.protocol.primitives import Int16, Int32, Int64
from ottla.protocol.schema import Message, Struct, message


class WritableTxnMarkerTopic(Struct):
    name: str
    partition_indexes: list[Int32]


class WritableTxnMarker(Struct):
    producer_id: Int64
    producer_epoch: Int16
    transaction_result: bool
    topics: list[WritableTxnMarkerTopic]
    coordinator_epoch: Int32


@message(key=27, newest=1, flexible_from=1)
class WriteTxnMarkersRequest(Message):
    markers: list[WritableTxnMarker]


class WritableTxnMarkerPartitionResult(Struct):
    partition_index: Int32
    error_code: Int16 = 0


class WritableTxnMarkerTopicResult(Struct):
    name: str
    partitions: list[WritableTxnMarkerPartitionResult]


class WritableTxnMarkerResult(Struct):
    producer_id: Int64
    topics: list[WritableTxnMarkerTopicResult]


@message(key=27, newest=1, flexible_from=1)
class WriteTxnMarkersResponse(Message):
    markers: list[WritableTxnMarkerResult]
