"""The reader of produce frames says what the declared schema's says, and refuses what it does."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.protocol.apis.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from ottla.protocol.errors import ProtocolError
from ottla.protocol.framing import decode_request, encode_request
from ottla.protocol.produce_reader import read_produce
from tests.wire.strategies import messages
from tests.wire.subjects import Subject

VERSIONS = range(12)
BEFORE = 7  # bytes in the buffer before the frame, which are somebody else's
AFTER = 9


def frame_of(request: ProduceRequest, version: int, client_id: str | None = "c") -> bytes:
    return encode_request(request, version, correlation_id=5, client_id=client_id)[4:]


def in_a_buffer(frame: bytes) -> tuple[bytearray, int, int]:
    return bytearray(b"\x7f" * BEFORE + frame + b"\x7f" * AFTER), BEFORE, BEFORE + len(frame)


def simple() -> ProduceRequest:
    partitions = [
        PartitionProduceData(index=3, records=b"abc"),
        PartitionProduceData(index=4, records=None),
    ]
    return ProduceRequest(
        transactional_id=None,
        acks=-1,
        timeout_ms=30_000,
        topic_data=[TopicProduceData(name="orders", partition_data=partitions)],
    )


@pytest.mark.parametrize("version", VERSIONS)
@given(data=st.data(), client_id=st.none() | st.text(max_size=20))
def test_every_request_is_read_as_the_schema_reads_it(
    data: st.DataObject, client_id: str | None, version: int
) -> None:
    request = data.draw(messages(Subject(ProduceRequest, version)))
    assert isinstance(request, ProduceRequest)
    frame = frame_of(request, version, client_id)
    declared = decode_request(frame)
    assert isinstance(declared.body, ProduceRequest)
    buffer, start, end = in_a_buffer(frame)
    found = read_produce(buffer, start, end, version=version)
    assert found.client_id == declared.header.client_id
    assert found.transactional_id == declared.body.transactional_id
    assert (found.acks, found.timeout_ms) == (declared.body.acks, declared.body.timeout_ms)
    topics = [
        (name, [(p.partition_index, _records(buffer, p.start, p.end)) for p in partitions])
        for name, partitions in found.topics
    ]
    assert topics == [
        (topic.name, [(p.index, _bytes(p.records)) for p in topic.partition_data])
        for topic in declared.body.topic_data
    ]


def _records(buffer: bytearray, start: int, end: int) -> bytes | None:
    return None if start < 0 else bytes(buffer[start:end])


def _bytes(records: object) -> bytes | None:
    assert records is None or isinstance(records, bytes | bytearray | memoryview)
    return None if records is None else bytes(records)


@pytest.mark.parametrize("version", VERSIONS)
def test_the_prefix_ends_where_the_first_records_begin(version: int) -> None:
    buffer, start, end = in_a_buffer(frame_of(simple(), version))
    found = read_produce(buffer, start, end, version=version)
    first = found.topics[0][1][0]
    length_bytes = 1 if version >= 9 else 4
    assert found.prefix_end + length_bytes == first.start


@pytest.mark.parametrize("version", VERSIONS)
def test_a_frame_that_is_cut_anywhere_is_refused(version: int) -> None:
    frame = frame_of(simple(), version)
    for length in range(8, len(frame)):
        buffer, start, end = in_a_buffer(frame[:length])
        with pytest.raises(ProtocolError):
            read_produce(buffer, start, end, version=version)


@pytest.mark.parametrize("version", VERSIONS)
@given(data=st.data())
def test_a_frame_with_wrong_bytes_is_read_or_refused(data: st.DataObject, version: int) -> None:
    frame = bytearray(frame_of(simple(), version))
    for _ in range(data.draw(st.integers(1, 4))):
        frame[data.draw(st.integers(8, len(frame) - 1))] = data.draw(st.integers(0, 255))
    buffer, start, end = in_a_buffer(bytes(frame))
    try:
        found = read_produce(buffer, start, end, version=version)
    except ProtocolError:
        return
    for _, partitions in found.topics:
        for each in partitions:
            assert each.start == -1 or start <= each.start <= each.end <= end


@pytest.mark.parametrize("version", VERSIONS)
@given(body=st.binary(max_size=200))
def test_garbage_is_read_or_refused(body: bytes, version: int) -> None:
    buffer, start, end = in_a_buffer(bytes(8) + body)
    with suppress(ProtocolError):
        read_produce(buffer, start, end, version=version)
