"""Several listeners on one broker: each has its own address, limits and clients."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from ottla.protocol.apis.metadata import MetadataRequest, MetadataResponse
from ottla.simulation.broker import PORT, SimulatedMachine
from tests.simulation.broker.machines import Test, on_a_broker

OUTSIDE, INSIDE = PORT, 9093


def with_two_listeners(**properties: str) -> Callable[[Test], Callable[[], None]]:
    return on_a_broker(
        seed=0,
        latency_ms=(0, 0),
        listeners=f"OUTSIDE://broker-0:{OUTSIDE},INSIDE://broker-0:{INSIDE}",
        advertised_listeners=f"OUTSIDE://orders.example:19092,INSIDE://broker-0:{INSIDE}",
        listener_security_protocol_map="OUTSIDE:PLAINTEXT,INSIDE:PLAINTEXT",
        inter_broker_listener_name="INSIDE",
        **properties,
    )


@with_two_listeners()
async def test_a_client_is_told_the_address_of_the_listener_it_came_by(
    machine: SimulatedMachine,
) -> None:
    told = []
    for port in (OUTSIDE, INSIDE):
        client = await machine.connect(port=port)
        answer = await client.request(MetadataRequest(topics=[]))
        assert isinstance(answer, MetadataResponse)
        told += [(each.host, each.port) for each in answer.brokers]
    assert told == [("orders.example", 19092), ("broker-0", INSIDE)]


@with_two_listeners(listener_name_outside_max_connections="1")
async def test_a_listener_at_its_limit_waits_until_one_of_its_own_goes(
    machine: SimulatedMachine,
) -> None:
    first = await machine.connect(port=OUTSIDE)
    second = asyncio.ensure_future(machine.connect(port=OUTSIDE))
    for _ in range(3):
        (await machine.connect(port=INSIDE)).close()
    await asyncio.sleep(60)
    assert not second.done()
    first.close()
    assert (await second).is_open


@with_two_listeners(max_connections="2", listener_name_outside_max_connections="5")
async def test_at_the_limit_of_the_broker_only_other_brokers_are_let_in(
    machine: SimulatedMachine,
) -> None:
    """For each of them the client goes that has been silent longest."""
    silent = await machine.connect(port=OUTSIDE)
    await asyncio.sleep(1)
    active = await machine.connect(port=OUTSIDE)
    waiting = asyncio.ensure_future(machine.connect(port=OUTSIDE))
    await asyncio.sleep(1)
    inside = await machine.connect(port=INSIDE)
    await asyncio.sleep(60)
    assert (silent.is_open, active.is_open, inside.is_open) == (False, True, True)
    assert not waiting.done()
    inside.close()
    assert (await waiting).is_open


@with_two_listeners(
    connections_max_idle_ms="-1", listener_name_outside_connections_max_idle_ms="20000"
)
async def test_each_listener_has_its_own_patience_with_silent_clients(
    machine: SimulatedMachine,
) -> None:
    outside, inside = [await machine.connect(port=port) for port in (OUTSIDE, INSIDE)]
    await asyncio.sleep(19)
    assert outside.is_open
    await asyncio.sleep(12)
    assert (outside.is_open, inside.is_open) == (False, True)
    await asyncio.sleep(3600)
    assert inside.is_open
