"""What a server needs of the operating system's network. The simulation has another one."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from typing import Any, Protocol

from ottla.network.poller import MOST_EVENTS, Events, Poller, new_poller
from ottla.network.selector import ServingSelector


class Socket(Protocol):
    """One end of a connection that never blocks: BlockingIOError if there is nothing to do."""

    def fileno(self) -> int: ...

    def recv_into(self, buffer: memoryview, /) -> int: ...

    def send(self, data: bytes | memoryview, flags: int = ..., /) -> int: ...

    def setblocking(self, flag: bool, /) -> None: ...

    def setsockopt(self, level: int, option: int, value: int, /) -> None: ...

    def close(self) -> None: ...


class Listener(Protocol):
    def fileno(self) -> int: ...

    def accept(self) -> tuple[Socket, Any]:
        """The next client that waits, and its host and port."""

    def getsockname(self) -> Any: ...

    def close(self) -> None: ...


class Sockets(Protocol):
    def listen(
        self, host: str, port: int, *, backlog: int, receive_buffer_bytes: int
    ) -> Listener: ...

    async def resolve(self, host: str) -> list[str]:
        """The addresses of a name; OSError if there are none."""

    def new_poller(
        self, loop: asyncio.AbstractEventLoop, on_ready: Callable[[Events], None]
    ) -> Poller:
        """`on_ready` is called by the loop with what is ready, as long as something is."""

    def close_poller(self, loop: asyncio.AbstractEventLoop, poller: Poller) -> None: ...


class SystemSockets:
    """The machine's own. With a `selector` the loop waits in the poller itself."""

    def __init__(self, selector: ServingSelector | None = None) -> None:
        self._selector = selector

    def listen(self, host: str, port: int, *, backlog: int, receive_buffer_bytes: int) -> Listener:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        if not host and socket.has_dualstack_ipv6():
            sock = socket.create_server(
                ("", port), family=socket.AF_INET6, backlog=backlog, dualstack_ipv6=True
            )
        else:
            sock = socket.create_server((host, port), family=family, backlog=backlog)
        sock.setblocking(False)
        if receive_buffer_bytes > 0:  # before a connection is made, or it is too late
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer_bytes)
        return sock

    async def resolve(self, host: str) -> list[str]:
        loop = asyncio.get_running_loop()
        found = await loop.getaddrinfo(host, None, type=socket.SOCK_STREAM)
        return [str(address[0]) for *_, address in found]

    def new_poller(
        self, loop: asyncio.AbstractEventLoop, on_ready: Callable[[Events], None]
    ) -> Poller:
        poller = new_poller()
        if self._selector is not None:
            self._selector.serve(poller, on_ready)
        else:
            loop.add_reader(poller.fileno(), lambda: on_ready(poller.poll(0, MOST_EVENTS)))
        return poller

    def close_poller(self, loop: asyncio.AbstractEventLoop, poller: Poller) -> None:
        if self._selector is not None:
            self._selector.leave()
        else:
            loop.remove_reader(poller.fileno())
        poller.close()
