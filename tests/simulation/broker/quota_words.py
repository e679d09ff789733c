"""What the tests of quotas say, in few words."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from ottla.network.client import BrokerClient
from ottla.protocol.apis.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasResponse,
    EntityData,
    EntryData,
    OpData,
)
from ottla.protocol.apis.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from ottla.protocol.apis.produce import ProduceRequest, ProduceResponse
from ottla.protocol.framing import encode_request
from ottla.simulation.broker import SimulatedMachine
from tests.simulation.broker.conversation import batch, produce_request

CLIENT = {"client-id": "client"}
SPAN_MS = 10_000  # what a rate is measured over at first: all samples but one


async def set_quota(
    machine: SimulatedMachine, entity: Mapping[str, str | None], **values: float | None
) -> None:
    """Set by somebody else; returns when the broker has heard of it."""
    client = await machine.connect(client_id="operator", source="10.0.0.99")
    entry = EntryData(
        entity=[EntityData(entity_type=kind, entity_name=name) for kind, name in entity.items()],
        ops=[
            OpData(key=key, value=value or 0.0, remove=value is None)
            for key, value in values.items()
        ],
    )
    answer = await client.request(AlterClientQuotasRequest(entries=[entry], validate_only=False))
    assert isinstance(answer, AlterClientQuotasResponse)
    assert [each.error_code for each in answer.entries] == [0]
    client.close()
    await asyncio.sleep(0.001)


def produce_of(size_bytes: int, *, acks: int = -1) -> ProduceRequest:
    """Of about this many bytes."""
    return produce_request({("orders", 0): batch(bytes(size_bytes))}, acks=acks)


def frame_bytes(client: BrokerClient, request: ProduceRequest, client_id: str = "client") -> int:
    version = client.pick_version(ProduceRequest)
    return len(encode_request(request, version, correlation_id=1, client_id=client_id)) - 4


async def throttle_of(client: BrokerClient, request: ProduceRequest) -> int:
    answer = await client.request(request)
    assert isinstance(answer, ProduceResponse)
    assert answer.responses[0].partition_responses[0].error_code == 0
    return answer.throttle_time_ms


def fetch_of(offset: int = 0, *, session_id: int = 0, epoch: int = -1) -> FetchRequest:
    asked = FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=1 << 20)
    return FetchRequest(
        replica_id=-1,
        max_wait_ms=0,
        min_bytes=1,
        max_bytes=1 << 20,
        session_id=session_id,
        session_epoch=epoch,
        topics=[FetchTopic(topic="orders", partitions=[asked])],
    )


async def fetch(client: BrokerClient, request: FetchRequest) -> FetchResponse:
    answer = await client.request(request, version=12)
    assert isinstance(answer, FetchResponse)
    return answer


def now_ms(machine: SimulatedMachine) -> int:
    return machine.broker.timer.now_ms()
