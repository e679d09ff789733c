"""Connections and their sockets: one poller, one round of it per loop callback."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable

from ottla.network.admission import Admission
from ottla.network.connection import Connection, Service
from ottla.network.limits import Limits
from ottla.network.memory import RequestMemory
from ottla.network.poller import MOST_EVENTS, Events
from ottla.network.receiving import SMALL_BUFFER, ReceiveBuffer
from ottla.network.socket_door import SocketDoor
from ottla.network.sockets import Socket, Sockets
from ottla.timing.tick import Tick
from ottla.timing.timer import Timer

# Rounds before the loop's timers and other callbacks get their turn.
_MOST_ROUNDS = 8
_BUSY = 2  # sockets
_ENOUGH = 64  # of them in one tick, so that the first does not wait long for the last
_SHRINK_AFTER_MS = 10_000
_FOR_EVER_MS = 24 * 60 * 60 * 1000  # of a server that ends


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
        self._loop = loop
        self._service = service
        self._tick = tick
        self._timer = timer
        self._sockets = sockets
        self._poller = sockets.new_poller(loop, self._rounds)
        self.admission = Admission(self._poller, timer, limits, self.connections, self._serve)
        # One for each event of a round, whoever has it: few clients send at the same moment.
        self._buffers = [ReceiveBuffer.of(SMALL_BUFFER) for _ in range(MOST_EVENTS)]
        self._numbers = 0

    def listen(self, name: str, host: str, port: int, *, backlog: int = 512) -> int:
        """Open a listener; returns its port, which the system chooses if 0 was asked for."""
        sock = self._sockets.listen(
            host, port, backlog=backlog, receive_buffer_bytes=self.limits.receive_buffer_bytes
        )
        self.admission.add_listener(sock, name)
        bound: int = sock.getsockname()[1]
        return bound

    def start(self) -> None:
        """Until now clients waited in the backlog."""
        self.admission.start()
        self._look_after()

    def _rounds(self, events: Events) -> None:
        tick = self._tick
        for _ in range(_MOST_ROUNDS):
            tick.begin()
            try:
                count = self._read(events)
            finally:
                tick.end()  # who was served before a bug met somebody else gets his answer
            if count < _BUSY:
                return  # whoever is served alone has hardly sent the next request yet
            events = self._poller.poll(0, MOST_EVENTS)

    def _read(self, events: Events) -> int:
        """Serve who is ready, and who has become so meanwhile: a tick's writes are shared by all.

        What was appended from a connection's own buffer lies in it until the tick ends, so that is
        filled once. Of those that are lent each event has another.
        """
        connections, lending, now_ms = self.connections, iter(self._buffers), self._timer.now_ms()
        count = 0
        while True:
            put_off = 0
            for (descriptor, event), lent in zip(events, lending, strict=False):
                door = connections.get(descriptor)
                if door is None:
                    self.admission.accept(descriptor)
                elif count and door.connection.owns_buffer:
                    put_off += 1
                else:
                    door.connection.active_ms = now_ms
                    door.ready(event, lent)
            count += len(events)
            if len(events) - put_off < _BUSY or count >= _ENOUGH:
                return count
            events = self._poller.poll(0, MOST_EVENTS - count)

    def _serve(self, sock: Socket, peer: str, listener: str) -> None:
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
            peer=peer,
            max_request_bytes=self.limits.max_request_bytes,
        )
        connection.active_ms = self._timer.now_ms()
        door = SocketDoor(sock, connection, self._poller, self.memory, self._forget)
        self.connections[door.descriptor] = door

    def _forget(self, door: SocketDoor) -> None:
        del self.connections[door.descriptor]
        self.admission.left(door.connection)

    def change_limits(self, limits: Limits) -> None:
        """They hold from now on; who is connected may stay."""
        self.limits = limits
        self.admission.change_limits(limits)

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
        if self.admission.listener_names:
            self._timer.call_after(self._look_pause_ms(), self._look_after)

    def _look_pause_ms(self) -> int:
        times_ms = [self.limits.idle_ms_of(name) for name in self.admission.listener_names]
        halves_ms = [max(idle_ms // 2, 1) for idle_ms in times_ms if idle_ms > 0]
        return min([*halves_ms, _SHRINK_AFTER_MS])

    def stop_listening(self) -> None:
        self.admission.stop()

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
