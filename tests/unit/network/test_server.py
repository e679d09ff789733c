"""Listeners and connections on real loopback sockets, with what limits them."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path
from struct import pack

import pytest

from ottla.network.connection import Connection
from ottla.network.limits import Limits
from ottla.network.pieces import FilePiece
from ottla.network.poller import MOST_EVENTS, READ, WRITE, _Selector
from ottla.network.receiving import SMALL_BUFFER
from ottla.network.sockets import SystemSockets
from ottla.storage.disk import RealDisk
from ottla.storage.files import File
from tests.unit.network.echo import Echo, frame
from tests.unit.network.serving import on_a_loop, running
from tests.virtual_time import on_virtual_time, virtual_loop


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


class Prompting(Echo):
    """May be sent more while it serves; notes how many answers waited for the tick's end then."""

    def __init__(self) -> None:
        super().__init__()
        self.prompts: dict[bytes, Callable[[], object]] = {}
        self.unsent: dict[bytes, int] = {}
        self._connections: list[Connection] = []

    def serve(self, connection: Connection, start: int, end: int) -> bool:
        body = bytes(connection.view[start:end])
        self.unsent[body] = sum(each.is_sending for each in self._connections)
        self._connections.append(connection)
        if body in self.prompts:
            self.prompts[body]()
        return super().serve(connection, start, end)


@on_a_loop
async def test_who_sends_while_others_are_served_shares_their_tick() -> None:
    service = Prompting()
    async with running(service=service) as server:
        socks = [await server.sock() for _ in range(3)]
        service.prompts[b"say:1"] = lambda: socks[2].sendall(frame(b"say:3"))
        socks[0].sendall(frame(b"say:1"))
        socks[1].sendall(frame(b"say:2"))
        await server.until(lambda: len(service.served) == 3)
        assert service.unsent == {b"say:1": 0, b"say:2": 1, b"say:3": 2}


@on_a_loop
async def test_a_buffer_of_ones_own_is_not_filled_again_before_the_tick_ends() -> None:
    """What was appended from it lies in it until then."""
    service = Prompting()
    async with running(service=service) as server:
        first, second = [await server.sock() for _ in range(2)]
        last = frame(b"say:3")
        service.prompts[b"say:2"] = lambda: first.sendall(last[5:])
        first.sendall(frame(b"say:1") + last[:5])
        second.sendall(frame(b"say:2"))
        await server.until(lambda: len(service.served) == 3)
        assert service.unsent == {b"say:1": 0, b"say:2": 1, b"say:3": 0}


@on_a_loop
async def test_clients_that_never_pause_do_not_keep_the_tick_from_its_end() -> None:
    service, total = Prompting(), 400
    async with running(service=service) as server:
        socks = [await server.sock() for _ in range(2)]
        for number in range(total):
            following = frame(b"say:%d" % (number + 2))
            service.prompts[b"say:%d" % number] = partial(socks[number % 2].sendall, following)
        for number, sock in enumerate(socks):
            sock.sendall(frame(b"say:%d" % number))
        await server.until(lambda: len(service.served) == total + 2)
        begun = [at for at, body in enumerate(service.served) if not service.unsent[body]]
        assert max(later - earlier for earlier, later in pairwise(begun)) <= MOST_EVENTS


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
