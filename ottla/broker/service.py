"""A broker as a process: runs until it is told to stop, by SIGTERM or SIGINT."""

from __future__ import annotations

import asyncio
import gc
import signal
from collections.abc import Callable

from ottla.broker.broker import Broker
from ottla.broker.machine import machine_ports
from ottla.config.broker_config import BrokerConfig


def serve(
    config: BrokerConfig, on_ready: Callable[[Broker], None], *, testing: bool = False
) -> None:
    """Returns after a clean stop."""
    asyncio.run(_serve(config, on_ready, testing))


async def _serve(config: BrokerConfig, on_ready: Callable[[Broker], None], testing: bool) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    ports = machine_ports()
    try:
        async with Broker(config, ports, testing=testing) as broker:
            # What is loaded now stays: the collector need not look at it again and again.
            gc.collect()
            gc.freeze()
            on_ready(broker)
            await stop.wait()
    finally:
        ports.background.close()
