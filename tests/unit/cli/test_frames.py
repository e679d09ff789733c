"""Captures are cut, read and paired; what is unreadable does not hide what came before it."""

from __future__ import annotations

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.cli.frames import (
    Capture,
    Reading,
    has_sizes,
    read_detecting,
    read_requests,
    read_responses,
    read_session,
)
from tests.unit.cli.captured import (
    API_VERSIONS_4,
    API_VERSIONS_REFUSED,
    COORDINATOR_FOUND_2,
    COORDINATOR_FOUND_6,
    FIND_COORDINATOR_2,
    FIND_COORDINATOR_6,
    framed,
)


def names(reading: Reading) -> list[str]:
    return [f"{m.side} {m.to_json()['api']} v{m.version}" for m in reading.messages]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (framed(API_VERSIONS_4), True),
        (framed(API_VERSIONS_4, FIND_COORDINATOR_6), True),
        (API_VERSIONS_4, False),
        (API_VERSIONS_REFUSED, False),
        (framed(API_VERSIONS_4)[:-1], False),
        (framed(API_VERSIONS_4) + b"\0", False),
        (bytes(8), False),  # two empty frames, or rather a header of zeros
        (b"", False),
    ],
)
def test_sizes_are_seen_where_they_fit_the_whole_input(data: bytes, expected: bool) -> None:
    assert has_sizes(data) is expected


def test_a_correlation_id_that_looks_like_a_size_is_seen_through() -> None:
    heartbeat = bytes.fromhex("000000080000000000000000")  # id 8, and 8 bytes follow
    assert has_sizes(heartbeat)
    capture, reading = read_detecting(heartbeat, partial(read_responses, key=12, version=4))
    assert not capture.framed
    assert [message.header for message in reading.messages] == [{"correlationId": 8}]


def test_what_fits_neither_way_is_told_as_it_was_detected() -> None:
    capture, reading = read_detecting(framed(b"\x7f\xff\0\0"), read_requests)
    assert capture.framed
    assert reading.failure is not None
    assert "there is no API with key 32767" in reading.failure


def test_a_request_says_itself_what_it_is() -> None:
    reading = read_requests(Capture(API_VERSIONS_4, framed=False))
    assert reading.failure is None
    assert [message.to_json() for message in reading.messages] == [
        {
            "api": "ApiVersions",
            "key": 18,
            "version": 4,
            "side": "request",
            "framed": False,
            "header": {
                "requestApiKey": 18,
                "requestApiVersion": 4,
                "correlationId": 0,
                "clientId": "console-producer",
            },
            "body": {"clientSoftwareName": "apache-kafka-java", "clientSoftwareVersion": "3.9.1"},
            "trailing_bytes": 0,
            "unknown_tags": [],
        }
    ]


def test_a_response_is_read_as_it_is_told() -> None:
    reading = read_responses(Capture(framed(COORDINATOR_FOUND_2), framed=True), key=10, version=2)
    assert reading.failure is None
    (message,) = reading.messages
    assert message.framed
    assert message.header == {"correlationId": 3}
    assert message.body == {
        "throttleTimeMs": 0,
        "errorCode": 0,
        "errorMessage": "NONE",
        "nodeId": 0,
        "host": "127.0.0.1",
        "port": 49192,
    }


def test_a_refused_version_of_api_versions_is_answered_in_version_0() -> None:
    (message,) = read_responses(
        Capture(API_VERSIONS_REFUSED, framed=False), key=18, version=4
    ).messages
    assert message.version == 0
    assert message.body == {"errorCode": 35, "apiKeys": []}


def test_bytes_behind_a_message_are_counted() -> None:
    (message,) = read_requests(Capture(API_VERSIONS_4 + b"abc", framed=False)).messages
    assert message.trailing_bytes == 3


def test_unknown_tags_are_shown_with_their_place() -> None:
    # The empty tags of the header, of a coordinator and of the body become one unknown tag each.
    found = COORDINATOR_FOUND_6
    tagged = found[:4] + b"\x01\x07\x01\xaa" + found[5:-3] + b"\x00\x01\x08\x02\xbb\xcc\x00"
    (message,) = read_responses(Capture(tagged, framed=False), key=10, version=6).messages
    assert message.trailing_bytes == 0
    assert message.unknown_tags == [
        {"path": "header", "tag": 7, "hex": "aa"},
        {"path": "body.coordinators[0]", "tag": 8, "hex": "bbcc"},
    ]


