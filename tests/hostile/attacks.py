"""What a hostile client sends. Each attack takes a seeded source of chance, and gives its bytes."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from struct import pack

from ottla.protocol.apis.api_versions import ApiVersionsRequest
from ottla.protocol.apis.create_topics import CreateTopicsRequest
from ottla.protocol.apis.fetch import FetchPartition, FetchRequest, FetchTopic
from ottla.protocol.apis.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from ottla.protocol.apis.metadata import MetadataRequest, MetadataRequestTopic
from ottla.protocol.apis.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from ottla.protocol.framing import encode_request
from ottla.protocol.records.batch import build_batch
from ottla.protocol.records.record import Record
from ottla.protocol.schema import Message

Attack = Callable[[Random], bytes]
TOPIC = "hostile"
LARGEST_SIZE = 100 * 1024 * 1024  # socket.request.max.bytes
_SIZES = (-1, -(2**31), 0, 1, 3, LARGEST_SIZE + 1, 2**31 - 1)
_BATCH = build_batch([Record(i, 1_600_000_000_000, b"k", b"v" * 40) for i in range(5)])


def _requests() -> list[Message]:
    return [
        ApiVersionsRequest(client_software_name="x", client_software_version="1"),
        MetadataRequest(topics=[MetadataRequestTopic(name=TOPIC)]),
        CreateTopicsRequest(topics=[], timeout_ms=1),
        ProduceRequest(
            acks=-1,
            timeout_ms=1000,
            topic_data=[
                TopicProduceData(
                    name=TOPIC, partition_data=[PartitionProduceData(index=0, records=_BATCH)]
                )
            ],
        ),
        FetchRequest(
            max_wait_ms=0,
            min_bytes=0,
            topics=[
                FetchTopic(
                    topic=TOPIC,
                    partitions=[
                        FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1 << 20)
                    ],
                )
            ],
        ),
        ListOffsetsRequest(
            replica_id=-1,
            topics=[
                ListOffsetsTopic(
                    name=TOPIC, partitions=[ListOffsetsPartition(partition_index=0, timestamp=-1)]
                )
            ],
        ),
    ]


def request(chance: Random) -> bytes:
    """A good one, of any version; the attacks start from it."""
    body = chance.choice(_requests())
    version = chance.randint(body.oldest, body.newest)
    return encode_request(body, version, correlation_id=chance.getrandbits(31), client_id="hostile")


def _framed(body: bytes) -> bytes:
    return pack(">i", len(body)) + body


def noise(chance: Random) -> bytes:
    """No Kafka at all."""
    return chance.randbytes(chance.randint(1, 4000))


def noise_in_a_frame(chance: Random) -> bytes:
    return _framed(noise(chance))


def odd_size(chance: Random) -> bytes:
    """A size that no frame has, or one that is not kept."""
    return pack(">i", chance.choice(_SIZES)) + request(chance)[4:]


def cut_off(chance: Random) -> bytes:
    """The size fits, the body ends early."""
    body = request(chance)[4:]
    return _framed(body[: chance.randrange(len(body))])


def flipped(chance: Random) -> bytes:
    """Some bits are others: lengths lie, batches are corrupt, tags are unknown."""
    body = bytearray(request(chance)[4:])
    for _ in range(chance.randint(1, 8)):
        body[chance.randrange(len(body))] ^= 1 << chance.randrange(8)
    return _framed(bytes(body))


def lying_length(chance: Random) -> bytes:
    """Somewhere a length is enormous, or negative."""
    body = bytearray(request(chance)[4:])
    at = chance.randrange(8, len(body))
    body[at : at + 4] = chance.choice((b"\x7f\xff\xff\xff", b"\xff\xff\xff\xfe", b"\x80\0\0\0"))
    return _framed(bytes(body))


def unknown_api(chance: Random) -> bytes:
    """A key or version that nobody has."""
    head = pack(">hh", chance.randint(-(2**15), 2**15 - 1), chance.randint(-(2**15), 2**15 - 1))
    return _framed(head + request(chance)[8:])


def many_at_once(chance: Random) -> bytes:
    """Pipelined, and one in the middle is bad."""
    good = b"".join(request(chance) for _ in range(chance.randint(2, 20)))
    return good + flipped(chance) + request(chance)


ATTACKS: tuple[Attack, ...] = (
    noise, noise_in_a_frame, odd_size, cut_off, flipped, lying_length, unknown_api, many_at_once,
    request,
)  # fmt: skip
