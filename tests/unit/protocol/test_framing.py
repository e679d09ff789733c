"""Frames and headers against bytes computed by hand, and every way they can be wrong."""

from __future__ import annotations

import pytest

from ottla.protocol.apis.api_versions import ApiVersionsRequest, ApiVersionsResponse
from ottla.protocol.apis.controlled_shutdown import ControlledShutdownRequest
from ottla.protocol.apis.heartbeat import HeartbeatRequest, HeartbeatResponse
from ottla.protocol.errors import ErrorCode, ProtocolError
from ottla.protocol.framing import (
    decode_request,
    decode_response,
    encode_request,
    encode_response,
    split_frames,
)
from ottla.protocol.headers import RequestHeader, ResponseHeader

# Key 12, version 0, correlation id 7, client id "me"; then group "g", generation 5, member "m".
HEARTBEAT_V0 = bytes.fromhex("000c 0000 00000007 0002 6d65" + "0001 67 00000005 0001 6d")
HEARTBEAT_V0_BODY = HeartbeatRequest(group_id="g", generation_id=5, member_id="m")
# Version 4 is flexible: the client id keeps its two bytes of length, the header ends with tags;
# compact texts, then the instance id null, then tags.
HEARTBEAT_V4 = bytes.fromhex("000c 0004 00000007 0002 6d65 00" + "0267 00000005 026d 00 00")


def test_a_request_is_read_by_what_its_header_says() -> None:
    header = RequestHeader(
        request_api_key=12, request_api_version=0, correlation_id=7, client_id="me"
    )
    assert decode_request(HEARTBEAT_V0) == (header, HEARTBEAT_V0_BODY, 0)
    header.request_api_version = 4
    assert decode_request(HEARTBEAT_V4) == (header, HEARTBEAT_V0_BODY, 0)


@pytest.mark.parametrize(("version", "frame"), [(0, HEARTBEAT_V0), (4, HEARTBEAT_V4)])
def test_a_request_is_written_with_its_size(version: int, frame: bytes) -> None:
    written = encode_request(HEARTBEAT_V0_BODY, version, correlation_id=7, client_id="me")
    assert written == len(frame).to_bytes(4, "big") + frame


def test_a_null_client_id_stays_null() -> None:
    written = encode_request(HEARTBEAT_V0_BODY, 0, correlation_id=-1, client_id=None)
    assert written[4:14] == bytes.fromhex("000c 0000 ffffffff ffff")
    assert decode_request(written[4:]).header.client_id is None


def test_the_oldest_request_has_no_client_id() -> None:
    # ControlledShutdown v0: key 7, version 0, correlation id 1, broker 3; the id is dropped.
    body = ControlledShutdownRequest(broker_id=3)
    frame = encode_request(body, 0, correlation_id=1, client_id="me")
    assert frame == bytes.fromhex("0000000c 0007 0000 00000001 00000003")
    assert decode_request(frame[4:]).body == body


def test_a_response_is_written_and_read_in_both_forms() -> None:
    body = HeartbeatResponse(throttle_time_ms=9, error_code=ErrorCode.REBALANCE_IN_PROGRESS)
    old = encode_response(body, 1, correlation_id=7)
    assert old == bytes.fromhex("0000000a 00000007 00000009 001b")
    # Version 4: a tag buffer after the header and one after the body.
    new = encode_response(body, 4, correlation_id=7)
    assert new == bytes.fromhex("0000000c 00000007 00 00000009 001b 00")
    for version, frame in ((1, old), (4, new)):
        found = decode_response(frame[4:], api_key=12, version=version)
        assert found == (ResponseHeader(correlation_id=7), body, version, 0)


def test_an_api_versions_response_never_has_tags_in_its_header() -> None:
    body = ApiVersionsResponse(error_code=0, api_keys=[], throttle_time_ms=0)
    # Version 3 is flexible: error, no keys (0 + 1), throttle time, no tags.
    frame = encode_response(body, 3, correlation_id=7)
    assert frame == bytes.fromhex("0000000c 00000007 0000 01 00000000 00")
    assert decode_response(frame[4:], api_key=18, version=3).body == body


def test_a_refusal_of_the_version_of_api_versions_is_read_in_version_0() -> None:
    # Error 35 and one key, 18, with versions 0 to 4, all in the form of version 0.
    frame = bytes.fromhex("00000007 0023 00000001 0012 0000 0004")
    response = decode_response(frame, api_key=18, version=4)
    body = response.body
    assert response.version == 0
    assert isinstance(body, ApiVersionsResponse)
    assert body.error_code == ErrorCode.UNSUPPORTED_VERSION
    assert [(k.api_key, k.min_version, k.max_version) for k in body.api_keys] == [(18, 0, 4)]


