"""Who may connect: how many, from where and how fast. Others wait in the backlog or are closed.

Knows of those who are in only how many they are and who is silent: the server serves them.
"""

from __future__ import annotations

import errno
import logging
from collections import Counter
from collections.abc import Callable, Mapping

from ottla.network.connection import Connection
from ottla.network.limits import Limits, Rates
from ottla.network.poller import READ, Poller
from ottla.network.socket_door import SocketDoor
from ottla.network.sockets import Listener, Socket
from ottla.timing.timer import Timer
from ottla.timing.wheel import Deadline

_logger = logging.getLogger(__name__)
_MOST_ACCEPTED = 64
MOST_HELD = 256  # of those that will be refused: each has a descriptor, and they count nowhere
_OUT_OF_DESCRIPTORS = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)

Serve = Callable[[Socket, str, str], None]  # with its peer and its listener


class Admission:
    """Accepts for all listeners of a server, and counts who is in until it has left."""

    def __init__(
        self,
        poller: Poller,
        timer: Timer,
        limits: Limits,
        connections: Mapping[int, SocketDoor],
        serve: Serve,
    ) -> None:
        self.rates: Rates | None = None
        self.refused = 0  # connections beyond a limit
        self._poller = poller
        self._timer = timer
        self._limits = limits
        self._connections = connections
        self._serve = serve
        self._listeners: dict[int, tuple[Listener, str]] = {}
        self._open: set[int] = set()  # listeners that the poller watches
        self._accepts = False
        self._is_exhausted = False  # of descriptors
        self._resting: dict[int, Deadline] = {}  # listeners whose next client waits, too
        self._held: dict[Socket, Deadline] = {}  # accepted, and not heard
        self._per_ip: Counter[str] = Counter()
        self._per_listener: Counter[str] = Counter()

    @property
    def listener_names(self) -> list[str]:
        return [name for _, name in self._listeners.values()]

    def add_listener(self, listener: Listener, name: str) -> None:
        self._listeners[listener.fileno()] = (listener, name)

    def start(self) -> None:
        self._accepts = True
        self._watch_listeners()

    def stop(self) -> None:
        """With the listeners, whoever was accepted and not heard yet is closed."""
        self._accepts = False
        self._watch_listeners()
        for held, deadline in self._held.items():
            deadline.cancel()
            held.close()
        self._held.clear()
        self._resting.clear()
        for listener, _ in self._listeners.values():
            listener.close()
        self._listeners.clear()

    def change_limits(self, limits: Limits) -> None:
        """They hold from now on; who is connected may stay."""
        self._limits = limits
        self._watch_listeners()

    def left(self, connection: Connection) -> None:
        """One that was served is no longer among the connections."""
        host = connection.peer.rpartition(":")[0]
        self._per_ip[host] -= 1
        if not self._per_ip[host]:
            del self._per_ip[host]
        self._per_listener[connection.listener] -= 1
        self._is_exhausted = False
        if len(self._open) < len(self._listeners):
            self._watch_listeners()

    def accept(self, descriptor: int) -> None:
        """Let in who waits at this listener; the poller may name one that we left since."""
        if descriptor not in self._open:
            return
        listener, name = self._listeners[descriptor]
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

    def _recover(self) -> None:
        """Perhaps there are descriptors again."""
        self._is_exhausted = False
        self._watch_listeners()

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

    def _admit(self, sock: Socket, host: str, port: int, listener: str) -> None:
        host = host.removeprefix("::ffff:")  # an IPv4 client on a socket that takes both
        refusal_ms = self.rates.refusal_ms(host, self._timer.now_ms()) if self.rates else 0
        if refusal_ms > 0:
            self._refuse_later(sock, refusal_ms)
            return
        limit = self._limits.per_ip_overrides.get(host, self._limits.max_connections_per_ip)
        if self._per_ip[host] >= limit:
            self.refused += 1
            _logger.info("refused a connection of %s: it has %d already", host, limit)
            sock.close()
            return
        self._serve(sock, f"{host}:{port}", listener)
        self._per_ip[host] += 1
        self._per_listener[listener] += 1
        if listener == self._limits.protected_listener:
            self._make_room_for_protected()

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

    def _make_room_for_protected(self) -> None:
        """If there are too many now, who was silent longest on another listener has to go."""
        protected = self._limits.protected_listener
        if len(self._connections) <= self._limits.max_connections:
            return
        doors = self._connections.values()
        others = [door.connection for door in doors if door.connection.listener != protected]
        if others:
            most_silent = min(others, key=lambda connection: connection.active_ms)
            _logger.info("closing %s for a client of %s", most_silent.peer, protected)
            most_silent.close()

    def _has_room(self, listener: str) -> bool:
        # Who waits for its turn to be admitted has its place.
        of_all = len(self._connections) + len(self._resting)
        of_listener = self._per_listener[listener]
        return self._limits.has_room(listener, of_listener=of_listener, of_all=of_all)

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
