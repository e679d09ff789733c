"""One blocking connection that speaks our own messages, or whatever bytes it is given."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from types import TracebackType
from typing import TypeVar

from ottla.protocol.apis.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from ottla.protocol.apis.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from ottla.protocol.apis.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from ottla.protocol.errors import ErrorCode
from ottla.protocol.framing import decode_response, encode_request
from ottla.protocol.records.batch import build_batch
from ottla.protocol.records.record import Record
from ottla.protocol.records.record_set import read_batches
from ottla.protocol.schema import Message

PRODUCE_VERSION = 9
FETCH_VERSION = 12
CREATE_VERSION = 5
T0 = 1_700_000_000_000
_Answer = TypeVar("_Answer", bound=Message)


class Gone(Exception):
    """The broker closed the connection."""


class Client:
    """Answers are received in the order of the requests."""

    def __init__(self, address: tuple[str, int], *, patience_s: float = 60.0) -> None:
        self.socket = socket.create_connection(address, patience_s)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._sent = 0
        self._expected: list[tuple[int, int]] = []

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.socket.close()

    def send(self, message: Message, version: int, *, is_answered: bool = True) -> None:
        self._sent += 1
        if is_answered:
            self._expected.append((message.api_key, version))
        frame = encode_request(message, version, correlation_id=self._sent, client_id="hostile")
        self.send_bytes(frame)

    def send_bytes(self, data: bytes) -> None:
        try:
            self.socket.sendall(data)
        except ConnectionError as error:
            raise Gone from error

    def receive_frame(self) -> bytes:
        return self._take(int.from_bytes(self._take(4), "big"))

    def _take(self, count: int) -> bytes:
        taken = bytearray(count)
        view, at = memoryview(taken), 0
        while at < count:
            try:
                received = self.socket.recv_into(view[at:])
            except ConnectionError as error:
                raise Gone from error
            if not received:
                raise Gone
            at += received
        return bytes(taken)

    def receive(self, kind: type[_Answer]) -> _Answer:
        key, version = self._expected.pop(0)
        answer = decode_response(self.receive_frame(), api_key=key, version=version).body
        assert isinstance(answer, kind)
        return answer

    def ask(self, message: Message, version: int, kind: type[_Answer]) -> _Answer:
        self.send(message, version)
        return self.receive(kind)


def batch_of(
    *values: bytes, producer_id: int = -1, base_sequence: int = -1, key: bytes | None = None
) -> bytes:
    records = [Record(i, T0 + i, key, value, []) for i, value in enumerate(values)]
    epoch = 0 if producer_id >= 0 else -1
    return build_batch(
        records, producer_id=producer_id, producer_epoch=epoch, base_sequence=base_sequence
    )


def produce_request(
    topic: str, records: bytes, *, partition: int = 0, acks: int = 1
) -> ProduceRequest:
    part = PartitionProduceData(index=partition, records=records)
    data = [TopicProduceData(name=topic, partition_data=[part])]
    return ProduceRequest(transactional_id=None, acks=acks, timeout_ms=30_000, topic_data=data)


def produced(answer: ProduceResponse) -> PartitionProduceResponse:
    return answer.responses[0].partition_responses[0]


def produce(
    client: Client, topic: str, records: bytes, *, partition: int = 0, acks: int = 1
) -> PartitionProduceResponse:
    request = produce_request(topic, records, partition=partition, acks=acks)
    return produced(client.ask(request, PRODUCE_VERSION, ProduceResponse))


def fetch_request(
    topic: str,
    offset: int,
    *,
    partition: int = 0,
    max_bytes: int = 1 << 20,
    max_wait_ms: int = 0,
    min_bytes: int = 1,
) -> FetchRequest:
    part = FetchPartition(partition=partition, fetch_offset=offset, partition_max_bytes=max_bytes)
    return FetchRequest(
        max_wait_ms=max_wait_ms,
        min_bytes=min_bytes,
        max_bytes=max_bytes,
        session_id=0,
        session_epoch=-1,
        topics=[FetchTopic(topic=topic, partitions=[part])],
        forgotten_topics_data=[],
    )


def fetched(answer: FetchResponse) -> list[tuple[int, bytes | None]]:
    """Offsets and values; batches must be whole and their checksums right."""
    part = answer.responses[0].partitions[0]
    assert part.error_code == ErrorCode.NONE, ErrorCode(part.error_code)
    data = part.records or b""
    assert isinstance(data, bytes | memoryview)
    return [(r.offset, r.value) for batch in read_batches(data) for r in batch.records()]


def read_all(client: Client, topic: str, *, partition: int = 0) -> list[tuple[int, bytes | None]]:
    """Everything that the partition holds now."""
    found: list[tuple[int, bytes | None]] = []
    while True:
        after = found[-1][0] + 1 if found else 0
        request = fetch_request(topic, after, partition=partition)
        more = fetched(client.ask(request, FETCH_VERSION, FetchResponse))
        if not more:
            return found
        found += [each for each in more if each[0] >= after]


def is_led(client: Client, topic: str, *, partition: int = 0) -> bool:
    """Whether a broker that has just started serves the partition yet."""
    answer = client.ask(fetch_request(topic, 0, partition=partition), FETCH_VERSION, FetchResponse)
    code = answer.responses[0].partitions[0].error_code
    return code != ErrorCode.NOT_LEADER_OR_FOLLOWER


def create_topics(
    client: Client,
    names: Sequence[str],
    *,
    partitions: int = 1,
    configs: dict[str, str] | None = None,
    timeout_ms: int = 60_000,
) -> list[ErrorCode]:
    topics = [_topic(name, partitions=partitions, configs=configs or {}) for name in names]
    request = CreateTopicsRequest(topics=topics, timeout_ms=timeout_ms, validate_only=False)
    answer = client.ask(request, CREATE_VERSION, CreateTopicsResponse)
    return [ErrorCode(each.error_code) for each in answer.topics]


def creation(client: Client, name: str, *, partitions: int) -> CreatableTopicResult:
    """All that is answered to it."""
    topics = [_topic(name, partitions=partitions, configs={})]
    request = CreateTopicsRequest(topics=topics, timeout_ms=60_000, validate_only=False)
    return client.ask(request, CREATE_VERSION, CreateTopicsResponse).topics[0]


def _topic(name: str, *, partitions: int, configs: dict[str, str]) -> CreatableTopic:
    return CreatableTopic(
        name=name,
        num_partitions=partitions,
        replication_factor=1,
        assignments=[],
        configs=[CreatableTopicConfig(name=key, value=value) for key, value in configs.items()],
    )
