"""An event loop that waits in the poller of a server's clients."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from ottla.network.poller import READ, Events, Poller
from ottla.network.selector import ServingSelector, new_event_loop
from ottla.network.sockets import SystemSockets


class Client:
    """A socket in the poller, and what was heard of it."""

    def __init__(self, selector: ServingSelector, loop: asyncio.AbstractEventLoop) -> None:
        self.near, self.far = socket.socketpair()
        self.heard: list[bytes] = []
        self.fails = False
        self.rounds = asyncio.Semaphore(0)
        self._sockets = SystemSockets(selector)
        self.poller: Poller = self._sockets.new_poller(loop, self._ready)
        self.poller.register(self.near.fileno(), READ)

    def _ready(self, events: Events) -> None:
        if (self.near.fileno(), READ) in events:
            self.heard.append(self.near.recv(100))
            self.rounds.release()
        if self.fails:
            raise ZeroDivisionError

    def close(self, loop: asyncio.AbstractEventLoop) -> None:
        self._sockets.close_poller(loop, self.poller)
        self.near.close()
        self.far.close()


def run(test: Callable[[Client], Coroutine[Any, Any, None]]) -> None:
    selector = ServingSelector()

    async def with_client() -> None:
        loop = asyncio.get_running_loop()
        client = Client(selector, loop)
        try:
            await test(client)
        finally:
            client.close(loop)
        await asyncio.sleep(0.001)  # the loop goes on without it

    with asyncio.Runner(loop_factory=lambda: new_event_loop(selector)) as runner:
        runner.run(with_client())


def test_clients_are_served_and_the_loop_goes_on() -> None:
    async def test(client: Client) -> None:
        client.far.send(b"one")
        await client.rounds.acquire()
        client.far.send(b"two")
        await client.rounds.acquire()
        assert client.heard == [b"one", b"two"]

    run(test)


def test_timers_threads_and_streams_are_heard_between_clients() -> None:
    async def test(client: Client) -> None:
        loop = asyncio.get_running_loop()
        assert await loop.run_in_executor(None, lambda: 7) == 7
        await asyncio.sleep(0.002)
        server = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0)
        async with server:
            client.far.send(b"meanwhile")
            host, port = server.sockets[0].getsockname()
            reader, writer = await asyncio.open_connection(host, port)
            assert await reader.read() == b""
            writer.close()
        await client.rounds.acquire()
        assert client.heard == [b"meanwhile"]

    run(test)


def test_a_round_that_fails_is_logged_and_the_loop_goes_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def test(client: Client) -> None:
        client.fails = True
        client.far.send(b"one")
        await client.rounds.acquire()
        client.fails = False
        client.far.send(b"two")
        await client.rounds.acquire()
        assert client.heard == [b"one", b"two"]

    with caplog.at_level(logging.ERROR):
        run(test)
    assert "a round of requests failed" in caplog.text
