"""Kafka's error codes against the published table, and what a refusal says."""

from __future__ import annotations

import pytest

from ottla.protocol.errors import ErrorCode, KafkaError, ProtocolError

# Copied from the published list of error codes: those a client may simply try again.
RETRIABLE = {
    2: "CORRUPT_MESSAGE",
    3: "UNKNOWN_TOPIC_OR_PARTITION",
    5: "LEADER_NOT_AVAILABLE",
    6: "NOT_LEADER_OR_FOLLOWER",
    7: "REQUEST_TIMED_OUT",
    9: "REPLICA_NOT_AVAILABLE",
    13: "NETWORK_EXCEPTION",
    14: "COORDINATOR_LOAD_IN_PROGRESS",
    15: "COORDINATOR_NOT_AVAILABLE",
    16: "NOT_COORDINATOR",
    19: "NOT_ENOUGH_REPLICAS",
    20: "NOT_ENOUGH_REPLICAS_AFTER_APPEND",
    41: "NOT_CONTROLLER",
    51: "CONCURRENT_TRANSACTIONS",
    56: "KAFKA_STORAGE_ERROR",
    70: "FETCH_SESSION_ID_NOT_FOUND",
    71: "INVALID_FETCH_SESSION_EPOCH",
    72: "LISTENER_NOT_FOUND",
    74: "FENCED_LEADER_EPOCH",
    75: "UNKNOWN_LEADER_EPOCH",
    78: "OFFSET_NOT_AVAILABLE",
    80: "PREFERRED_LEADER_NOT_AVAILABLE",
    83: "ELIGIBLE_LEADERS_NOT_AVAILABLE",
    84: "ELECTION_NOT_NEEDED",
    88: "UNSTABLE_OFFSET_COMMIT",
    89: "THROTTLING_QUOTA_EXCEEDED",
    100: "UNKNOWN_TOPIC_ID",
    103: "INCONSISTENT_TOPIC_ID",
    106: "FETCH_SESSION_TOPIC_ID_ERROR",
    122: "SHARE_SESSION_NOT_FOUND",
    123: "INVALID_SHARE_SESSION_EPOCH",
    133: "SHARE_SESSION_LIMIT_REACHED",
}


def test_the_codes_run_from_minus_1_to_133_without_a_gap() -> None:
    assert [int(code) for code in ErrorCode] == list(range(-1, 134))


def test_no_two_names_share_a_code() -> None:
    # An alias would be in __members__ but not among the members.
    assert len(ErrorCode.__members__) == len(list(ErrorCode)) == 135


def test_exactly_kafkas_retriable_codes_are_retriable() -> None:
    assert {int(code): code.name for code in ErrorCode if code.retriable} == RETRIABLE


@pytest.mark.parametrize("code", ErrorCode, ids=lambda code: code.name)
def test_every_code_says_what_it_means_in_a_sentence(code: ErrorCode) -> None:
    assert code.meaning.endswith(".")
    assert code.meaning.count("\n") == 0


def test_a_code_is_the_number_that_goes_on_the_wire() -> None:
    assert ErrorCode(41) is ErrorCode.NOT_CONTROLLER
    assert int(ErrorCode.UNKNOWN_SERVER_ERROR).to_bytes(2, "big", signed=True) == b"\xff\xff"


def test_a_refusal_names_its_code_and_its_reason() -> None:
    assert str(KafkaError(ErrorCode.INVALID_PARTITIONS)) == "INVALID_PARTITIONS"
    assert str(KafkaError(ErrorCode.INVALID_PARTITIONS, "0")) == "INVALID_PARTITIONS: 0"


def test_broken_bytes_are_told_with_field_and_byte() -> None:
    error = ProtocolError("length -2", reading="FetchRequest v4", path="topics[0].name", offset=27)
    assert error.code is ErrorCode.INVALID_REQUEST
    assert error.detail == "FetchRequest v4, field topics[0].name, byte 27: length -2"


def test_broken_bytes_without_a_place_are_told_without_one() -> None:
    error = ProtocolError("torn", reading="a batch", code=ErrorCode.CORRUPT_MESSAGE)
    assert str(error) == "CORRUPT_MESSAGE: a batch: torn"
