"""A network in memory, as the operating system shows it: hosts, listeners, sockets, a poller.

The broker's own server runs on it unchanged. What is slow, cut or lost comes from one seed.
"""

from __future__ import annotations

import asyncio
import random
import socket
from collections import deque
from collections.abc import Callable
from itertools import count

from ottla.network.poller import READ, WRITE, Events
from ottla.simulation.disk_faults import Crashed
from ottla.simulation.pipe import Pipe, Wires
from ottla.simulation.transport import SimulatedTransport

BUFFER_BYTES = 64 * 1024
_HUNG_UP = 8 | 16  # EPOLLERR and EPOLLHUP come whether one asks for them or not
_FIRST_PORT = 32_768
# The loop's time stands still while something is ready: whoever never deals with it stops us.
_MOST_TURNS = 100_000


class SimulatedSocket:
    """One end of a connection."""

    def __init__(self, host: SimulatedHost, inbound: Pipe, outbound: Pipe) -> None:
        self.inbound = inbound
        self.outbound = outbound
        self._host = host
        self._descriptor = next(host.network.descriptors)
        inbound.on_news = host.look
        outbound.on_room = host.look

    @property
    def events(self) -> int:
        found = READ if self.inbound.is_readable else 0
        found |= WRITE if self.outbound.room_bytes else 0
        return found | _HUNG_UP if self.inbound.is_broken else found

    def fileno(self) -> int:
        return self._descriptor

    def recv_into(self, buffer: memoryview, /) -> int:
        self._host.check_alive()
        self._check_whole()
        if not self.inbound.is_readable:
            raise BlockingIOError
        data = self.inbound.receive(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def send(self, data: bytes | memoryview, _flags: int = 0, /) -> int:
        self._host.check_alive()
        self._check_whole()
        sent = self.outbound.send(data)
        if not sent:
            raise BlockingIOError
        return sent

    def _check_whole(self) -> None:
        if self.inbound.is_broken:
            raise ConnectionResetError

    def setblocking(self, _flag: bool, /) -> None:
        self._host.check_alive()

    def setsockopt(self, _level: int, option: int, value: int, /) -> None:
        if option == socket.SO_SNDBUF:
            self.outbound.capacity_bytes = value

    def close(self) -> None:
        self._host.check_alive()
        self.let_go()

    def let_go(self) -> None:
        """As the kernel does: what was not read is answered by a reset, all that comes too."""
        self._host.sockets.pop(self._descriptor, None)
        self.inbound.on_news = self._refuse
        self.outbound.on_room = lambda: None
        self.outbound.end()
        self._refuse()

    def _refuse(self) -> None:
        if self.inbound.arrived:
            self.outbound.break_off()


class SimulatedListener:
    """Clients wait in it until they are accepted."""

    def __init__(self, host: SimulatedHost, address: tuple[str, int]) -> None:
        self.address = address
        self._waiting: deque[tuple[SimulatedSocket, tuple[str, int]]] = deque()
        self.host = host
        self._descriptor = next(host.network.descriptors)

    @property
    def events(self) -> int:
        return READ if self._waiting else 0

    def fileno(self) -> int:
        return self._descriptor

    def getsockname(self) -> tuple[str, int]:
        return self.address

    def arrive(self, sock: SimulatedSocket, peer: tuple[str, int]) -> None:
        if self.host.network.listeners.get(self.address) is not self:
            sock.outbound.break_off()  # it was let go while the client was on its way
            return
        self._waiting.append((sock, peer))
        self.host.look()

    def accept(self) -> tuple[SimulatedSocket, tuple[str, int]]:
        self.host.check_alive()
        if not self._waiting:
            raise BlockingIOError
        sock, peer = self._waiting.popleft()
        self.host.sockets[sock.fileno()] = sock
        return sock, peer

    def close(self) -> None:
        self.host.check_alive()
        self.let_go()

    def let_go(self) -> None:
        self.host.sockets.pop(self._descriptor, None)
        self.host.network.listeners.pop(self.address, None)
        for sock, _ in self._waiting:
            sock.outbound.break_off()
        self._waiting.clear()


class SimulatedPoller:
    """Level-triggered: calls back as long as something that one asked for is ready."""

    def __init__(self, host: SimulatedHost, on_ready: Callable[[Events], None]) -> None:
        self._host = host
        self._on_ready = on_ready
        self._interests: dict[int, int] = {}
        self._is_called = False
        self._turns = 0
        self._turned_at = 0.0

    def fileno(self) -> int:
        return -1

    def register(self, descriptor: int, interest: int) -> None:
        self._host.check_alive()
        self._interests[descriptor] = interest
        self.look()

    def modify(self, descriptor: int, interest: int) -> None:
        self.register(descriptor, interest)

    def unregister(self, descriptor: int) -> None:
        self._host.check_alive()
        self._interests.pop(descriptor, None)

    def poll(self, timeout: float = 0, maxevents: int = -1) -> Events:
        self._host.check_alive()
        found = []
        for descriptor, interest in self._interests.items():
            events = self._host.sockets[descriptor].events & (interest | _HUNG_UP)
            if events:
                found.append((descriptor, events))
        return found if maxevents < 0 else found[:maxevents]

    def look(self) -> None:
        if not self._is_called and self.poll():
            self._is_called = True
            self._host.network.loop.call_soon(self._turn)

    def _turn(self) -> None:
        now = self._host.network.loop.time()
        self._turns = self._turns + 1 if now == self._turned_at else 0
        self._turned_at = now
        assert self._turns < _MOST_TURNS, f"{self.poll()} is ready, and nobody deals with it"
        self._is_called = False
        if events := self.poll():
            self._on_ready(events)
        self.look()

    def close(self) -> None:
        self._interests.clear()


class SimulatedHost:
    """One machine's network: what a broker on it listens with. A dead one is silent for ever."""

    def __init__(self, network: SimulatedNetwork, name: str) -> None:
        self.network = network
        self.name = name
        self.sockets: dict[int, SimulatedSocket | SimulatedListener] = {}
        self._poller: SimulatedPoller | None = None
        self._is_dead = False

    def check_alive(self) -> None:
        if self._is_dead:
            raise Crashed

    def listen(
        self, host: str, port: int, *, backlog: int, receive_buffer_bytes: int
    ) -> SimulatedListener:
        self.check_alive()
        listener = SimulatedListener(self, (host or self.name, port or next(self.network.ports)))
        if listener.address in self.network.listeners:
            raise OSError(f"{listener.address} is in use")
        self.network.listeners[listener.address] = listener
        self.sockets[listener.fileno()] = listener
        return listener

    async def resolve(self, host: str) -> list[str]:
        if host not in self.network.addresses:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return self.network.addresses[host]

    def new_poller(
        self, loop: asyncio.AbstractEventLoop, on_ready: Callable[[Events], None]
    ) -> SimulatedPoller:
        self._poller = SimulatedPoller(self, on_ready)
        return self._poller

    def close_poller(self, loop: asyncio.AbstractEventLoop, poller: object) -> None:
        assert poller is self._poller
        self._poller = None

    def look(self) -> None:
        if self._poller is not None and not self._is_dead:
            self._poller.look()

    def die(self) -> None:
        """The process is gone: its kernel closes what it had open."""
        self._is_dead = True
        for each in list(self.sockets.values()):
            each.let_go()


class SimulatedNetwork:
    """Whoever is asked for by name and port is found, if somebody listens there."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        chance: random.Random,
        *,
        latency_ms: tuple[int, int] = (0, 0),
        buffer_bytes: int = BUFFER_BYTES,
    ) -> None:
        self.loop = loop
        self.wires = Wires(loop, chance, latency_ms=latency_ms)
        self.buffer_bytes = buffer_bytes
        self.listeners: dict[tuple[str, int], SimulatedListener] = {}
        self.addresses: dict[str, list[str]] = {}  # of clients' machines, by their names
        self.descriptors = count(3)
        self.ports = count(_FIRST_PORT)

    def host(self, name: str) -> SimulatedHost:
        return SimulatedHost(self, name)

    def connect(
        self, protocol: asyncio.Protocol, address: tuple[str, int], *, source: str = "10.0.0.1"
    ) -> SimulatedTransport:
        """As a client at `source`; it is heard when the listener accepts it."""
        listener = self.listeners.get(address)
        if listener is None:
            raise ConnectionRefusedError(f"nobody listens at {address[0]}:{address[1]}")
        peer = (source, next(self.ports))
        there, back = (self._pipe(f"{peer[0]}:{peer[1]} {arrow}") for arrow in ("->", "<-"))
        sock = SimulatedSocket(listener.host, there, back)
        self.loop.call_at(self.wires.due(), lambda: listener.arrive(sock, peer))
        return SimulatedTransport(self.loop, protocol, inbound=back, outbound=there)

    def _pipe(self, name: str) -> Pipe:
        return Pipe(self.wires, name, capacity_bytes=self.buffer_bytes)