def test_bytes_after_a_message_are_counted_and_mean_nothing() -> None:
    assert decode_request(HEARTBEAT_V0 + b"\xff" * 3).trailing_bytes == 3
    assert decode_request(HEARTBEAT_V0 + b"\xff" * 3).body == HEARTBEAT_V0_BODY
    response = bytes.fromhex("00000007 0000") + b"zz"
    assert decode_response(response, api_key=12, version=0).trailing_bytes == 2


def test_unknown_tags_in_a_header_are_kept() -> None:
    # As HEARTBEAT_V4, with one tag in the header: number 9, one byte.
    frame = HEARTBEAT_V4[:12] + bytes.fromhex("01 09 01 aa") + HEARTBEAT_V4[13:]
    assert decode_request(frame).header.unknown_tags == [(9, b"\xaa")]


def test_an_unknown_api_is_refused_with_its_key() -> None:
    frame = bytes.fromhex("03e7 0000 00000001 ffff")
    with pytest.raises(ProtocolError, match="there is no API with key 999") as refused:
        decode_request(frame)
    assert refused.value.code is ErrorCode.UNSUPPORTED_VERSION
    with pytest.raises(ProtocolError, match="there is no API with key -1"):
        decode_request(b"\xff\xff" + frame[2:])
    with pytest.raises(ProtocolError, match="there is no API with key 999"):
        decode_response(frame, api_key=999, version=0)


@pytest.mark.parametrize("version", [5, 32767, -1])
def test_an_unknown_version_is_refused_with_those_there_are(version: int) -> None:
    frame = HEARTBEAT_V0[:2] + version.to_bytes(2, "big", signed=True) + HEARTBEAT_V0[4:]
    with pytest.raises(ProtocolError) as refused:
        decode_request(frame)
    assert str(refused.value) == (
        "UNSUPPORTED_VERSION: request header, field request_api_version, byte 2: "
        f"HeartbeatRequest has the versions 0 to 4, not {version}"
    )


def test_a_response_in_an_unknown_version_is_refused() -> None:
    with pytest.raises(ProtocolError, match=r"HeartbeatResponse v5: the version is not one of"):
        decode_response(bytes(20), api_key=12, version=5)


@pytest.mark.parametrize("size", range(len(HEARTBEAT_V4)))
def test_a_request_cut_off_anywhere_is_refused(size: int) -> None:
    with pytest.raises(ProtocolError) as refused:
        decode_request(HEARTBEAT_V4[:size])
    first = "request header" if size < 4 else "RequestHeader v2"
    assert refused.value.reading == (first if size < 13 else "HeartbeatRequest v4")
    assert refused.value.path
    assert refused.value.offset is not None
    assert refused.value.offset <= size


def test_the_place_of_a_mistake_is_counted_from_the_start_of_the_frame() -> None:
    # The group's length, at byte 12, says 1000.
    frame = HEARTBEAT_V0[:12] + b"\x03\xe8" + HEARTBEAT_V0[14:]
    with pytest.raises(ProtocolError) as refused:
        decode_request(frame)
    assert str(refused.value) == (
        "INVALID_REQUEST: HeartbeatRequest v0, field group_id, byte 14: "
        "string of length 1000 needs 1000 bytes, 8 are left"
    )


@pytest.mark.parametrize("size", range(4))
def test_a_response_cut_off_in_its_header_is_refused(size: int) -> None:
    with pytest.raises(ProtocolError, match=r"ResponseHeader v0, field correlation_id, byte 0"):
        decode_response(bytes(size), api_key=12, version=0)


def test_frames_are_split_by_their_sizes() -> None:
    stream = bytes.fromhex("00000002 aabb 00000000 00000001 cc")
    assert [bytes(frame) for frame in split_frames(stream)] == [b"\xaa\xbb", b"", b"\xcc"]
    assert list(split_frames(b"")) == []


@pytest.mark.parametrize(
    ("stream", "told"),
    [
        ("00000001 aa 0000", "byte 5: 2 bytes are left, a size needs 4"),
        ("00000001 aa 00000003 bbbb", "byte 5: the size says 3 bytes, 2 are left"),
        ("ffffffff", "byte 0: the size -1 is not between 0 and 100"),
        ("00000065", "byte 0: the size 101 is not between 0 and 100"),
        ("7fffffff", "byte 0: the size 2147483647 is not between 0 and 100"),
    ],
)
def test_a_frame_that_is_not_whole_is_refused(stream: str, told: str) -> None:
    with pytest.raises(ProtocolError) as refused:
        list(split_frames(bytes.fromhex(stream), max_bytes=100))
    assert str(refused.value) == f"INVALID_REQUEST: frame, field size, {told}"


def test_what_is_written_can_be_split_and_read_again() -> None:
    body = ApiVersionsRequest(client_software_name="me", client_software_version="1")
    stream = b"".join(
        encode_request(body, version, correlation_id=version, client_id="c") for version in (3, 4)
    )
    found = [decode_request(frame) for frame in split_frames(stream)]
    assert [request.body for request in found] == [body, body]
    assert [request.header.correlation_id for request in found] == [3, 4]
