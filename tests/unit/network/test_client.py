"""Our own requests: versions agreed on, answers told apart, and what a broken peer leads to."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import pytest

from ottla import __version__
from ottla.network.client import BrokerClient, Disconnected, UnsupportedVersion, connect
from ottla.protocol.apis.api_versions import ApiVersionsRequest
from ottla.protocol.apis.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from ottla.protocol.apis.heartbeat import HeartbeatRequest, HeartbeatResponse
from ottla.protocol.apis.list_groups import ListGroupsRequest
from ottla.protocol.errors import ProtocolError
from ottla.protocol.framing import Request, encode_response
from tests.unit.network.broker import Answer, Behaviour, ScriptedBroker

HEARTBEAT = HeartbeatRequest(group_id="g", generation_id=1, member_id="m")
PATIENT_MS = 60_000


def heartbeats(request: Request) -> Answer:
    """A throttle time that tells which member asked."""
    assert isinstance(request.body, HeartbeatRequest)
    return HeartbeatResponse(throttle_time_ms=request.body.generation_id)


def silence(request: Request) -> Answer:
    return None


@dataclass
class Meeting:
    broker: ScriptedBroker
    client: BrokerClient


def meet(
    test: Callable[[Meeting], Awaitable[None]],
    behaviour: Behaviour = heartbeats,
    *,
    broker: ScriptedBroker | None = None,
) -> None:
    async def run() -> None:
        async with (broker or ScriptedBroker(behaviour)).running() as served:
            client = await connect(
                "127.0.0.1",
                served.port,
                client_id="tests",
                timeout_ms=PATIENT_MS,
                max_response_bytes=10_000,
            )
            try:
                await test(Meeting(served, client))
            finally:
                client.close()

    asyncio.run(run())


def test_a_request_goes_out_in_the_newest_version_that_both_know() -> None:
    async def test(meeting: Meeting) -> None:
        answer = await meeting.client.request(HEARTBEAT)
        assert answer == HeartbeatResponse(throttle_time_ms=1)
        (heard,) = meeting.broker.heard
        assert (heard.header.request_api_version, heard.header.client_id) == (2, "tests")

    meet(test, broker=ScriptedBroker(heartbeats, versions={12: (0, 2), 18: (0, 4)}))


def test_a_given_version_is_used() -> None:
    async def test(meeting: Meeting) -> None:
        await meeting.client.request(HEARTBEAT, version=1)
        assert meeting.broker.heard[0].header.request_api_version == 1

    meet(test)


def test_the_broker_hears_who_we_are() -> None:
    async def test(meeting: Meeting) -> None:
        (greeting,) = meeting.broker.greetings
        assert greeting.header.request_api_version == 3
        assert greeting.body == ApiVersionsRequest(
            client_software_name="ottla", client_software_version=__version__
        )

    meet(test)


def test_an_old_broker_is_asked_again_in_version_0() -> None:
    async def test(meeting: Meeting) -> None:
        asked = [each.header.request_api_version for each in meeting.broker.greetings]
        assert asked == [3, 0]
        assert meeting.client.versions[12] == (0, 1)

    old = ScriptedBroker(heartbeats, versions={12: (0, 1), 18: (0, 0)}, newest_api_versions=0)
    meet(test, broker=old)


def test_an_api_that_the_broker_does_not_serve_is_named() -> None:
    async def test(meeting: Meeting) -> None:
        with pytest.raises(UnsupportedVersion, match="does not serve ListGroups"):
            await meeting.client.request(ListGroupsRequest())
        with pytest.raises(UnsupportedVersion, match=r"Heartbeat in version 9 to 11, .* 0 to 4"):
            await meeting.client.request(HEARTBEAT)
        assert meeting.broker.heard == []

    meet(test, broker=ScriptedBroker(heartbeats, versions={12: (9, 11), 18: (0, 4)}))


def test_limits_narrow_the_choice_of_a_version() -> None:
    async def test(meeting: Meeting) -> None:
        pick = meeting.client.pick_version
        assert pick(HeartbeatRequest, at_most=2) == 2
        assert pick(HeartbeatRequest, at_least=3) == 3
        with pytest.raises(UnsupportedVersion, match="version 2 to 3, this needs version 0 to 1"):
            pick(HeartbeatRequest, at_most=1)

    meet(test, broker=ScriptedBroker(heartbeats, versions={12: (2, 3), 18: (0, 4)}))


def test_answers_find_their_requests_in_whatever_order_they_come() -> None:
    held: list[Request] = []

    def hold_the_first(request: Request) -> Answer:
        held.append(request)
        if len(held) < 2:
            return None
        frames = []
        for each in reversed(held):
            answer = heartbeats(each)
            assert isinstance(answer, HeartbeatResponse)
            frames.append(encode_response(answer, 4, correlation_id=each.header.correlation_id))
        return b"".join(frames)

    async def test(meeting: Meeting) -> None:
        asked = [HeartbeatRequest(group_id="g", generation_id=n, member_id="m") for n in (7, 8)]
        answers = await asyncio.gather(*map(meeting.client.request, asked))
        assert answers == [HeartbeatResponse(throttle_time_ms=n) for n in (7, 8)]

    meet(test, hold_the_first)


def test_a_late_broker_costs_the_connection_and_all_who_wait_hear_it() -> None:
    async def test(meeting: Meeting) -> None:
        other = asyncio.ensure_future(meeting.client.request(HEARTBEAT))
        with pytest.raises(TimeoutError, match="did not answer Heartbeat within 1 ms"):
            await meeting.client.request(HEARTBEAT, timeout_ms=1)
        with pytest.raises(Disconnected, match="did not answer Heartbeat within 1 ms"):
            await other
        assert not meeting.client.is_open
        with pytest.raises(Disconnected):
            await meeting.client.request(HEARTBEAT)

    meet(test, silence)


def test_a_broker_that_hangs_up_is_named_with_what_it_owed() -> None:
    async def test(meeting: Meeting) -> None:
        def hang_up(request: Request) -> Answer:
            meeting.broker.hang_up()
            return None

        meeting.broker.behaviour = hang_up
        with pytest.raises(Disconnected, match="before it answered Heartbeat"):
            await meeting.client.request(HEARTBEAT)

    meet(test)


@pytest.mark.parametrize(
    ("sent", "told"),
    [
        (b"\x7f\xff\xff\xff", "size 2147483647 is not between 4 and 10000"),
        (b"\xff\xff\xff\xff", "size -1 is not between"),
        (b"HTTP/1.1 400 Bad Request\r\n", "this is an HTTP server"),
        (b"\x15\x03\x03\0\x02\x02\x28", "this port wants TLS"),
        (b"\0\0\0\x04\0\0\x03\xe7", "nothing was asked with the id 999"),
    ],
)
def test_bytes_that_are_no_answer_end_the_connection(sent: bytes, told: str) -> None:
    async def test(meeting: Meeting) -> None:
        with pytest.raises(Disconnected, match=told):
            await meeting.client.request(HEARTBEAT)
        assert not meeting.client.is_open

    meet(test, lambda request: sent)


def test_an_answer_that_cannot_be_read_says_where() -> None:
    def cut_off(request: Request) -> Answer:
        frame = encode_response(
            HeartbeatResponse(), 4, correlation_id=request.header.correlation_id
        )
        return (len(frame) - 6).to_bytes(4, "big") + frame[4:-2]

    async def test(meeting: Meeting) -> None:
        with pytest.raises(ProtocolError, match="HeartbeatResponse v4"):
            await meeting.client.request(HEARTBEAT)
        assert not meeting.client.is_open

    meet(test, cut_off)


def test_who_is_cancelled_leaves_the_connection_to_the_others() -> None:
    async def test(meeting: Meeting) -> None:
        lost = asyncio.ensure_future(meeting.client.request(HEARTBEAT))
        await asyncio.sleep(0)
        lost.cancel()
        answer = await meeting.client.request(HEARTBEAT)
        assert isinstance(answer, HeartbeatResponse)
        assert len(meeting.broker.heard) == 2

    meet(test)


def test_an_answer_may_come_byte_by_byte() -> None:
    async def test(meeting: Meeting) -> None:
        asked = asyncio.ensure_future(meeting.client.request(HEARTBEAT))
        await asyncio.sleep(0)
        for byte in encode_response(HeartbeatResponse(), 4, correlation_id=2):
            assert not asked.done()
            meeting.client.data_received(bytes([byte]))
        assert await asked == HeartbeatResponse()

    meet(test, silence)


def test_a_broker_that_hangs_up_at_once_is_no_broker_for_us() -> None:
    async def run() -> None:
        async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.close()

        async with await asyncio.start_server(hang_up, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            with pytest.raises(ConnectionError):
                await connect("127.0.0.1", port, client_id="tests", timeout_ms=PATIENT_MS)

    asyncio.run(run())


def test_what_was_closed_here_says_so() -> None:
    async def test(meeting: Meeting) -> None:
        meeting.client.close()
        with pytest.raises(Disconnected, match="was closed here"):
            await meeting.client.request(HEARTBEAT)

    meet(test)


def test_two_kinds_of_request_share_a_connection() -> None:
    def both(request: Request) -> Answer:
        if isinstance(request.body, FindCoordinatorRequest):
            return FindCoordinatorResponse(coordinators=[])
        return heartbeats(request)

    async def test(meeting: Meeting) -> None:
        find = FindCoordinatorRequest(coordinator_keys=["g"])
        found, alive = await asyncio.gather(
            meeting.client.request(find), meeting.client.request(HEARTBEAT)
        )
        assert isinstance(found, FindCoordinatorResponse)
        assert isinstance(alive, HeartbeatResponse)

    meet(test, both)
