"""Listeners and connections on real loopback sockets, with what limits them."""

from __future__ import annotations

import asyncio
import select
import socket
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from functools import wraps
from pathlib import Path
from struct import pack
from typing import Any

import pytest

from ottla.network.connection import SMALL_BUFFER, Connection
from ottla.network.pieces import FilePiece
from ottla.network.poller import READ, WRITE, _Selector
from ottla.network.server import MOST_HELD, Limits, Server
from ottla.network.sockets import SystemSockets
from ottla.storage.disk import RealDisk
from ottla.storage.files import File
from ottla.timing.tick import Tick
from ottla.timing.timer import Timer
from tests.unit.network.echo import Echo, frame
from tests.virtual_time import on_virtual_time, virtual_loop

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

    def __init__(self, limits: Limits, service: Echo | None = None) -> None:
        loop = asyncio.get_running_loop()
        self.service = service or Echo()
        self.timer = Timer(loop)
        tick = Tick(loop.call_soon)
        self.server = Server(loop, SystemSockets(), self.service, tick, self.timer, limits)
        self.port = self.server.listen("PLAINTEXT", "127.0.0.1", 0)
        self.server.start()

    async def connect(self) -> Peer:
        peer = Peer(*await asyncio.open_connection("127.0.0.1", self.port))
        PEERS.append(peer)
        return peer

    async def close(self) -> None:
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
    limits: Limits | None = None, service: Echo | None = None
) -> AsyncIterator[Running]:
    found = Running(limits or Limits(), service)
    try:
        yield found
    finally:
        await found.close()


@pytest.mark.parametrize("size", [0, 100, SMALL_BUFFER - 8, SMALL_BUFFER, 100_000, 5_000_000])
@on_a_loop
async def test_requests_of_any_size_are_answered(size: int) -> None:
    async with running() as server:
        peer = await server.connect()
        body = b"say:" + bytes(size)
        for _ in range(3):
            assert await peer.ask(body) == body


@on_a_loop
async def test_many_requests_at_once_are_answered_in_order() -> None:
    async with running() as server:
        peers = [await server.connect() for _ in range(20)]
        bodies = [b"say:%d" % number for number in range(500)]
        for peer in peers:
            peer.send(*bodies)
        for peer in peers:
            assert [await peer.answer() for _ in bodies] == bodies


@on_a_loop
async def test_a_full_buffer_behind_a_parked_request_is_read_again_later() -> None:
    async with running() as server:
        peer = await server.connect()
        bodies = [b"say:" + bytes(1_000) for _ in range(500)]
        peer.send(b"park:1", *bodies)
        await server.until(lambda: not server.connections or not server.connections[0].is_hungry)
        owed = server.service.parked[0]
        owed.pieces = [frame(owed.body)]
        server.connections[0].settle()
        assert await peer.answer() == b"park:1"
        assert [await peer.answer() for _ in bodies] == bodies


@on_a_loop
async def test_a_client_that_does_not_read_stops_being_served_and_then_goes_on() -> None:
    async with running(Limits(send_buffer_bytes=10_000, receive_buffer_bytes=10_000)) as server:
        sock = socket.create_connection(("127.0.0.1", server.port))
        sock.setblocking(False)
        loop = asyncio.get_running_loop()
        body = b"say:" + bytes(100_000)
        data = frame(body) * 100
        sending = asyncio.create_task(loop.sock_sendall(sock, data))
        await server.until(lambda: bool(server.connections) and server.connections[0].is_backed_up)
        assert len(server.service.served) < 100
        received = 0
        while received < len(data):
            received += len(await loop.sock_recv(sock, 1_000_000))
        await sending
        assert len(server.service.served) == 100
        sock.close()


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


@on_a_loop
async def test_an_address_may_have_only_so_many() -> None:
    async with running(Limits(max_connections_per_ip=1)) as server:
        first, second = await server.connect(), await server.connect()
        assert await second.is_closed()
        assert await first.ask(b"say:1") == b"say:1"
        assert server.server.refused == 1
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


