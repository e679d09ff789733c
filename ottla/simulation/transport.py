"""A client's end of a simulated connection, for asyncio protocols such as our own client."""

from __future__ import annotations

import asyncio
from typing import Any

from ottla.simulation.pipe import Pipe


class SimulatedTransport(asyncio.Transport):
    """Keeps what finds no room, as asyncio's own does; reads unless it is told to pause."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        protocol: asyncio.Protocol,
        *,
        inbound: Pipe,
        outbound: Pipe,
    ) -> None:
        super().__init__()
        self._loop = loop
        self._protocol = protocol
        self._inbound = inbound
        self._outbound = outbound
        self._unsent = bytearray()
        self._is_closing = False
        self._is_lost = False
        self._is_paused = False
        inbound.on_news = self._read
        outbound.on_room = self._send
        protocol.connection_made(self)

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return self._outbound.name.split()[0] if name == "sockname" else default

    def is_closing(self) -> bool:
        return self._is_closing

    def is_reading(self) -> bool:
        return not self._is_paused

    def pause_reading(self) -> None:
        self._is_paused = True

    def resume_reading(self) -> None:
        self._is_paused = False
        self._loop.call_soon(self._read)

    def get_write_buffer_size(self) -> int:
        return len(self._unsent)

    def write(self, data: bytes | bytearray | memoryview) -> None:
        if not self._is_closing:
            self._unsent += data
            self._send()

    def _send(self) -> None:
        if self._unsent:
            del self._unsent[: self._outbound.send(memoryview(bytes(self._unsent)))]
        if self._is_closing and not self._unsent and not self._is_lost:
            self._outbound.end()
            self._lose(None)

    def _read(self) -> None:
        if self._is_lost or self._is_paused:
            return
        if self._inbound.is_broken:
            self._lose(ConnectionResetError("the connection was reset"))
        elif self._inbound.arrived:
            self._protocol.data_received(self._inbound.receive(len(self._inbound.arrived)))
        if self._inbound.is_ended and not self._inbound.arrived and not self._is_lost:
            self._protocol.eof_received()
            self.close()

    def close(self) -> None:
        """After what was written; what comes in is still read."""
        if not self._is_closing:
            self._is_closing = True
            self._send()

    def abort(self) -> None:
        """At once, by a reset."""
        self._is_closing = True
        if not self._is_lost:
            self._unsent.clear()
            self._outbound.break_off()
            self._lose(None)

    def _lose(self, error: Exception | None) -> None:
        self._is_lost = self._is_closing = True
        self._loop.call_soon(self._protocol.connection_lost, error)
