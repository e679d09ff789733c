"""Listeners and their connections: one poller, one round of it per loop callback."""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
from collections import Counter
from collections.abc import Callable

from ottla.network.connection import SMALL_BUFFER, Connection, ReceiveBuffer, Service
from ottla.network.limits import Limits, Rates
from ottla.network.memory import RequestMemory
from ottla.network.poller import MOST_EVENTS, READ, Events
from ottla.network.socket_door import SocketDoor
from ottla.network.sockets import Listener, Socket, Sockets
from ottla.timing.tick import Tick
from ottla.timing.timer import Timer
from ottla.timing.wheel import Deadline

_logger = logging.getLogger(__name__)
# Rounds before the loop's timers and other callbacks get their turn.
_MOST_ROUNDS = 8
_BUSY = 2  # sockets
_MOST_ACCEPTED = 64
_SHRINK_AFTER_MS = 10_000
MOST_HELD = 256  # of those that will be refused: each has a descriptor, and they count nowhere
_FOR_EVER_MS = 24 * 60 * 60 * 1000  # of a server that ends
_OUT_OF_DESCRIPTORS = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


class Server:
    """All connections of a broker. Needs the loop only to be told that the poller has news."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        sockets: Sockets,
        service: Service,
        tick: Tick,
        timer: Timer,
        limits: Limits,
    ) -> None:
        self.connections: dict[int, SocketDoor] = {}
        self.limits = limits
        self.memory = RequestMemory(limits.queued_max_request_bytes)
        self.rates: Rates | None = None
        self.refused = 0  # connections beyond a limit
        self._loop = loop
        self._service = service
        self._tick = tick
        self._timer = timer
        self._sockets = sockets
        self._poller = sockets.new_poller(loop, self._rounds)
        self._listeners: dict[int, tuple[Listener, str]] = {}
        # One for each event of a round, whoever has it: few clients send at the same moment.
        self._buffers = [ReceiveBuffer.of(SMALL_BUFFER) for _ in range(MOST_EVENTS)]
        self._open: set[int] = set()  # listeners that the poller watches
        self._accepts = False
        self._is_exhausted = False  # of descriptors
        self._resting: dict[int, Deadline] = {}  # listeners whose next client waits, too
        self._held: dict[Socket, Deadline] = {}  # accepted, and not heard
        self._per_ip: Counter[str] = Counter()
        self._per_listener: Counter[str] = Counter()
        self._numbers = 0

    def listen(self, name: str, host: str, port: int, *, backlog: int = 512) -> int:
        """Open a listener; returns its port, which the system chooses if 0 was asked for."""
        sock = self._sockets.listen(
            host, port, backlog=backlog, receive_buffer_bytes=self.limits.receive_buffer_bytes
        )
        self._listeners[sock.fileno()] = (sock, name)
        bound: int = sock.getsockname()[1]
        return bound

    def start(self) -> None:
        """Begin to accept; until now clients waited in the backlog."""
        self._accepts = True
        self._watch_listeners()
        self._look_after()

    def _rounds(self, events: Events) -> None:
        tick, connections, listeners = self._tick, self.connections, self._listeners
        for _ in range(_MOST_ROUNDS):
            tick.begin()
            now_ms = self._timer.now_ms()
            try:
                for (descriptor, event), lent in zip(events, self._buffers, strict=False):
                    door = connections.get(descriptor)
                    if door is not None:
                        door.connection.active_ms = now_ms
                        door.ready(event, lent)
                    elif descriptor in self._open:
                        self._accept(*listeners[descriptor])
            finally:
                tick.end()  # who was served before a bug met somebody else gets his answer
            if len(events) < _BUSY:
                return  # whoever is served alone has hardly sent the next request yet
            events = self._poller.poll(0, MOST_EVENTS)

    def _accept(self, listener: Listener, name: str) -> None:
        for _ in range(_MOST_ACCEPTED):
            if not self._has_room(name):
                self._watch_listeners()
                return
            try:
                sock, address = listener.accept()
            except (BlockingIOError, InterruptedError, ConnectionError):
                return
            except OSError as error:
                if error.errno in _OUT_OF_DESCRIPTORS:
                    _logger.error("cannot accept connections: %s", error.strerror)
                    self._is_exhausted = True
                    self._watch_listeners()
                    self._timer.call_after(1000, self._recover)
                return
            delay_ms = self.rates.delay_ms(name, self._timer.now_ms()) if self.rates else 0
            if delay_ms > 0:
                self._delay(listener, sock, address, name, delay_ms)
                return
            self._admit(sock, address[0], address[1], name)

    def _delay(
        self, listener: Listener, sock: Socket, address: tuple[str, int], name: str, delay_ms: int
    ) -> None:
        """This client and those behind it in the backlog wait: they come too fast."""
        descriptor = listener.fileno()

        def go_on() -> None:
            del self._resting[descriptor], self._held[sock]
            self._admit(sock, address[0], address[1], name)
            self._watch_listeners()

        deadline = self._timer.call_after(delay_ms, go_on)
        self._resting[descriptor] = self._held[sock] = deadline
        self._watch_listeners()

    def _refuse_later(self, sock: Socket, delay_ms: int) -> None:
        """Closed at once, a client that comes too fast would only come again at once."""

        def close() -> None:
            del self._held[sock]
            sock.close()

        self.refused += 1
        if len(self._held) >= MOST_HELD:
            sock.close()
            return
        self._held[sock] = self._timer.call_after(delay_ms, close)

    def _admit(self, sock: Socket, host: str, port: int, listener: str) -> None:
        host = host.removeprefix("::ffff:")  # an IPv4 client on a socket that takes both
        refusal_ms = self.rates.refusal_ms(host, self._timer.now_ms()) if self.rates else 0
        if refusal_ms > 0:
            self._refuse_later(sock, refusal_ms)
            return
        limit = self.limits.per_ip_overrides.get(host, self.limits.max_connections_per_ip)
        if self._per_ip[host] >= limit:
            self.refused += 1
            _logger.info("refused a connection of %s: it has %d already", host, limit)
            sock.close()
            return
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        if self.limits.send_buffer_bytes > 0:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, self.limits.send_buffer_bytes)
        self._numbers += 1
        connection = Connection(
            self._service,
            self._tick,
            self.memory,
            number=self._numbers,
            listener=listener,
            peer=f"{host}:{port}",
            max_request_bytes=self.limits.max_request_bytes,
        )
        connection.active_ms = self._timer.now_ms()
        door = SocketDoor(sock, connection, self._poller, self.memory, self._forget)
        self.connections[door.descriptor] = door
        self._per_ip[host] += 1
        self._per_listener[listener] += 1
        if listener == self.limits.protected_listener:
            self._make_room_for_protected()

    def _make_room_for_protected(self) -> None:
        """If there are too many now, who was silent longest on another listener has to go."""
        protected = self.limits.protected_listener
        if len(self.connections) <= self.limits.max_connections:
            return
        doors = self.connections.values()
        others = [door.connection for door in doors if door.connection.listener != protected]
        if others:
            most_silent = min(others, key=lambda connection: connection.active_ms)
            _logger.info("closing %s for a client of %s", most_silent.peer, protected)
            most_silent.close()

    def _forget(self, door: SocketDoor) -> None:
        del self.connections[door.descriptor]
        host = door.connection.peer.rpartition(":")[0]
        self._per_ip[host] -= 1
        if not self._per_ip[host]:
            del self._per_ip[host]
        self._per_listener[door.connection.listener] -= 1
        self._is_exhausted = False
        if len(self._open) < len(self._listeners):
            self._watch_listeners()

    def change_limits(self, limits: Limits) -> None:
        """They hold from now on; who is connected may stay."""
        self.limits = limits
        self._watch_listeners()

    def _has_room(self, listener: str) -> bool:
        # Who waits for its turn to be admitted has its place.
        of_all = len(self.connections) + len(self._resting)
        of_listener = self._per_listener[listener]
        return self.limits.has_room(listener, of_listener=of_listener, of_all=of_all)

    def _watch_listeners(self) -> None:
        """Accept where there is room; elsewhere new clients stay in the backlog."""
        may_accept = self._accepts and not self._is_exhausted
        for descriptor, (_, name) in self._listeners.items():
            if may_accept and descriptor not in self._resting and self._has_room(name):
                if descriptor not in self._open:
                    self._open.add(descriptor)
                    self._poller.register(descriptor, READ)
            elif descriptor in self._open:
                self._open.remove(descriptor)
                self._poller.unregister(descriptor)

    def _recover(self) -> None:
        """Perhaps there are descriptors again."""
        self._is_exhausted = False
        self._watch_listeners()

    def _look_after(self) -> None:
        """Close who is silent too long, and take back large buffers that nobody needs."""
        now_ms = self._timer.now_ms()
        for door in list(self.connections.values()):
            connection = door.connection
            if connection.waiting or connection.is_muted:
                connection.active_ms = now_ms  # it is we who are silent
            silent_ms = now_ms - connection.active_ms
            if silent_ms >= self.limits.idle_ms_of(connection.listener) > 0:
                connection.close()
            elif silent_ms >= _SHRINK_AFTER_MS:
                connection.shrink()
        if self._listeners:
            self._timer.call_after(self._look_pause_ms(), self._look_after)

    def _look_pause_ms(self) -> int:
        times_ms = [self.limits.idle_ms_of(name) for _, name in self._listeners.values()]
        halves_ms = [max(idle_ms // 2, 1) for idle_ms in times_ms if idle_ms > 0]
        return min([*halves_ms, _SHRINK_AFTER_MS])

    def stop_listening(self) -> None:
        self._accepts = False
        self._watch_listeners()
        for held, deadline in self._held.items():
            deadline.cancel()
            held.close()
        self._held.clear()
        self._resting.clear()
        for sock, _ in self._listeners.values():
            sock.close()
        self._listeners.clear()

    def stop_serving(self) -> None:
        """Nothing more is read; what is owed for earlier requests still goes out."""
        self.on_each(lambda connection: connection.mute(self._timer, _FOR_EVER_MS))

    def close(self) -> None:
        """Close every connection, after sending what the kernel takes at once."""
        self.stop_listening()
        for door in list(self.connections.values()):
            if door.connection.outgoing:
                door.flush()
            door.connection.close()
        self._sockets.close_poller(self._loop, self._poller)

    def on_each(self, visit: Callable[[Connection], None]) -> None:
        for door in self.connections.values():
            visit(door.connection)
