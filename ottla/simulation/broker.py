"""A whole broker on virtual time: its machine has a simulated disk, clock and network.

The machine outlives the broker: what a stop, a kill or a power cut left behind is what the next
start finds.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

from ottla.broker.broker import Broker
from ottla.broker.ports import Ports
from ottla.config.broker_config import BrokerConfig
from ottla.network.client import DEFAULT_MAX_RESPONSE_BYTES, BrokerClient
from ottla.simulation.cleaner import InlineCleaner
from ottla.simulation.clock import VirtualClock
from ottla.simulation.disk import SimulatedDisk
from ottla.simulation.disk_faults import Crashed
from ottla.simulation.lives import Life, Task
from ottla.simulation.loop import VirtualTimeLoop
from ottla.simulation.network import SimulatedNetwork
from ottla.simulation.slow_threads import SlowThreads
from ottla.simulation.store import MemoryStore, MemoryTree
from ottla.store.port import MetadataStore

START_MS = 1_700_000_000_000
PORT = 9092
_PATIENCE_MS = 365 * 24 * 60 * 60 * 1000
LOG_DIR = "/data"


class SeededRandomness:
    def __init__(self, chance: random.Random) -> None:
        self._chance = chance

    def bytes(self, count: int) -> bytes:
        return self._chance.randbytes(count)

    def below(self, limit: int) -> int:
        return self._chance.randrange(limit)


class SimulatedMachine:
    """One machine, and the broker that runs on it, if one does."""

    def __init__(
        self,
        network: SimulatedNetwork,
        tree: MemoryTree,
        chance: random.Random,
        *,
        broker_id: int = 0,
        properties: Mapping[str, str] | None = None,
    ) -> None:
        assert isinstance(network.loop, VirtualTimeLoop)
        self.name = f"broker-{broker_id}"
        self.network = network
        self.clock = VirtualClock(network.loop, start_ms=START_MS)
        self.disk = SimulatedDisk(chance, now_ms=self.clock.now_ms)
        self.threads = SlowThreads(network.loop, chance)
        self.properties = {
            "broker.id": str(broker_id),
            "listeners": f"PLAINTEXT://{self.name}:{PORT}",
            "log.dirs": LOG_DIR,
            "ottla.http.port": "-1",
            **(properties or {}),
        }
        self.tree = tree
        self._chance = chance
        self._loop = network.loop
        self._host = network.host(self.name)
        self._life = Life(self._loop)
        self._main: Task | None = None
        self._broker: Broker | None = None
        self._store: MemoryStore | None = None
        self._dead: list[Broker] = []  # kept, for to be collected is to be tidied up
        self._loop.set_exception_handler(lambda _, context: self._judge(context))

    @property
    def is_running(self) -> bool:
        return self._main is not None

    @property
    def broker(self) -> Broker:
        assert self._broker is not None, f"{self.name} has not been started"
        return self._broker

    @property
    def store(self) -> MemoryStore:
        assert self._store is not None, f"{self.name} has not been started"
        return self._store

    async def start(self) -> Broker:
        """Returns when it serves; what keeps it from that is raised."""
        assert self._main is None, f"{self.name} runs already"
        self._host = self.network.host(self.name)
        self._broker = Broker(BrokerConfig.load(self.properties), self._ports())
        self._stop = asyncio.Event()
        ready = self._loop.create_future()
        main = self._life.begin(self._live(self._broker, ready))
        await asyncio.wait([main, ready], return_when=asyncio.FIRST_COMPLETED)
        if main.done():
            main.result()
        self._main = main
        main.add_done_callback(self._ended)
        return self._broker

    def _ports(self) -> Ports:
        return Ports(
            clock=self.clock,
            spent_s=self._loop.spent_s,
            disk=self.disk,
            background=self.threads,
            randomness=SeededRandomness(self._chance),
            open_store=self._open_store,
            sockets=self._host,
            hostname=lambda: self.name,
            new_cleaner=lambda: InlineCleaner(self.disk),
        )

    @asynccontextmanager
    async def _open_store(self, _path: str) -> AsyncIterator[MetadataStore]:
        store = self._store = MemoryStore(self.tree)
        try:
            yield store
        finally:
            await store.close()

    async def _live(self, broker: Broker, ready: asyncio.Future[None]) -> None:
        async with broker:
            ready.set_result(None)
            await self._stop.wait()

    def _ended(self, main: Task) -> None:
        """A broker that ends by itself is a bug, unless its machine died under it."""
        error = None if main.cancelled() else main.exception()
        if error is not None and not isinstance(error, Crashed):
            self._loop.call_exception_handler({"message": "a broker failed", "exception": error})

    async def stop(self) -> None:
        """As by SIGTERM."""
        assert self._main is not None, f"{self.name} does not run"
        main, self._main = self._main, None
        self._stop.set()
        await main

    async def kill(self) -> None:
        """As by SIGKILL: what was written is there, whether it was synced or not."""
        await self._die(self.disk.kill())

    async def crash(self) -> None:
        """The power goes: what was not synced may be lost, in any part."""
        await self._die(self.disk.crash())

    async def _die(self, survivor: SimulatedDisk) -> None:
        """From now on all that the broker touches raises, so nothing is tidied up."""
        self._main = None
        self._dead.append(self.broker)
        self.broker.timer.close()
        self._host.die()
        self.store.cut_off()
        self.store.expire()
        self.threads.forget()
        for task in self._life.end():
            with suppress(Crashed, asyncio.CancelledError, BaseExceptionGroup):
                await task
        self.disk = survivor

    def _judge(self, context: dict[str, Any]) -> None:
        """Callbacks of a dead broker fail, as they must; everything else is a bug."""
        if not isinstance(context.get("exception"), Crashed):
            assert isinstance(self._loop, VirtualTimeLoop)
            self._loop.keep_failure(context)

    async def connect(
        self,
        *,
        source: str = "10.0.0.1",
        port: int = PORT,
        client_id: str = "client",
        max_bytes: int | None = None,
    ) -> BrokerClient:
        """Our own client, at another machine, with all the patience one may need."""
        client = BrokerClient(
            f"{self.name}:{port}",
            client_id=client_id,
            timeout_ms=_PATIENCE_MS,
            max_response_bytes=max_bytes or DEFAULT_MAX_RESPONSE_BYTES,
        )
        self.network.connect(client, (self.name, port), source=source)
        await client.negotiate()
        return client
