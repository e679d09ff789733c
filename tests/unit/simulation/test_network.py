"""The simulated network: late, in pieces, in order, bounded, and as final as TCP."""

from __future__ import annotations

import asyncio
import random

import pytest

from ottla.network.poller import READ, WRITE, Events
from ottla.simulation.disk_faults import Crashed
from ottla.simulation.network import SimulatedHost, SimulatedNetwork, SimulatedSocket
from ottla.simulation.transport import SimulatedTransport
from tests.virtual_time import on_virtual_time, virtual_loop

ADDRESS = ("there", 80)


class Client(asyncio.Protocol):
    def __init__(self) -> None:
        self.pieces: list[bytes] = []
        self.lost: list[Exception | None] = []

    def data_received(self, data: bytes) -> None:
        self.pieces.append(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self.lost.append(exc)


class Pair:
    """A client, and the socket that was accepted for it."""

    def __init__(self, *, latency_ms: tuple[int, int] = (0, 0), buffer_bytes: int = 1000) -> None:
        self.network = SimulatedNetwork(
            virtual_loop(), random.Random(1), latency_ms=latency_ms, buffer_bytes=buffer_bytes
        )
        self.host: SimulatedHost = self.network.host("there")
        self.listener = self.host.listen("there", 80, backlog=1, receive_buffer_bytes=-1)
        self.client = Client()
        self.transport: SimulatedTransport = self.network.connect(self.client, ADDRESS)

    async def accept(self) -> SimulatedSocket:
        await asyncio.sleep(1)
        sock, peer = self.listener.accept()
        assert peer[0] == "10.0.0.1"
        return sock


def receive(sock: SimulatedSocket) -> bytes:
    space = memoryview(bytearray(10_000))
    return bytes(space[: sock.recv_into(space)])


@on_virtual_time
async def test_bytes_arrive_late_in_pieces_and_in_order() -> None:
    pair = Pair(latency_ms=(5, 50))
    sock = await pair.accept()
    sent = bytes(range(256))
    for start in range(0, 256, 32):
        sock.send(sent[start : start + 32])
    await asyncio.sleep(0.004)
    assert pair.client.pieces == []
    await asyncio.sleep(1)
    assert b"".join(pair.client.pieces) == sent
    assert len(pair.client.pieces) > 8


@on_virtual_time
async def test_who_does_not_read_stops_the_sender() -> None:
    pair = Pair()
    sock = await pair.accept()
    pair.transport.pause_reading()
    assert sock.send(bytes(5_000)) == 1_000
    assert not sock.events & WRITE
    with pytest.raises(BlockingIOError):
        sock.send(b"more")
    pair.transport.resume_reading()
    await asyncio.sleep(1)
    assert sock.events & WRITE
    assert sum(map(len, pair.client.pieces)) == 1_000


@on_virtual_time
async def test_a_client_keeps_what_finds_no_room() -> None:
    pair = Pair()
    sock = await pair.accept()
    pair.transport.write(bytes(2_500))
    await asyncio.sleep(1)
    assert len(receive(sock)) == 1_000
    await asyncio.sleep(1)
    assert len(receive(sock)) == 1_000
    pair.transport.close()
    await asyncio.sleep(1)
    assert len(receive(sock)) == 500
    await asyncio.sleep(1)
    assert receive(sock) == b""
    assert pair.client.lost == [None]


@on_virtual_time
async def test_what_was_sent_arrives_before_the_end() -> None:
    pair = Pair(latency_ms=(0, 20))
    sock = await pair.accept()
    sock.send(b"last words")
    sock.close()
    await asyncio.sleep(1)
    assert b"".join(pair.client.pieces) == b"last words"
    assert pair.client.lost == [None]


@on_virtual_time
async def test_a_reset_is_heard_whether_one_asks_or_not() -> None:
    pair = Pair()
    sock = await pair.accept()
    heard: list[tuple[int, int]] = []

    def hear(events: Events) -> None:
        heard.extend(events)
        poller.unregister(sock.fileno())

    poller = pair.host.new_poller(virtual_loop(), hear)
    poller.register(sock.fileno(), 0)
    pair.transport.abort()
    await asyncio.sleep(1)
    [(descriptor, events)] = heard
    assert (descriptor, events & (READ | WRITE)) == (sock.fileno(), 0)
    for use in (lambda: receive(sock), lambda: sock.send(b"more")):
        with pytest.raises(ConnectionResetError):
            use()


@on_virtual_time
async def test_closing_with_unread_bytes_resets_the_other_end() -> None:
    pair = Pair()
    sock = await pair.accept()
    pair.transport.write(b"nobody reads this")
    await asyncio.sleep(1)
    sock.close()
    await asyncio.sleep(1)
    assert isinstance(pair.client.lost[0], ConnectionResetError)


@on_virtual_time
async def test_nobody_listens_where_nobody_is() -> None:
    pair = Pair()
    with pytest.raises(ConnectionRefusedError, match="nobody listens at there:81"):
        pair.network.connect(Client(), ("there", 81))
    pair.listener.close()
    with pytest.raises(ConnectionRefusedError):
        pair.network.connect(Client(), ADDRESS)


@on_virtual_time
async def test_a_dead_host_ends_its_connections_and_raises_for_ever() -> None:
    pair = Pair()
    sock = await pair.accept()
    pair.host.die()
    await asyncio.sleep(1)
    assert pair.client.lost == [None]
    for use in (sock.close, pair.listener.accept, lambda: sock.send(b"a")):
        with pytest.raises(Crashed):
            use()


@on_virtual_time
async def test_who_is_on_its_way_when_a_listener_goes_hears_so() -> None:
    pair = Pair(latency_ms=(10, 10))
    pair.listener.close()
    await asyncio.sleep(1)
    assert [type(error) for error in pair.client.lost] == [ConnectionResetError]