@pytest.mark.parametrize(
    "data", [pack(">i", -5), pack(">i", 2_000), frame(b"bad:"), frame(b"bug:")]
)
@on_a_loop
async def test_a_bad_client_is_cut_off_and_others_are_not(data: bytes) -> None:
    async with running(Limits(max_request_bytes=1_000)) as server:
        good, bad = await server.connect(), await server.connect()
        bad.writer.write(data)
        assert await bad.is_closed()
        assert await good.ask(b"say:1") == b"say:1"
        await server.until(lambda: len(server.connections) == 1)


@on_a_loop
async def test_a_client_that_goes_is_forgotten_even_while_it_is_not_read() -> None:
    async with running() as server:
        sock = socket.create_connection(("127.0.0.1", server.port))
        sock.sendall(frame(b"park:1") + frame(bytes(15_000)) * 20)
        await server.until(lambda: bool(server.connections) and not server.connections[0].is_hungry)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, pack("ii", 1, 0))
        sock.close()  # by a reset
        await server.until(lambda: not server.connections)


@on_a_loop
async def test_requests_that_find_no_memory_wait_for_it() -> None:
    async with running(Limits(queued_max_request_bytes=200_000)) as server:
        body = b"say:" + bytes(150_000)
        first, second = await server.connect(), await server.connect()
        half = len(body) // 2
        first.writer.write(frame(body)[:half])
        await server.until(lambda: server.server.memory.used_bytes > 0)
        second.send(body)
        await server.until(lambda: server.server.memory.is_short)
        first.writer.write(frame(body)[half:])
        assert await first.answer() == body
        assert await second.answer() == body


@on_a_loop
async def test_clients_that_all_wait_for_memory_are_served_one_after_the_other() -> None:
    """Each keeps the buffer of its first request, and has begun a larger one."""
    small, large = b"say:" + bytes(50_000), b"say:" + bytes(90_000)
    async with running(Limits(queued_max_request_bytes=100_000)) as server:
        peers = [await server.connect() for _ in range(2)]
        for peer in peers:
            assert await peer.ask(small) == small
        begun = len(frame(small)) + 70_000
        for peer in peers:
            peer.writer.write(frame(large)[:70_000])
        await server.until(
            lambda: (
                max(each.bytes_in for each in server.connections) == begun
                and server.server.memory.is_short
            )
        )
        for peer in peers:
            peer.writer.write(frame(large)[70_000:])
        assert [await peer.answer() for peer in peers] == [large] * 2


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
        server.server.rates = Hurried(listener="PLAINTEXT")
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
        server.server.rates = Hurried(refusal_ms=60_000)
        peers = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(MOST_HELD + 3)]
        await server.until(lambda: server.server.refused == len(peers))
        readable, _, _ = select.select(peers, [], [], 0)
        assert len(readable) == 3
        await asyncio.sleep(60)
        readable, _, _ = select.select(peers, [], [], 0)
        assert len(readable) == len(peers)
        for peer in peers:
            peer.close()


class FileService(Echo):
    """Answers from a file."""

    def __init__(self, file: File) -> None:
        super().__init__()
        self.file = file

    def serve(self, connection: Connection, start: int, end: int) -> bool:
        size = self.file.size()
        size_bytes = pack(">i", size + 3)
        connection.answer([size_bytes + b"<", FilePiece(self.file, 0, size), b"->"])
        return True


@on_a_loop
async def test_files_are_sent_from_where_they_lie(tmp_path: Path) -> None:
    file = RealDisk().open(f"{tmp_path}/data", create=True)
    content = bytes(range(256)) * 40_000
    file.append([content])
    async with running(service=FileService(file)) as server:
        peer = await server.connect()
        peer.send(b"1", b"2", b"3")
        for _ in range(3):
            assert await peer.answer() == b"<" + content + b"->"


