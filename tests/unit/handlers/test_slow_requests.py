"""Requests that take too long are named in the log, each in one line."""

from __future__ import annotations

import asyncio
import logging
from types import SimpleNamespace
from typing import Any, cast

import pytest

from ottla.handlers import Handler
from ottla.handlers.call import Call
from ottla.handlers.dispatch import Dispatch
from ottla.handlers.request_counts import RequestCounts
from ottla.handlers.services import Services
from ottla.network.connection import Connection
from ottla.network.memory import RequestMemory
from ottla.protocol.apis.describe_cluster import DescribeClusterRequest, DescribeClusterResponse
from ottla.protocol.apis.produce import ProduceResponse
from ottla.timing.tick import Tick
from ottla.timing.timer import Timer
from tests.unit.handlers.one_broker import one_broker
from tests.unit.handlers.test_produce import request as produce_request
from tests.virtual_time import on_virtual_time, virtual_loop

ANSWER = DescribeClusterResponse(cluster_id="", controller_id=0, brokers=[])


async def ask(handle: Any, *, is_async: bool, wait_s: float) -> None:
    """Hands one request to this handler, and lets time pass."""
    loop = virtual_loop()
    async with asyncio.TaskGroup() as tasks:
        services = cast(Services, SimpleNamespace(timer=Timer(loop), requests=RequestCounts()))
        dispatch = Dispatch(services, tasks.create_task)
        connection = Connection(
            dispatch,
            Tick(loop.call_soon),
            RequestMemory(),
            number=1,
            listener="PLAINTEXT",
            peer="10.0.0.7:5",
            max_request_bytes=100,
        )
        connection.send = lambda: None
        call = Call(
            connection, services, api_key=60, version=1, correlation_id=1, client_id="billing\n"
        )
        call.begun_ns = services.timer.now_ns()
        handler = Handler("DescribeCluster", DescribeClusterRequest, handle, None, is_async)
        request = DescribeClusterRequest(include_cluster_authorized_operations=False)
        dispatch._run(handler, request, call)
        await asyncio.sleep(wait_s)


@on_virtual_time
async def test_a_handler_that_keeps_the_loop_busy_is_named(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def dawdle(request: object, call: Call) -> DescribeClusterResponse:
        virtual_loop().now += 1.5
        return ANSWER

    await ask(dawdle, is_async=False, wait_s=0)
    (line,) = caplog.messages
    assert line == (
        r"DescribeCluster v1 of 'billing\n' at 10.0.0.7:5 took 1500 ms, and all others waited"
    )


@on_virtual_time
async def test_a_handler_that_waits_long_is_named_while_it_waits(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def wait(request: object, call: Call) -> DescribeClusterResponse:
        await asyncio.sleep(1.5)
        assert len(caplog.messages) == 1
        return ANSWER

    await ask(wait, is_async=True, wait_s=5)
    assert caplog.messages[0].endswith("at 10.0.0.7:5 takes longer than 1000 ms")
    assert caplog.records[0].levelno == logging.WARNING


@on_virtual_time
async def test_a_quick_handler_is_not_named(caplog: pytest.LogCaptureFixture) -> None:
    async def wait(request: object, call: Call) -> DescribeClusterResponse:
        await asyncio.sleep(0.9)
        return ANSWER

    await ask(wait, is_async=True, wait_s=5)
    await ask(lambda request, call: ANSWER, is_async=False, wait_s=0)
    assert not caplog.messages


@on_virtual_time
async def test_a_produce_that_waits_long_for_other_replicas_is_named(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with one_broker() as broker:
        await broker.create("orders")
        partition = broker.services.replicas.get("orders", 0)
        partition.isr = partition.replicas = (1, 2)
        partition.reconsider()
        asked = broker.client.ask(produce_request(timeout_ms=5_000))
        await asyncio.sleep(1.5)
        assert not caplog.messages
        partition.follower_ends[2] = 1
        partition.advance()
        broker.services.replicas.recheck(partition)
        assert isinstance(await asked, ProduceResponse)
        (line,) = caplog.messages
        assert line == "Produce v11 of 'test' at test:1 took 1500 ms"


@on_virtual_time
async def test_a_produce_that_keeps_the_loop_busy_is_named(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with one_broker() as broker:
        await broker.create("orders")
        log = broker.services.replicas.get("orders", 0).leading_log()
        commit = log.commit

        def dawdle() -> None:
            virtual_loop().now += 1.5
            commit()

        monkeypatch.setattr(log, "commit", dawdle)
        assert isinstance(await broker.client.ask(produce_request()), ProduceResponse)
        (line,) = caplog.messages
        assert line == "Produce v11 of 'test' at test:1 took 1500 ms"
