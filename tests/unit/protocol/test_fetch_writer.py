"""The hand-written writer of fetch answers says what the declared schema says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.protocol.apis.fetch import FetchableTopicResponse, FetchResponse, PartitionData
from ottla.protocol.fetch_writer import PLAIN_FROM, FetchWriter
from ottla.protocol.framing import encode_response_pieces

VERSIONS = range(PLAIN_FROM, FetchResponse.newest + 1)


class Elsewhere:
    def __init__(self, size_bytes: int) -> None:
        self.size_bytes = size_bytes

    def __len__(self) -> int:
        return self.size_bytes


offsets = st.integers(-1, (1 << 63) - 1)
partitions = st.builds(
    PartitionData,
    partition_index=st.integers(0, (1 << 31) - 1),
    high_watermark=offsets,
    last_stable_offset=offsets,
    log_start_offset=offsets,
    aborted_transactions=st.sampled_from([None, []]),
    records=st.sampled_from([0, 1, 126, 127, 128, 70_000]).map(
        lambda size: Elsewhere(size) if size else b""
    ),
)
topics = st.builds(
    FetchableTopicResponse,
    topic=st.text("abc_ü", min_size=1, max_size=200),
    topic_id=st.binary(min_size=16, max_size=16),
    partitions=st.lists(partitions, min_size=1, max_size=3),
)


def written(version: int, session_id: int, responses: list[FetchableTopicResponse]) -> list[object]:
    writer = FetchWriter(
        version, correlation_id=77, session_id=session_id, topic_count=len(responses)
    )
    for topic in responses:
        writer.topic(topic.topic, topic.topic_id, partition_count=len(topic.partitions))
        for each in topic.partitions:
            assert each.records is not None
            assert not isinstance(each.records, memoryview)
            writer.partition(
                each.partition_index,
                each.high_watermark,
                each.last_stable_offset,
                each.log_start_offset,
                reads_committed=each.aborted_transactions is not None,
                records=each.records,
            )
    return list(writer.pieces())


@pytest.mark.parametrize("version", VERSIONS)
@given(st.lists(topics, max_size=3), st.integers(0, (1 << 31) - 1))
def test_it_writes_the_bytes_of_the_schema(
    version: int, responses: list[FetchableTopicResponse], session_id: int
) -> None:
    response = FetchResponse(session_id=session_id, responses=responses)
    expected = encode_response_pieces(response, version, correlation_id=77)
    assert written(version, session_id, responses) == expected
