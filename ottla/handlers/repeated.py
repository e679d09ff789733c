"""A request that waits for its answer, of those that are known by the request before them."""

from __future__ import annotations

from struct import Struct

from ottla.network.connection import Connection
from ottla.network.pieces import Piece

HEAD_BYTES = 8  # key, version, correlation id
KEY_AND_VERSION = Struct(">hh")
CORRELATION_ID = Struct(">i")


class Repeated:
    """Only its correlation id is not known yet."""

    __slots__ = ("connection", "correlation_id", "pieces")

    def __init__(self, connection: Connection, start: int) -> None:
        self.connection = connection
        self.correlation_id: int = CORRELATION_ID.unpack_from(connection.buffer, start + 4)[0]
        self.pieces: list[Piece] | None = None

    def reply_as(self, answer: bytes) -> None:
        """An answer as it went over the wire before, to another request."""
        self.reply(answer[:4] + CORRELATION_ID.pack(self.correlation_id) + answer[8:])

    def reply(self, answer: bytes) -> None:
        if not self.connection.is_closed:
            self.pieces = [answer]
            self.connection.settle()

    def served(self) -> None:
        """It was handled: it is answered by now, or will be."""
        if self.pieces is None:
            self.connection.owe(self, blocks=True)
        else:
            self.connection.answer(self.pieces)
