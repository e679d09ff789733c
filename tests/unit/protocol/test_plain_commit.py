"""Plain commits are read as the codec reads them, and all others are left to it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.protocol.apis.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from ottla.protocol.codec import decode, encode
from ottla.protocol.plain_commit import (
    PlainPartitions,
    index_columns,
    read_indexes,
    read_plain_commit,
)

INT32 = st.integers(-(1 << 31), (1 << 31) - 1)
INT64 = st.integers(-(1 << 63), (1 << 63) - 1)
TEXTS = st.text(max_size=200)
partitions = st.builds(
    OffsetCommitRequestPartition,
    partition_index=INT32,
    committed_offset=INT64,
    committed_leader_epoch=INT32,
    committed_metadata=st.sampled_from(["", None]),
)
topics = st.builds(
    OffsetCommitRequestTopic,
    name=TEXTS,
    partitions=st.lists(partitions, min_size=10, max_size=150),
)
requests = st.builds(
    OffsetCommitRequest,
    group_id=TEXTS,
    generation_id_or_member_epoch=INT32,
    member_id=TEXTS,
    group_instance_id=st.none() | TEXTS,
    topics=st.lists(topics, min_size=1, max_size=3),
)


def request(*metadata: str) -> OffsetCommitRequest:
    """Of thirty partitions; some of the last with metadata."""
    texts = [""] * (30 - len(metadata)) + list(metadata)
    rows = [
        OffsetCommitRequestPartition(partition_index=i, committed_offset=9, committed_metadata=text)
        for i, text in enumerate(texts)
    ]
    topic = OffsetCommitRequestTopic(name="t", partitions=rows)
    return OffsetCommitRequest(group_id="g", topics=[topic])


@given(requests, st.sampled_from([8, 9]))
def test_a_plain_commit_is_read_as_the_codec_reads_it(
    wanted: OffsetCommitRequest, version: int
) -> None:
    found = read_plain_commit(b"before" + encode(wanted, version), version, len(b"before"))
    assert found is not None
    for topic in found.topics:
        rows: object = topic.partitions
        assert isinstance(rows, PlainPartitions)
        topic.partitions = list(rows)
        assert read_indexes(index_columns(rows.rows)) == [row.partition_index for row in rows]
        assert rows[1:3] == topic.partitions[1:3]
    assert found == decode(OffsetCommitRequest, encode(wanted, version), version)


@pytest.mark.parametrize("metadata", [("x",), ("note", "x"), ("\0\1" * 9, ""), ("a" * 17,)])
def test_metadata_is_left_to_the_codec(metadata: tuple[str, ...]) -> None:
    assert read_plain_commit(encode(request(*metadata), 8), 8, 0) is None


def test_what_is_cut_off_or_damaged_is_left_to_the_codec() -> None:
    whole = encode(request(), 8)
    for end in range(len(whole)):
        assert read_plain_commit(whole[:end], 8, 0) is None
    assert read_plain_commit(whole[:-1] + b"\1\0\0", 8, 0) is None, "there are tags"


def test_old_versions_and_small_commits_are_left_to_the_codec() -> None:
    assert read_plain_commit(encode(request(), 7), 7, 0) is None
    few = request()
    del few.topics[0].partitions[5:]
    assert read_plain_commit(encode(few, 8), 8, 0) is None
