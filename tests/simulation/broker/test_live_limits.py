"""Limits on connections that an operator sets on a running broker, for all or for some hosts."""

from __future__ import annotations

import asyncio

import pytest

from ottla.config.option import ConfigError
from ottla.network.client import BrokerClient, Disconnected
from ottla.protocol.apis.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from ottla.protocol.errors import ErrorCode
from ottla.simulation.broker import SimulatedMachine
from tests.simulation.broker.machines import on_a_broker

BROKER = 4
OVERRIDES = "max.connections.per.ip.overrides"


async def alter_by(client: BrokerClient, name: str, value: str) -> tuple[ErrorCode, str | None]:
    """Returns when the broker has heard of it."""
    config = AlterableConfig(name=name, config_operation=0, value=value)
    resource = AlterConfigsResource(resource_type=BROKER, resource_name="", configs=[config])
    request = IncrementalAlterConfigsRequest(resources=[resource], validate_only=False)
    answer = await client.request(request)
    assert isinstance(answer, IncrementalAlterConfigsResponse)
    await asyncio.sleep(0.001)
    return ErrorCode(answer.responses[0].error_code), answer.responses[0].error_message


async def alter(machine: SimulatedMachine, name: str, value: str) -> tuple[ErrorCode, str | None]:
    """By an operator who leaves."""
    client = await machine.connect(source="10.0.0.99")
    answer = await alter_by(client, name, value)
    client.close()
    await asyncio.sleep(0.001)
    return answer


async def is_let_in(machine: SimulatedMachine, source: str) -> bool:
    try:
        await machine.connect(source=source)
    except Disconnected:
        return False
    return True


@on_a_broker()
async def test_fewer_connections_may_come_from_one_address_and_then_more(
    machine: SimulatedMachine,
) -> None:
    await machine.connect(source="10.0.0.1")
    await alter(machine, "max.connections.per.ip", "1")
    assert not await is_let_in(machine, "10.0.0.1")
    assert await is_let_in(machine, "10.0.0.2")
    await alter(machine, "max.connections.per.ip", "2")
    assert await is_let_in(machine, "10.0.0.1")


@on_a_broker()
async def test_fewer_may_be_connected_at_all_and_then_more(machine: SimulatedMachine) -> None:
    operator, other = await machine.connect(), await machine.connect()
    await alter_by(operator, "max.connections", "2")
    third = asyncio.ensure_future(machine.connect())
    await asyncio.sleep(60)
    assert not third.done()
    assert other.is_open
    await alter_by(operator, "max.connections", "3")
    assert (await third).is_open


@on_a_broker()
async def test_a_limit_that_was_set_live_holds_after_a_restart(machine: SimulatedMachine) -> None:
    await alter(machine, "max.connections.per.ip", "1")
    await machine.stop()
    await machine.start()
    assert await is_let_in(machine, "10.0.0.1")
    assert not await is_let_in(machine, "10.0.0.1")


@on_a_broker()
async def test_a_host_is_known_by_its_name(machine: SimulatedMachine) -> None:
    machine.network.addresses["reports.example"] = ["10.0.0.7", "fd00:0:0:0:0:0:0:7"]
    assert await alter(machine, OVERRIDES, "reports.example:0") == (ErrorCode.NONE, None)
    for address in ("10.0.0.7", "fd00::7"):
        assert not await is_let_in(machine, address)
    assert await is_let_in(machine, "10.0.0.1")


@on_a_broker()
async def test_a_host_that_nobody_knows_is_refused(machine: SimulatedMachine) -> None:
    code, reason = await alter(machine, OVERRIDES, "10.0.0.1:0, no.such.example:1")
    assert code == ErrorCode.INVALID_CONFIG
    assert reason == (
        f"{OVERRIDES}: 'no.such.example' in '10.0.0.1:0, no.such.example:1' has no address here "
        "(Name or service not known); expected an address, or a name that this machine can resolve"
    )
    assert await is_let_in(machine, "10.0.0.1")


@on_a_broker()
async def test_a_broker_does_not_start_with_hosts_that_nobody_knows(
    machine: SimulatedMachine,
) -> None:
    await machine.stop()
    machine.properties[OVERRIDES] = "no.such.example:1,nor.this:2"
    with pytest.raises(ConfigError, match=r"no\.such\.example") as caught:
        await machine.start()
    assert len(caught.value.mistakes) == 2


@on_a_broker()
async def test_a_stored_host_that_is_gone_does_not_keep_a_broker_from_its_start(
    machine: SimulatedMachine,
) -> None:
    machine.network.addresses["reports.example"] = ["10.0.0.7"]
    await alter(machine, OVERRIDES, "reports.example:0,10.0.0.8:0")
    machine.network.addresses.clear()
    await machine.stop()
    await machine.start()
    assert await is_let_in(machine, "10.0.0.7")
    assert not await is_let_in(machine, "10.0.0.8")
