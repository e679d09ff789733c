"""A broker as a process: runs until it is told to end, and leaves its logs clean."""

from __future__ import annotations

import asyncio
import gc
import logging
from collections.abc import Callable
from contextlib import suppress

from ottla.broker.broker import Broker
from ottla.broker.ending import Ending
from ottla.broker.garbage import GarbageRest
from ottla.broker.machine import machine_ports
from ottla.config.broker_config import BrokerConfig
from ottla.network.selector import ServingSelector, new_event_loop

_logger = logging.getLogger(__name__)


def serve(
    config: BrokerConfig,
    on_ready: Callable[[Broker], None],
    ending: Ending,
    *,
    testing: bool = False,
    until_stdin_closes: bool = False,
) -> None:
    """Returns after a clean end, also one that came while the broker started."""
    selector = ServingSelector()
    with (
        suppress(asyncio.CancelledError),
        asyncio.Runner(loop_factory=lambda: new_event_loop(selector)) as runner,
    ):
        runner.run(_serve(config, on_ready, ending, testing, until_stdin_closes, selector))


async def _serve(
    config: BrokerConfig,
    on_ready: Callable[[Broker], None],
    ending: Ending,
    testing: bool,
    until_stdin_closes: bool,
    selector: ServingSelector,
) -> None:
    loop, stop, task = asyncio.get_running_loop(), asyncio.Event(), asyncio.current_task()
    assert task is not None
    ending.on_told(loop, task.cancel)
    if until_stdin_closes:
        ending.watch_stdin(loop)
    ports = machine_ports(selector)
    try:
        async with Broker(config, ports, testing=testing) as broker:
            ending.on_told(loop, stop.set)
            # What is there now stays: the collector need not look at it again and again.
            gc.collect()
            gc.freeze()
            rest = GarbageRest(loop, broker.services.requests.total)
            rest.start()
            on_ready(broker)
            _logger.info("broker %d serves at %s", broker.id, broker.addresses.bootstrap)
            await stop.wait()
            rest.stop()
            _logger.info("broker %d stops", broker.id)
    finally:
        ports.background.close()
    _logger.info("broker %d has stopped", broker.id)
