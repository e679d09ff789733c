"""The requests that the raw driver repeats, and where in them and their answers things stand."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from ottla.protocol.apis.fetch import (
    FetchableTopicResponse,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
)
from ottla.protocol.apis.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)
from ottla.protocol.framing import encode_request, encode_response
from ottla.protocol.records.batch import build_batch
from ottla.protocol.records.record import Record

PRODUCE_VERSION = 9
FETCH_VERSION = 11  # the last whose answer has no lengths of changing length before the records
FETCH_BYTES = 4 * 1024 * 1024
TIMESTAMP = 1_700_000_000_000
# Numbers that stand nowhere else in a frame, so that their place can be looked up.
MARKED_CODE = 0x7EFE
_MARKED_OFFSET = 0x7EFD_FCFB_FAF9_F8F7


@dataclass(frozen=True, slots=True)
class RawRequest:
    """A frame, or several of one length, and what the raw driver must know of it."""

    frame: bytes
    head_bytes: int
    error_at: int
    offset_at: int = 0
    frames: int = 1


def produce_request(topic: str, *, record_bytes: int, acks: int, records: int = 1) -> RawRequest:
    """One batch to partition 0."""
    chance = Random(1)
    batch = build_batch(
        [_record(offset, chance.randbytes(record_bytes)) for offset in range(records)]
    )
    partition = PartitionProduceData(index=0, records=batch)
    data = [TopicProduceData(name=topic, partition_data=[partition])]
    request = ProduceRequest(acks=acks, timeout_ms=30_000, topic_data=data)
    answer = PartitionProduceResponse(index=0, error_code=MARKED_CODE, base_offset=0)
    topics = [TopicProduceResponse(name=topic, partition_responses=[answer])]
    response = encode_response(ProduceResponse(responses=topics), PRODUCE_VERSION, correlation_id=1)
    error_at = response.index(MARKED_CODE.to_bytes(2, "big"))
    frame = encode_request(request, PRODUCE_VERSION, correlation_id=1, client_id="raw")
    return RawRequest(frame, head_bytes=error_at + 2, error_at=error_at)


def fetch_request(topic: str) -> RawRequest:
    """Partition 0 from the offset that the driver writes into it."""
    partition = FetchPartition(
        partition=0, fetch_offset=_MARKED_OFFSET, partition_max_bytes=FETCH_BYTES
    )
    request = FetchRequest(
        max_wait_ms=500,
        min_bytes=1,
        max_bytes=FETCH_BYTES,
        topics=[FetchTopic(topic=topic, partitions=[partition])],
    )
    marked = encode_request(request, FETCH_VERSION, correlation_id=1, client_id="raw")
    offset_at = marked.index(_MARKED_OFFSET.to_bytes(8, "big"))
    answer = PartitionData(partition_index=0, error_code=MARKED_CODE, high_watermark=0, records=b"")
    topics = [FetchableTopicResponse(topic=topic, partitions=[answer])]
    response = encode_response(FetchResponse(responses=topics), FETCH_VERSION, correlation_id=1)
    return RawRequest(
        frame=marked[:offset_at] + bytes(8) + marked[offset_at + 8 :],
        head_bytes=len(response),
        error_at=response.index(MARKED_CODE.to_bytes(2, "big")),
        offset_at=offset_at,
    )


def _record(offset: int, value: bytes) -> Record:
    return Record(offset, TIMESTAMP, None, value)
