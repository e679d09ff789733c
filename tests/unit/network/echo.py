"""A service that does what a frame tells it, and a connection to it without a socket."""

from __future__ import annotations

from collections.abc import Callable
from struct import pack

from ottla.network.connection import Connection
from ottla.network.memory import RequestMemory
from ottla.network.pieces import FilePiece, Piece
from ottla.network.receiving import ReceiveBuffer
from ottla.protocol.errors import ProtocolError
from ottla.timing.tick import Tick


def frame(body: bytes) -> bytes:
    return pack(">i", len(body)) + body


class Owed:
    def __init__(self, body: bytes) -> None:
        self.body = body
        self.pieces: list[Piece] | None = None


class Echo:
    """`park:` waits and blocks, `produce:` waits and does not, `bad:` breaks the protocol, `bug:`
    us; all else is answered at once with itself, if nothing waits. A produce overtakes produces."""

    def __init__(self) -> None:
        self.served: list[bytes] = []
        self.parked: list[Owed] = []
        self.views: list[memoryview] = []

    def serve(self, connection: Connection, start: int, end: int) -> bool:
        body = bytes(connection.view[start:end])
        kind = body.partition(b":")[0]
        if connection.waiting and kind != b"produce":
            return False
        self.served.append(body)
        if kind == b"bad":
            raise ProtocolError("no such thing", reading="test")
        if kind == b"bug":
            raise ZeroDivisionError
        if kind in (b"park", b"produce"):
            owed = Owed(body)
            self.parked.append(owed)
            connection.owe(owed, blocks=kind == b"park")
        else:
            connection.answer([frame(body)])
        return True


class Known:
    """A shortcut that leaves all but one request to the service."""

    def __init__(self, service: Echo, body: bytes) -> None:
        self.served = 0
        self._service = service
        self._body = body

    def serve(self, connection: Connection, start: int, end: int) -> bool:
        if connection.view[start:end] != self._body or connection.waiting:
            return False
        self.served += 1
        return self._service.serve(connection, start, end)


class Wire:
    """The other end: puts bytes in, and collects what comes out."""

    def __init__(self, *, memory: RequestMemory | None = None, most: int = 10_000_000) -> None:
        self.loop: list[Callable[[], None]] = []
        self.tick = Tick(self.loop.append)
        self.memory = memory or RequestMemory()
        self.service = Echo()
        self.connection = Connection(
            self.service,
            self.tick,
            self.memory,
            number=1,
            listener="PLAINTEXT",
            peer="here:1",
            max_request_bytes=most,
        )
        self.reads = True
        self.sends = 0
        self.out = bytearray()
        self.shut = 0
        self.connection.send = self._send
        self.connection.shut = self._shut

    def _shut(self) -> None:
        self.shut += 1

    def _send(self) -> None:
        connection = self.connection
        connection.is_sending = False
        if connection.is_closed:
            return
        self.sends += 1
        if not self.reads:
            connection.is_backed_up = True
            return
        while connection.outgoing:
            piece = connection.outgoing.popleft()
            self.out += piece.read() if isinstance(piece, FilePiece) else piece
        if connection.is_backed_up:
            connection.sent_all()

    def put(self, data: bytes, lent: ReceiveBuffer | None = None) -> bytes:
        """What is left of it when there is no memory for more."""
        while data and not self.connection.is_closed:
            space = self.connection.space(lent)
            if space is None:
                self.memory.wait(self.connection, lambda: None)
                return data
            count = min(len(space), len(data))
            space[:count] = data[:count]
            data = data[count:]
            self.tick.begin()
            self.connection.received(count)
            self.tick.end()
        return b""

    def settle(self, number: int) -> None:
        owed = self.service.parked[number]
        owed.pieces = [frame(owed.body)]
        self.connection.settle()
        self.tick.end()

    def answers(self) -> list[bytes]:
        found, data = [], bytes(self.out)
        while data:
            size = int.from_bytes(data[:4], "big")
            found.append(data[4 : 4 + size])
            data = data[4 + size :]
        return found


def fill(wire: Wire, data: bytes) -> None:
    """As a socket does of which more is there than a read takes."""
    while data:
        space = wire.connection.space()
        assert space is not None
        count = min(len(space), len(data))
        wire.put(data[:count])
        data = data[count:]
