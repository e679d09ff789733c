"""A connection's socket: reads into its buffer, sends its answers, files by `sendfile`."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from itertools import islice

from ottla.network.connection import Connection
from ottla.network.memory import RequestMemory
from ottla.network.pieces import FilePiece
from ottla.network.poller import READ, WRITE, Poller
from ottla.network.receiving import ReceiveBuffer
from ottla.network.sockets import Socket

# So that one client with a fast network does not keep the others waiting.
_MOST_SENT_BYTES = 4 * 1024 * 1024
_MOST_JOINED = 256
_MSG_MORE = getattr(socket, "MSG_MORE", 0)


class SocketDoor:
    """What the poller knows by its descriptor."""

    __slots__ = (
        "_interest", "_memory", "_on_shut", "_poller", "_recv_into", "_send",
        "_starves", "connection", "descriptor", "sock",
    )  # fmt: skip

    def __init__(
        self,
        sock: Socket,
        connection: Connection,
        poller: Poller,
        memory: RequestMemory,
        on_shut: Callable[[SocketDoor], None],
    ) -> None:
        self.sock = sock
        self.connection = connection
        self.descriptor = sock.fileno()
        self._poller = poller
        self._memory = memory
        self._on_shut = on_shut
        self._recv_into = sock.recv_into
        self._send = sock.send
        self._interest = READ
        self._starves = False
        connection.send = self.flush
        connection.shut = self._shut
        connection.watch = self._watch
        poller.register(self.descriptor, READ)

    def ready(self, events: int, lent: ReceiveBuffer) -> None:
        connection = self.connection
        if events != READ and not self._is_to_read(events):
            return
        space = connection.space(lent)
        if space is None:
            self._starve()
            return
        try:
            count = self._recv_into(space)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            count = 0  # reset by the client: as good as closed
        if not count:
            connection.close()
            return
        connection.received(count)
        if connection.is_blocked or connection.is_backed_up:
            self._watch()

    def _is_to_read(self, events: int) -> bool:
        if events & WRITE:
            self.flush()
        if not events & READ and events & ~WRITE:
            self.connection.close()  # gone while we did not read; the poller would say it for ever
        return bool(events & READ) and not self.connection.is_closed

    def _starve(self) -> None:
        """Too much memory is in requests that are not complete: wait until some are."""
        self._starves = True
        self._watch()
        self._memory.wait(self.connection, self._feed)

    def _feed(self) -> None:
        self._starves = False
        self._watch()

    def _watch(self) -> None:
        """Tell the poller what we wait for, if that has changed."""
        connection = self.connection
        if connection.is_closed:
            return
        interest = READ if connection.is_hungry and not self._starves else 0
        if connection.outgoing:
            interest |= WRITE
        if interest != self._interest:
            self._interest = interest
            self._poller.modify(self.descriptor, interest)

    def flush(self) -> None:
        """Send what there is, as far as the client takes it."""
        connection = self.connection
        connection.is_sending = False
        if connection.is_closed:
            return
        outgoing = connection.outgoing
        try:
            if len(outgoing) == 1 and type(piece := outgoing[0]) is bytes:
                sent = self._send(piece)
                connection.bytes_out += sent
                if sent == len(piece):
                    outgoing.clear()
                else:
                    outgoing[0] = memoryview(piece)[sent:]
            else:
                self._send_pieces()
        except (BlockingIOError, InterruptedError):
            pass
        except OSError:
            connection.close()
            return
        if outgoing:
            connection.is_backed_up = True
        elif connection.is_backed_up:
            connection.sent_all()
        if outgoing or self._interest != READ:
            self._watch()

    def _send_pieces(self) -> None:
        outgoing, left = self.connection.outgoing, _MOST_SENT_BYTES
        while outgoing and left > 0 and not self.connection.is_closed:
            piece = outgoing[0]
            sent = self._send_file(piece) if isinstance(piece, FilePiece) else self._send_bytes()
            self.connection.bytes_out += sent
            left -= sent

    def _send_file(self, piece: FilePiece) -> int:
        """Up to the limit by itself: what came before it must not leave a last few bytes over."""
        if piece.descriptor >= 0:
            most = min(piece.size_bytes, _MOST_SENT_BYTES)
            sent = os.sendfile(self.descriptor, piece.descriptor, piece.position, most)
        else:
            sent = self._send(piece.read())  # not a file of this machine's
        if not sent:
            raise OSError(f"{piece.size_bytes} bytes were to be sent that the file no longer has")
        piece.advance(sent)
        if not piece.size_bytes:
            self.connection.outgoing.popleft()
            piece.release()
        return sent

    def _send_bytes(self) -> int:
        """All bytes before the next file, in one call."""
        outgoing = self.connection.outgoing
        pieces: list[bytes | memoryview] = []
        flags = 0
        for piece in islice(outgoing, _MOST_JOINED):
            if isinstance(piece, FilePiece):
                flags = _MSG_MORE
                break
            pieces.append(piece)
        data = pieces[0] if len(pieces) == 1 else b"".join(pieces)
        sent = self._send(data, flags)
        for _ in pieces:
            outgoing.popleft()
        if sent < len(data):
            outgoing.appendleft(memoryview(data)[sent:])
        return sent

    def _shut(self) -> None:
        self._poller.unregister(self.descriptor)
        self.sock.close()
        self._on_shut(self)
