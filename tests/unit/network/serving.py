"""A server on a real loopback socket, and clients of it."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from functools import wraps
from typing import Any

from ottla.network.connection import Connection
from ottla.network.limits import Limits
from ottla.network.server import Server
from ottla.network.sockets import Sockets, SystemSockets
from ottla.timing.tick import Tick
from ottla.timing.timer import Timer
from tests.unit.network.echo import Echo, frame

LONGEST_S = 20
PEERS: list[Peer] = []  # of the test that is running


def on_a_loop(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    async def limited(*args: Any, **kwargs: Any) -> None:
        try:
            await asyncio.wait_for(test(*args, **kwargs), LONGEST_S)
        finally:
            while PEERS:
                await PEERS.pop().end()

    @wraps(test)
    def run(*args: Any, **kwargs: Any) -> None:
        asyncio.run(limited(*args, **kwargs))

    return run


class Running:
    """A server, and what it was given."""

    def __init__(
        self, limits: Limits, service: Echo | None = None, sockets: Sockets | None = None
    ) -> None:
        loop = asyncio.get_running_loop()
        self.service = service or Echo()
        self.timer = Timer(loop)
        tick = Tick(loop.call_soon)
        sockets = sockets or SystemSockets()
        self.server = Server(loop, sockets, self.service, tick, self.timer, limits)
        self.port = self.server.listen("PLAINTEXT", "127.0.0.1", 0)
        self.server.start()
        self._socks: list[socket.socket] = []

    async def connect(self) -> Peer:
        peer = Peer(*await asyncio.open_connection("127.0.0.1", self.port))
        PEERS.append(peer)
        return peer

    async def sock(self) -> socket.socket:
        """A client whose bytes are there as soon as it has sent them; closed with the server."""
        count = len(self.connections)
        made = socket.create_connection(("127.0.0.1", self.port))
        self._socks.append(made)
        await self.until(lambda: len(self.connections) > count)
        return made

    async def close(self) -> None:
        for each in self._socks:
            each.close()
        self.server.close()
        self.timer.close()

    async def until(self, condition: Callable[[], bool]) -> None:
        for _ in range(1_000_000):
            if condition():
                return
            await asyncio.sleep(0.001)

    @property
    def connections(self) -> list[Connection]:
        found: list[Connection] = []
        self.server.on_each(found.append)
        return found


class Peer:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    def send(self, *bodies: bytes) -> None:
        self.writer.write(b"".join(map(frame, bodies)))

    async def answer(self) -> bytes:
        size = int.from_bytes(await self.reader.readexactly(4), "big")
        return await self.reader.readexactly(size)

    async def ask(self, body: bytes) -> bytes:
        self.send(body)
        return await self.answer()

    async def is_closed(self) -> bool:
        try:
            return await self.reader.read(1) == b""
        except ConnectionError:
            return True

    def close(self) -> None:
        self.writer.close()

    async def end(self) -> None:
        self.writer.close()
        with suppress(ConnectionError):
            await self.writer.wait_closed()


@asynccontextmanager
async def running(
    limits: Limits | None = None, service: Echo | None = None, sockets: Sockets | None = None
) -> AsyncIterator[Running]:
    found = Running(limits or Limits(), service, sockets)
    try:
        yield found
    finally:
        await found.close()
