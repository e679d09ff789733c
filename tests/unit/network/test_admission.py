"""Who is let in: limits on connections, on their speed, and of the machine."""

from __future__ import annotations

import asyncio
import errno
import select
import socket
from typing import Any

import pytest

from ottla.network.admission import MOST_HELD
from ottla.network.limits import Limits
from ottla.network.sockets import Listener, Socket, SystemSockets
from tests.unit.network.echo import frame
from tests.unit.network.serving import on_a_loop, running
from tests.virtual_time import on_virtual_time, virtual_loop


@on_a_loop
async def test_connections_beyond_the_limit_wait_until_one_goes() -> None:
    async with running(Limits(max_connections=2)) as server:
        first, second, third = [await server.connect() for _ in range(3)]
        assert await first.ask(b"say:1") == b"say:1"
        assert await second.ask(b"say:2") == b"say:2"
        third.send(b"say:3")
        await asyncio.sleep(0)
        assert len(server.connections) == 2
        first.close()
        assert await third.answer() == b"say:3"


class Exhausted(SystemSockets):
    """A machine whose descriptors are used up for a while."""

    def __init__(self) -> None:
        super().__init__()
        self.accepts: list[float] = []
        self.is_exhausted = False

    def listen(self, host: str, port: int, *, backlog: int, receive_buffer_bytes: int) -> Listener:
        found = super().listen(
            host, port, backlog=backlog, receive_buffer_bytes=receive_buffer_bytes
        )
        return _ExhaustedListener(found, self)


class _ExhaustedListener:
    def __init__(self, listener: Listener, machine: Exhausted) -> None:
        self.fileno, self.getsockname = listener.fileno, listener.getsockname
        self.close = listener.close
        self._accept = listener.accept
        self._machine = machine

    def accept(self) -> tuple[Socket, Any]:
        self._machine.accepts.append(asyncio.get_running_loop().time())
        if self._machine.is_exhausted:
            raise OSError(errno.EMFILE, "Too many open files")
        return self._accept()


@on_virtual_time
async def test_without_descriptors_clients_wait_until_there_are_some() -> None:
    machine = Exhausted()
    async with running(sockets=machine) as server:
        machine.is_exhausted = True
        with socket.create_connection(("127.0.0.1", server.port)) as sock:
            sock.sendall(frame(b"say:1"))
            await asyncio.sleep(5.5)
            assert 4 <= len(machine.accepts) <= 6, "it is tried once a second"
            machine.is_exhausted = False
            await server.until(lambda: server.service.served == [b"say:1"])
            assert virtual_loop().time() < 7


@on_virtual_time
async def test_a_client_that_goes_leaves_its_descriptor_to_the_next(
    caplog: pytest.LogCaptureFixture,
) -> None:
    machine = Exhausted()
    async with running(sockets=machine) as server:
        with socket.create_connection(("127.0.0.1", server.port)) as first:
            await server.until(lambda: len(server.connections) == 1)
            machine.is_exhausted = True
            with socket.create_connection(("127.0.0.1", server.port)) as second:
                await server.until(lambda: "cannot accept connections" in caplog.text)
                machine.is_exhausted = False
                first.close()
                second.sendall(frame(b"say:2"))
                started = virtual_loop().time()
                await server.until(lambda: server.service.served == [b"say:2"])
                assert virtual_loop().time() - started < 0.5
    assert caplog.messages == ["cannot accept connections: Too many open files"]


@on_a_loop
async def test_an_address_may_have_only_so_many() -> None:
    async with running(Limits(max_connections_per_ip=1)) as server:
        first, second = await server.connect(), await server.connect()
        assert await second.is_closed()
        assert await first.ask(b"say:1") == b"say:1"
        assert server.server.admission.refused == 1
        first.close()
        await server.until(lambda: not server.connections)
        third = await server.connect()
        assert await third.ask(b"say:3") == b"say:3"


@on_a_loop
async def test_an_address_may_have_a_limit_of_its_own() -> None:
    limits = Limits(max_connections_per_ip=0, per_ip_overrides={"127.0.0.1": 2})
    async with running(limits) as server:
        peers = [await server.connect() for _ in range(3)]
        assert [await peer.ask(b"say:") for peer in peers[:2]] == [b"say:"] * 2
        assert await peers[2].is_closed()


class Hurried:
    """Clients of one listener come too fast, or those of all addresses."""

    def __init__(self, *, listener: str = "", refusal_ms: int = 0) -> None:
        self._listener = listener
        self._refusal_ms = refusal_ms

    def delay_ms(self, listener: str, now_ms: int) -> int:
        return 10_000 if listener == self._listener else 0

    def refusal_ms(self, ip: str, now_ms: int) -> int:
        return self._refusal_ms


@on_virtual_time
async def test_a_client_that_comes_too_fast_has_its_place_while_it_waits() -> None:
    async with running(Limits(max_connections=1)) as server:
        other_port = server.server.listen("OTHER", "127.0.0.1", 0)
        server.server.admission.rates = Hurried(listener="PLAINTEXT")
        server.server.change_limits(server.server.limits)
        first = socket.create_connection(("127.0.0.1", server.port))
        await asyncio.sleep(1)
        second = socket.create_connection(("127.0.0.1", other_port))
        await asyncio.sleep(1)
        assert not server.connections
        await asyncio.sleep(10)
        assert [each.listener for each in server.connections] == ["PLAINTEXT"]
        first.close()
        await server.until(lambda: [each.listener for each in server.connections] == ["OTHER"])
        second.close()


@on_virtual_time
async def test_only_so_many_are_held_before_they_are_refused() -> None:
    async with running() as server:
        server.server.admission.rates = Hurried(refusal_ms=60_000)
        peers = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(MOST_HELD + 3)]
        await server.until(lambda: server.server.admission.refused == len(peers))
        readable, _, _ = select.select(peers, [], [], 0)
        assert len(readable) == 3
        await asyncio.sleep(60)
        readable, _, _ = select.select(peers, [], [], 0)
        assert len(readable) == len(peers)
        for peer in peers:
            peer.close()
