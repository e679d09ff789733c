"""What a broker says of its own health while a disk of it fails."""

from __future__ import annotations

import asyncio
import json

import pytest

from ottla.broker.routes import get_routes
from ottla.protocol.errors import ErrorCode
from ottla.simulation.broker import SimulatedMachine
from tests.simulation.broker.conversation import produce
from tests.simulation.broker.machines import on_a_broker
from tests.simulation.broker.test_faults import spread
from tests.virtual_time import virtual_loop


def health(machine: SimulatedMachine) -> tuple[int, dict[str, object]]:
    status, kind, body = get_routes(machine.broker)["/healthz"]({})
    assert kind == "application/json"
    assert isinstance(body, bytes)
    return status, json.loads(body)


def metrics(machine: SimulatedMachine) -> dict[str, float]:
    _, _, body = get_routes(machine.broker)["/metrics"]({})
    assert not isinstance(body, bytes)
    lines = b"".join(body).decode().splitlines()
    pairs = (line.rpartition(" ") for line in lines if not line.startswith("#"))
    return {name: float(value) for name, _, value in pairs}


@on_a_broker(log_dirs="/a,/b")
async def test_a_directory_offline_makes_the_broker_unhealthy(machine: SimulatedMachine) -> None:
    client = await machine.connect()
    partitions = await spread(machine, client)
    facts = {"broker_id": 0, "bootstrap": "broker-0:9092"}
    assert health(machine) == (200, {"status": "ok", **facts, "offline_log_dirs": {}})
    machine.disk.break_file("/a")
    refused = await produce(client, "orders", b"b", partition=partitions["/a"])
    assert refused.error_code == ErrorCode.KAFKA_STORAGE_ERROR
    status, told = health(machine)
    assert (status, told["status"]) == (503, "degraded")
    offline = told["offline_log_dirs"]
    assert isinstance(offline, dict)
    assert list(offline) == ["/a"]


@on_a_broker(log_dirs="/a,/b")
async def test_the_metrics_tell_what_a_failing_disk_took_along(machine: SimulatedMachine) -> None:
    client = await machine.connect()
    partitions = await spread(machine, client)
    lost = partitions["/a"]
    machine.disk.break_file("/a")
    await produce(client, "orders", b"b", partition=lost)
    await asyncio.sleep(1)  # until the controller has heard of it
    found = metrics(machine)
    assert found["kafka_log_LogManager_OfflineLogDirectoryCount"] == 1
    assert found['kafka_log_LogManager_LogDirectoryOffline{logDirectory="/a"}'] == 1
    assert found['kafka_log_LogManager_LogDirectoryOffline{logDirectory="/b"}'] == 0
    assert found["kafka_server_ReplicaManager_OfflineReplicaCount"] == 1
    assert found["kafka_controller_KafkaController_OfflinePartitionsCount"] == 1
    logs = [name for name in found if name.startswith("kafka_log_Log_Size")]
    assert logs == [f'kafka_log_Log_Size{{topic="orders",partition="{partitions["/b"]}"}}']
    error = '{error="KAFKA_STORAGE_ERROR",request="Produce"}'
    assert found[f"kafka_network_RequestMetrics_ErrorsPerSec_total{error}"] == 1


@on_a_broker()
async def test_a_broker_is_as_idle_as_virtual_time_says(machine: SimulatedMachine) -> None:
    idleness = machine.broker.idleness
    idleness.start()
    await asyncio.sleep(10)
    virtual_loop().now += 10  # as if a callback had taken so long
    idle = metrics(machine)["kafka_network_SocketServer_NetworkProcessorAvgIdlePercent"]
    assert idle == pytest.approx(0.5)
    idleness.stop()
