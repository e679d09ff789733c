"""Who asked the wrong broker hears of the right one, since the versions that have room for it."""

from __future__ import annotations

from typing import Any

import pytest

from ottla.protocol.apis import fetch, produce
from ottla.protocol.apis.update_metadata import (
    UpdateMetadataBroker,
    UpdateMetadataEndpoint,
    UpdateMetadataRequest,
    UpdateMetadataResponse,
)
from ottla.protocol.errors import ErrorCode
from tests.unit.handlers.one_broker import OneBroker, lead, one_broker
from tests.unit.storage.logs import batch
from tests.virtual_time import on_virtual_time

OTHER, EPOCH = 2, 3
Told = tuple[int, object, list[object]]


async def announce(broker: OneBroker, listener: str) -> None:
    """The other broker is there, and has this listener."""
    endpoint = UpdateMetadataEndpoint(
        port=9092, host="other", listener=listener, security_protocol=0
    )
    request = UpdateMetadataRequest(
        controller_id=1,
        controller_epoch=1,
        live_brokers=[UpdateMetadataBroker(id=OTHER, endpoints=[endpoint], rack="r")],
    )
    assert (await broker.ask(request, UpdateMetadataResponse)).error_code == 0


async def produced(broker: OneBroker, version: int) -> Told:
    partition = produce.PartitionProduceData(index=0, records=bytes(batch(b"x")))
    request = produce.ProduceRequest(
        acks=1,
        timeout_ms=1_000,
        topic_data=[produce.TopicProduceData(name="orders", partition_data=[partition])],
    )
    answer = await broker.ask(request, produce.ProduceResponse, version)
    ((told,),) = [topic.partition_responses for topic in answer.responses]
    return told.error_code, told.current_leader, [*answer.node_endpoints]


async def fetched(broker: OneBroker, version: int) -> Told:
    topic = fetch.FetchTopic(
        topic_id=broker.services.metadata.image.topics["orders"].topic_id,
        partitions=[fetch.FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1)],
    )
    request = fetch.FetchRequest(max_wait_ms=0, min_bytes=0, topics=[topic])
    answer = await broker.ask(request, fetch.FetchResponse, version)
    ((told,),) = [topic.partitions for topic in answer.responses]
    return told.error_code, told.current_leader, [*answer.node_endpoints]


@pytest.mark.parametrize("listener", ["PLAINTEXT", "ELSEWHERE"])
@on_virtual_time
async def test_a_client_is_told_who_leads_and_where_it_can_be_reached(listener: str) -> None:
    async with one_broker() as broker:
        await broker.create("orders")
        await announce(broker, listener)
        await lead(broker, "orders", leader=OTHER, epoch=EPOCH)
        node: dict[str, Any] = {"node_id": OTHER, "host": "other", "port": 9092, "rack": "r"}
        found = [node] if listener == "PLAINTEXT" else []
        assert await produced(broker, 10) == (
            ErrorCode.NOT_LEADER_OR_FOLLOWER,
            produce.LeaderIdAndEpoch(leader_id=OTHER, leader_epoch=EPOCH),
            [produce.NodeEndpoint(**each) for each in found],
        )
        assert await fetched(broker, 16) == (
            ErrorCode.NOT_LEADER_OR_FOLLOWER,
            fetch.LeaderIdAndEpoch(leader_id=OTHER, leader_epoch=EPOCH),
            [fetch.NodeEndpoint(**each) for each in found],
        )


@on_virtual_time
async def test_older_versions_have_no_room_for_it() -> None:
    async with one_broker() as broker:
        await broker.create("orders")
        await lead(broker, "orders", leader=OTHER, epoch=EPOCH)
        nothing: Told = (ErrorCode.NOT_LEADER_OR_FOLLOWER, None, [])
        assert await produced(broker, 9) == nothing
        assert await fetched(broker, 15) == nothing
