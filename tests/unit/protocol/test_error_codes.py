"""The error codes of an answer are found wherever they stand."""

from __future__ import annotations

from ottla.protocol.apis.fetch import FetchableTopicResponse, FetchResponse, PartitionData
from ottla.protocol.apis.heartbeat import HeartbeatResponse
from ottla.protocol.apis.list_groups import ListGroupsResponse
from ottla.protocol.error_codes import errors_in
from ottla.protocol.errors import ErrorCode


def partition(error: ErrorCode) -> PartitionData:
    return PartitionData(partition_index=0, error_code=error, high_watermark=-1, records=b"")


def test_codes_are_found_at_the_top_and_in_arrays_of_arrays() -> None:
    moved, lost = ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.KAFKA_STORAGE_ERROR
    topics = [
        FetchableTopicResponse(topic="a", partitions=[partition(moved), partition(ErrorCode.NONE)]),
        FetchableTopicResponse(topic="b", partitions=[partition(lost)]),
    ]
    assert list(errors_in(FetchResponse(session_id=0, responses=topics))) == [moved, lost]
    refused = HeartbeatResponse(error_code=ErrorCode.UNKNOWN_MEMBER_ID)
    assert list(errors_in(refused)) == [ErrorCode.UNKNOWN_MEMBER_ID]


def test_an_answer_without_an_error_has_none() -> None:
    assert list(errors_in(HeartbeatResponse(error_code=ErrorCode.NONE))) == []
    assert list(errors_in(ListGroupsResponse(error_code=ErrorCode.NONE, groups=[]))) == []
