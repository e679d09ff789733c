"""The generic codec beside kafka-python's, on four messages of real size, in one run."""

from __future__ import annotations

from typing import Any

from kafka.protocol.consumer import FetchRequest as TheirFetchRequest
from kafka.protocol.consumer import JoinGroupRequest as TheirJoinGroupRequest
from kafka.protocol.consumer import OffsetCommitRequest as TheirOffsetCommitRequest
from kafka.protocol.metadata import MetadataResponse as TheirMetadataResponse

from benchmarks.timing import fastest_us
from ottla.protocol.apis.fetch import FetchPartition, FetchRequest, FetchTopic
from ottla.protocol.apis.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from ottla.protocol.apis.metadata import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from ottla.protocol.apis.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from ottla.protocol.codec import decode, encode
from ottla.protocol.schema import Message


def metadata() -> Message:
    """Three brokers, 100 topics of three partitions."""
    return MetadataResponse(
        brokers=[
            MetadataResponseBroker(node_id=i, host=f"broker-{i}.example", port=9092, rack=f"r{i}")
            for i in range(3)
        ],
        cluster_id="MkU3OEVBNTcwNTJENDM2Qg",
        controller_id=1,
        topics=[
            MetadataResponseTopic(
                name=f"orders-{t}",
                topic_id=bytes(range(16)),
                partitions=[
                    MetadataResponsePartition(
                        partition_index=p,
                        leader_id=p,
                        leader_epoch=5,
                        replica_nodes=[0, 1, 2],
                        isr_nodes=[0, 1, 2],
                        offline_replicas=[],
                    )
                    for p in range(3)
                ],
            )
            for t in range(100)
        ],
    )


def fetch() -> Message:
    """Ten topics of ten partitions."""
    return FetchRequest(
        max_wait_ms=500,
        min_bytes=1,
        max_bytes=52_428_800,
        topics=[
            FetchTopic(
                topic=f"orders-{t}",
                partitions=[
                    FetchPartition(
                        partition=p,
                        current_leader_epoch=5,
                        fetch_offset=123_456_789 + p,
                        partition_max_bytes=1_048_576,
                    )
                    for p in range(10)
                ],
            )
            for t in range(10)
        ],
        rack_id="r1",
    )


def join_group() -> Message:
    return JoinGroupRequest(
        group_id="payments",
        session_timeout_ms=45_000,
        rebalance_timeout_ms=300_000,
        member_id="consumer-1-0f8fad5b-d9cb-469f-a165-70867728950e",
        protocol_type="consumer",
        protocols=[
            JoinGroupRequestProtocol(name=name, metadata=bytes(60))
            for name in ("range", "cooperative-sticky")
        ],
    )


def offset_commit() -> Message:
    """Ten topics of ten partitions."""
    return OffsetCommitRequest(
        group_id="payments",
        generation_id_or_member_epoch=17,
        member_id="consumer-1-0f8fad5b-d9cb-469f-a165-70867728950e",
        topics=[
            OffsetCommitRequestTopic(
                name=f"orders-{t}",
                partitions=[
                    OffsetCommitRequestPartition(
                        partition_index=p,
                        committed_offset=123_456_789,
                        committed_leader_epoch=5,
                        committed_metadata="",
                    )
                    for p in range(10)
                ],
            )
            for t in range(10)
        ],
    )


# What, the message, kafka-python's class, the versions, and how many times as fast we must decode.
CASES: list[tuple[str, Message, Any, tuple[int, ...], float]] = [
    ("Metadata response, 100 topics", metadata(), TheirMetadataResponse, (8, 12), 1.2),
    ("Fetch request, 100 partitions", fetch(), TheirFetchRequest, (11, 12), 0.9),
    ("JoinGroup request", join_group(), TheirJoinGroupRequest, (5, 7), 1.2),
    (
        "OffsetCommit request, 100 partitions",
        offset_commit(),
        TheirOffsetCommitRequest,
        (7, 8),
        1.2,
    ),
]
ENCODE_MUST = 3.0


def main() -> None:
    print(f"{'us':44}{'encode':>10}{'theirs':>10}{'':14}{'decode':>10}{'theirs':>10}")
    for what, message, their_class, versions, decode_must in CASES:
        for version in versions:
            _compare(f"{what}, v{version}", message, version, their_class, decode_must)


def _compare(title: str, message: Message, version: int, theirs: Any, decode_must: float) -> None:
    data = encode(message, version)
    their_message = theirs.decode(data, version=version)
    their_message._header = None  # which its decoder leaves unset and its encoder asks for
    assert bytes(their_message.encode(version=version)) == data, "the two codecs must agree"
    ours_encode, theirs_encode = fastest_us(
        lambda: encode(message, version), lambda: their_message.encode(version=version)
    )
    cls = type(message)
    ours_decode, theirs_decode = fastest_us(
        lambda: decode(cls, data, version), lambda: theirs.decode(data, version=version)
    )
    print(
        f"{title:44}{ours_encode:10.1f}{theirs_encode:10.1f}"
        f"{_verdict(theirs_encode / ours_encode, ENCODE_MUST)}"
        f"{ours_decode:10.1f}{theirs_decode:10.1f}"
        f"{_verdict(theirs_decode / ours_decode, decode_must)}"
    )


def _verdict(ratio: float, must: float) -> str:
    return f"{ratio:7.2f}x {'ok  ' if ratio >= must else f'< {must}'}"


if __name__ == "__main__":
    main()
