"""One seed is one run: the same bytes on the network, the same changes of the disk, in order."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from hashlib import sha256

from ottla.simulation.broker import SimulatedMachine
from tests.simulation.broker.conversation import create_topic, fetch, produce, read_all
from tests.simulation.broker.machines import run_on_a_broker


async def live(machine: SimulatedMachine) -> None:
    """Some of everything: waits, pipelines, upkeep, a power cut."""
    clients = [await machine.connect(source=f"10.0.0.{number}") for number in range(4)]
    for topic in ("orders", "payments"):
        await create_topic(clients[0], topic, partitions=3, segment_bytes="2000", flush_ms="300")
    waits = [
        asyncio.ensure_future(fetch(clients[1], "orders", partition=1, min_bytes=500)),
        asyncio.ensure_future(fetch(clients[2], "payments", partition=2, max_wait_ms=700)),
    ]
    for number in range(40):
        await produce(clients[number % 2 * 3], "orders", bytes(100), partition=number % 3)
    await asyncio.gather(*waits)
    await asyncio.sleep(5)
    await machine.crash()
    await machine.start()
    client = await machine.connect()
    for partition in range(3):
        await read_all(client, "orders", partition=partition)


def trace_of(seed: int) -> list[object]:
    machine = run_on_a_broker(live, seed=seed, latency_ms=(0, 7))
    loop = machine.network.loop
    return [*machine.network.wires.events, *machine.disk.operations, loop.time()]


def test_the_same_seed_gives_the_same_trace() -> None:
    first, second = trace_of(1), trace_of(1)
    assert len(first) > 400
    assert first == second


def test_another_seed_gives_another_trace() -> None:
    assert trace_of(1) != trace_of(2)


def test_the_trace_does_not_depend_on_the_order_of_sets() -> None:
    """Another process hashes strings in another way."""
    here = digest(3)
    program = "from tests.simulation.broker.test_determinism import digest; print(digest(3))"
    for hash_seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": os.getcwd()}
        command = [sys.executable, "-c", program]
        there = subprocess.run(command, env=environment, capture_output=True, check=True, text=True)
        assert there.stdout.strip() == here


def digest(seed: int) -> str:
    return sha256(repr(trace_of(seed)).encode()).hexdigest()
