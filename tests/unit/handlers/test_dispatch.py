"""Dispatch: what becomes of requests that nobody can serve, or whose handler fails."""

from __future__ import annotations

from struct import pack

import pytest

from ottla.handlers import HANDLERS, handler
from ottla.protocol.apis.create_topics import CreateTopicsRequest, CreateTopicsResponse
from ottla.protocol.apis.elect_leaders import ElectLeadersRequest, ElectLeadersResponse
from ottla.protocol.apis.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from ottla.protocol.apis.write_txn_markers import (
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)
from ottla.protocol.errors import ErrorCode
from ottla.protocol.registry import request_type
from ottla.protocol.schema import Message
from tests.unit.handlers.one_broker import one_broker, topic
from tests.virtual_time import on_virtual_time


@pytest.mark.parametrize("key", HANDLERS)
def test_every_api_that_is_advertised_has_its_file_and_versions(key: int) -> None:
    found = handler(key)
    oldest, newest = HANDLERS[key]
    assert found.request is request_type(key)
    assert (found.request.oldest, found.request.newest) >= (oldest, 0)
    assert oldest <= newest <= found.request.newest
    assert callable(found.refuse)


@pytest.mark.parametrize(
    "frame", [b"", b"\0\0", pack(">hhih", 3, 99, 1, -1), pack(">hhih", 9_999, 0, 1, -1)]
)
@on_virtual_time
async def test_a_request_that_cannot_be_served_closes_its_connection(frame: bytes) -> None:
    async with one_broker() as broker:
        broker.client.send(pack(">i", len(frame)) + frame)
        assert broker.client.connection.is_closed


@on_virtual_time
async def test_a_bug_is_answered_and_counted() -> None:
    async with one_broker() as broker:
        broker.services.topic_rules = None  # type: ignore[assignment]
        request = CreateTopicsRequest(topics=[topic("orders")])
        answer = await broker.ask(request, CreateTopicsResponse)
        assert answer.topics[0].error_code == ErrorCode.UNKNOWN_SERVER_ERROR
        assert broker.services.requests.failures == 1


@on_virtual_time
async def test_an_answer_that_cannot_be_encoded_closes_the_connection_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def wrong(request: object, call: object) -> ElectLeadersResponse:
        response = ElectLeadersResponse(replica_election_results=[])
        response.error_code = "no number"  # type: ignore[assignment]
        return response

    async with one_broker() as broker:
        broken = handler(43)._replace(handle=wrong)
        monkeypatch.setattr("ottla.handlers.dispatch.handler", lambda key: broken)
        broker.client.ask(ElectLeadersRequest(topic_partitions=None))
        await broker.until(lambda: broker.client.connection.is_closed)
        monkeypatch.undo()
        assert broker.broker.controller.is_active  # the broker goes on


@on_virtual_time
async def test_what_the_broker_tells_itself_is_answered_like_any_request() -> None:
    async with one_broker() as broker:
        told: list[Message] = []
        tell = broker.broker.loopback.tell
        tell(WriteTxnMarkersRequest(markers=[]), told.append)
        half = InitProducerIdRequest(
            transactional_id="x", transaction_timeout_ms=1000, producer_id=5
        )
        tell(half, told.append)
        nothing, refused = told
        assert isinstance(nothing, WriteTxnMarkersResponse)
        assert isinstance(refused, InitProducerIdResponse)
        assert refused.error_code == ErrorCode.INVALID_REQUEST