@on_a_loop
async def test_a_file_that_was_cut_closes_the_connection(tmp_path: Path) -> None:
    file = RealDisk().open(f"{tmp_path}/data", create=True)
    file.append([bytes(10)])
    service = FileService(file)
    async with running(service=service) as server:
        peer = await server.connect()
        await peer.ask(b"1")
        piece = FilePiece(file, 5, 100)
        server.connections[0].answer([piece])
        assert await peer.reader.readexactly(5) == bytes(5)
        assert await peer.is_closed()


@on_a_loop
async def test_a_server_that_ends_serves_nothing_new_and_answers_what_it_owes() -> None:
    async with running() as server:
        first, second = await server.connect(), await server.connect()
        first.send(b"park:1", b"say:2")
        assert await second.ask(b"say:3") == b"say:3"
        await server.until(lambda: len(server.service.served) == 2)
        server.server.stop_serving()
        second.send(b"say:4")
        owed = server.service.parked[0]
        owed.pieces = [frame(owed.body)]
        for connection in server.connections:
            connection.settle()
        assert await first.answer() == b"park:1"
    assert [await peer.is_closed() for peer in (first, second)] == [True, True]
    assert b"say:2" not in server.service.served
    assert b"say:4" not in server.service.served


@on_a_loop
async def test_a_stopped_server_sends_what_it_has_and_closes() -> None:
    async with running() as server:
        peer = await server.connect()
        await peer.ask(b"say:1")
        server.connections[0].answer([frame(b"last")])
    assert await peer.answer() == b"last"
    assert await peer.is_closed()
    with pytest.raises(OSError, match="Connect call failed"):
        await server.connect()


@on_a_loop
async def test_a_name_is_resolved_to_its_addresses() -> None:
    assert "127.0.0.1" in await SystemSockets().resolve("localhost")


@on_virtual_time
async def test_silent_clients_are_closed_and_idle_buffers_given_back() -> None:
    async with running(Limits(idle_ms=60_000)) as server:
        sock = socket.create_connection(("127.0.0.1", server.port))
        parked = socket.create_connection(("127.0.0.1", server.port))
        sock.sendall(frame(b"say:" + bytes(100_000)))
        parked.sendall(frame(b"park:1"))
        await server.until(lambda: len(server.service.served) == 2)
        assert server.server.memory.used_bytes > 80_000
        started = virtual_loop().time()
        await server.until(lambda: not server.server.memory.used_bytes)
        assert 5 < virtual_loop().time() - started < 31
        await server.until(lambda: len(server.connections) == 1)
        assert 59 < virtual_loop().time() - started < 100
        assert server.connections[0].waiting  # who waits for us is not silent
        sock.close()
        parked.close()


@pytest.mark.parametrize("idle_ms", [0, -1])
@on_virtual_time
async def test_where_silence_is_allowed_the_server_sleeps(idle_ms: int) -> None:
    async with running(Limits(idle_ms=idle_ms)) as server:
        sock = socket.create_connection(("127.0.0.1", server.port))
        await server.until(lambda: len(server.connections) == 1)
        before = virtual_loop().jumps
        await asyncio.sleep(60)
        assert virtual_loop().jumps - before < 50
        assert len(server.connections) == 1
        sock.close()


def test_the_poller_of_other_systems_says_the_same() -> None:
    ours, theirs = socket.socketpair()
    poller = _Selector()
    try:
        poller.register(ours.fileno(), READ)
        assert poller.poll(0) == []
        theirs.send(b"x")
        assert poller.poll(0) == [(ours.fileno(), READ)]
        poller.modify(ours.fileno(), WRITE)
        assert poller.poll(0) == [(ours.fileno(), WRITE)]
        poller.modify(ours.fileno(), 0)
        assert poller.poll(0) == []
        poller.unregister(ours.fileno())
    finally:
        poller.close()
        ours.close()
        theirs.close()