def test_a_session_tells_each_request_and_then_its_answer() -> None:
    requests = framed(FIND_COORDINATOR_2, API_VERSIONS_4, FIND_COORDINATOR_6)
    responses = framed(API_VERSIONS_REFUSED, COORDINATOR_FOUND_6, COORDINATOR_FOUND_2)
    reading = read_session(Capture(requests, framed=True), Capture(responses, framed=True))
    assert reading.failure is None
    assert names(reading) == [
        "request FindCoordinator v2",
        "response FindCoordinator v2",
        "request ApiVersions v4",
        "response ApiVersions v0",
        "request FindCoordinator v6",
        "response FindCoordinator v6",
    ]


def test_a_correlation_id_used_again_goes_to_the_oldest_request() -> None:
    again = FIND_COORDINATOR_6[:4] + FIND_COORDINATOR_2[4:8] + FIND_COORDINATOR_6[8:]
    answer = COORDINATOR_FOUND_2[:4] + COORDINATOR_FOUND_6[4:]
    reading = read_session(
        Capture(framed(FIND_COORDINATOR_2, again), framed=True),
        Capture(framed(COORDINATOR_FOUND_2, answer), framed=True),
    )
    assert reading.failure is None
    assert names(reading)[1::2] == ["response FindCoordinator v2", "response FindCoordinator v6"]


def test_a_request_may_stay_without_an_answer() -> None:
    reading = read_session(
        Capture(framed(FIND_COORDINATOR_2, FIND_COORDINATOR_6), framed=True),
        Capture(framed(COORDINATOR_FOUND_6), framed=True),
    )
    assert reading.failure is None
    assert len(reading.messages) == 3


def test_an_answer_without_a_request_is_named() -> None:
    reading = read_session(
        Capture(framed(FIND_COORDINATOR_6), framed=True),
        Capture(framed(COORDINATOR_FOUND_6, COORDINATOR_FOUND_2), framed=True),
    )
    assert len(reading.messages) == 2
    assert reading.failure is not None
    assert "response 2, which begins at byte 47" in reading.failure
    assert "no request is left with correlation id 3" in reading.failure


def test_a_cut_off_session_tells_what_came_before() -> None:
    reading = read_session(
        Capture(framed(FIND_COORDINATOR_6, FIND_COORDINATOR_2), framed=True),
        Capture(framed(COORDINATOR_FOUND_6, COORDINATOR_FOUND_2)[:-1], framed=True),
    )
    assert len(reading.messages) == 3
    assert reading.failure is not None
    assert "the responses: INVALID_REQUEST: frame, field size, byte 43" in reading.failure


@pytest.mark.parametrize("side", ["request", "response"])
def test_a_frame_too_short_for_a_header_is_named(side: str) -> None:
    whole = Capture(framed(FIND_COORDINATOR_6), framed=True)
    short = Capture(framed(b"\0\0\0"), framed=True)
    reading = read_session(*((short, whole) if side == "request" else (whole, short)))
    assert reading.failure is not None
    assert f"{side} 1, which begins at byte 4: 3 bytes are too few" in reading.failure


def test_a_bad_frame_is_numbered_and_those_before_it_are_kept() -> None:
    data = framed(API_VERSIONS_4, FIND_COORDINATOR_6[:-3])
    reading = read_requests(Capture(data, framed=True))
    assert names(reading) == ["request ApiVersions v4"]
    assert reading.failure is not None
    assert "request 2, which begins at byte 60: INVALID_REQUEST: FindCoordinatorRequest v6" in (
        reading.failure
    )


@given(
    st.sampled_from([API_VERSIONS_4, FIND_COORDINATOR_2, FIND_COORDINATOR_6]),
    st.integers(min_value=0, max_value=60),
    st.binary(max_size=4),
    st.booleans(),
)
def test_damaged_bytes_end_in_a_sentence_at_worst(
    request: bytes, at: int, damage: bytes, sized: bool
) -> None:
    data = framed(request) if sized else request
    damaged = Capture(data[:at] + damage + data[at + 2 :], framed=sized)
    for reading in (
        read_requests(damaged),
        read_responses(damaged, key=10, version=6),
        read_session(damaged, damaged),
    ):
        assert reading.messages or reading.failure
