"""One client: bytes in, requests out, answers in the order of the requests.

Knows no socket: a door (a socket, the simulated network) fills `space`, says how much it
`received`, and sends what is in `outgoing`.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable
from struct import Struct
from typing import Protocol

from ottla.network.memory import RequestMemory
from ottla.network.pieces import FilePiece, Piece
from ottla.network.receiving import SMALL_BUFFER, Receiving
from ottla.protocol.errors import ProtocolError
from ottla.timing.tick import Tick
from ottla.timing.timer import Timer
from ottla.timing.wheel import Deadline

_logger = logging.getLogger(__name__)
_SIZE = Struct(">i")
_SIZE_AND_KEY = Struct(">ih")
# Of answers that are not a produce's: enough for one send. Who asks for more reads first.
MOST_UNSENT = 64
MOST_UNSENT_BYTES = 1024 * 1024  # without those that lie in files
# How many requests may wait for their answers behind a parked one.
MOST_WAITING = 1000


class Owed(Protocol):
    """A request whose answer is not there yet; an answer of no pieces is none at all."""

    pieces: list[Piece] | None


class Service(Protocol):
    """What a connection hands its requests to."""

    def serve(self, connection: Connection, start: int, end: int) -> bool:
        """Handle the frame in `connection.buffer`; views of it hold until the tick ends.

        Calls `answer` or `owe`. False if it may not overtake those that wait: it is served when
        they are done. ProtocolError closes the connection.
        """


class Shortcut(Protocol):
    """What a service remembers of a connection's last request, to know the next one by it."""

    def serve(self, connection: Connection, start: int, end: int) -> bool:
        """As `Service.serve`; False if the request is another one."""


class Connection(Receiving):
    """What a door and a service share. Counts for `/debug/connections` are kept on the way."""

    __slots__ = (
        "_is_handling", "_max_request_bytes", "_muted", "_service", "_tick", "_unsent_bytes",
        "active_ms", "bytes_in", "bytes_out", "client_id", "is_backed_up", "is_blocked",
        "is_closed", "is_sending", "listener", "number", "on_closed", "on_followed", "outgoing",
        "peer", "requests", "send", "shortcut", "shut", "software", "user", "waiting", "watch",
    )  # fmt: skip

    def __init__(
        self,
        service: Service,
        tick: Tick,
        memory: RequestMemory,
        *,
        number: int,
        listener: str,
        peer: str,
        max_request_bytes: int,
    ) -> None:
        super().__init__(memory)
        self.number = number
        self.listener = listener
        self.peer = peer
        self.user = "ANONYMOUS"  # the principal's name
        self.client_id: str | None = None
        self.software = ("", "")  # name and version, from ApiVersions
        self.requests = 0
        self.bytes_in = 0
        self.bytes_out = 0
        self.active_ms = 0
        self.outgoing: deque[Piece] = deque()
        self.waiting: deque[Owed] = deque()
        self.shortcut: Shortcut | None = None
        self._unsent_bytes = 0  # since all was sent; `answer_with` is for what need not count
        self.is_backed_up = False  # the client does not read its answers
        self.is_closed = False
        self.is_sending = False  # `send` comes at the end of this tick; it sets this back itself
        self.on_closed: list[Callable[[], None]] = []
        # Told the API key of what has come behind a request that blocks: that may end its wait.
        self.on_followed: Callable[[int], None] | None = None
        self.send: Callable[[], None] = _no_door
        self.shut: Callable[[], None] = _no_door
        self.watch: Callable[[], None] = _no_door  # whether it is hungry has changed
        self._service = service
        self._tick = tick
        self._max_request_bytes = max_request_bytes
        self.is_blocked = False  # by a parked request that nothing may overtake, or muted
        self._muted: Deadline | None = None
        self._is_handling = False

    @property
    def is_hungry(self) -> bool:
        """Whether the door should read: there is room, and somebody to use what comes."""
        if self.is_backed_up:
            return False
        if not self.is_blocked:
            return True
        # A buffer that is full of one unfinished frame grows with the next read.
        return self._muted is None and self._end - self._start < len(self.buffer)

    def received(self, count: int) -> None:
        self.bytes_in += count
        self._end = end = self._end + count
        shortcut = self.shortcut
        if (
            shortcut is not None
            and not (self.owns_buffer or self.is_backed_up or self.is_blocked)
            and 4 < count < len(self.buffer)
            and _SIZE.unpack_from(self.buffer)[0] == count - 4
        ):
            # All that most reads bring is one request like the last: as `handle`, without a loop.
            self._start = end
            try:
                if shortcut.serve(self, 4, end):
                    self.requests += 1
                    self._start = self._end = 0
                    return
            except Exception as error:
                self._fail(error)
                return
            self._start = 0
        filled = end == len(self.buffer)
        self.handle()
        if self._end:
            if not self.owns_buffer:
                self._own(SMALL_BUFFER)
        elif filled and not self.is_closed:
            self._grow()

    def handle(self) -> None:
        """Serve every whole frame that may be served now."""
        if self._is_handling:
            return  # the loop below goes on with it
        self._is_handling = True
        serve = self._service.serve
        try:
            while (left := self._end - self._start) >= 4 and not (
                self.is_backed_up
                or (self.is_blocked and not self._is_given_way())
                or self.is_closed
            ):
                start = self._start
                (size,) = _SIZE.unpack_from(self.buffer, start)
                if not 0 <= size <= self._max_request_bytes:
                    raise _wrong_size(size, self._max_request_bytes)
                if size + 4 > left:
                    break
                self._start = end = start + 4 + size
                shortcut = self.shortcut
                if (shortcut is None or not shortcut.serve(self, start + 4, end)) and not serve(
                    self, start + 4, end
                ):
                    self._start = start
                    self.is_blocked = True
                    break
                self.requests += 1
            if self._start == self._end:
                self._start = self._end = 0
                if self._memory.is_short:
                    self.shrink()  # others cannot even read their requests
        except Exception as error:
            self._fail(error)
        finally:
            self._is_handling = False

    def _fail(self, error: Exception) -> None:
        if isinstance(error, ProtocolError):
            _logger.warning("%s sent a bad request: %s; closing", self.peer, error)
        else:
            _logger.error("a request of %s failed; closing", self.peer, exc_info=error)
        self.close()

    def _is_given_way(self) -> bool:
        """Whether what blocks has ended its wait for the sake of the request behind it."""
        if self.on_followed is None or self._end - self._start < _SIZE_AND_KEY.size:
            return False
        _, key = _SIZE_AND_KEY.unpack_from(self.buffer, self._start)
        self.on_followed(key)
        return not self.is_blocked

    def answer(self, pieces: list[Piece]) -> None:
        """The answer to the request that is being served, now that nothing waits before it."""
        self._line_up(pieces)
        if len(self.outgoing) > MOST_UNSENT:
            self.is_backed_up = True
        self.send_soon()

    def _line_up(self, pieces: list[Piece]) -> None:
        """If it is much, the send that follows goes on with the rest."""
        if not self.outgoing:
            self._unsent_bytes = 0
        self.outgoing.extend(pieces)
        for piece in pieces:
            if type(piece) is not FilePiece:
                self._unsent_bytes += len(piece)
        if self._unsent_bytes > MOST_UNSENT_BYTES:
            self.is_backed_up = True

    def answer_with(self, piece: bytes) -> None:
        """As `answer`, for the one piece that nearly every answer is."""
        self.outgoing.append(piece)
        if not self.is_sending:
            self.is_sending = True
            self._tick.send(self.send)

    def send_soon(self) -> None:
        if not self.is_sending:
            self.is_sending = True
            self._tick.send(self.send)

    def owe(self, request: Owed, *, blocks: bool) -> None:
        """The answer comes later, by `settle`. What blocks lets no later request overtake it."""
        self.waiting.append(request)
        self.is_blocked = blocks or len(self.waiting) >= MOST_WAITING

    def settle(self) -> None:
        """Some request that was owed its answer has it now."""
        waiting = self.waiting
        if self.is_closed or not waiting:
            return
        while waiting and (pieces := waiting[0].pieces) is not None:
            waiting.popleft()
            self._line_up(pieces)
        self.send_soon()
        if not waiting and self.is_blocked:
            self._unblock()

    def settle_with(self, piece: bytes) -> None:
        """As `settle`, of the only one that is owed an answer, with the one piece it is."""
        if self.is_closed:
            return
        assert len(self.waiting) == 1, f"{len(self.waiting)} requests wait"
        self.waiting.clear()
        self.answer_with(piece)
        if self.is_blocked:
            self._unblock()

    def _unblock(self) -> None:
        if self._muted is None:
            self.is_blocked = False
            if self._end:
                self.handle()

    @property
    def is_muted(self) -> bool:
        return self._muted is not None

    def mute(self, timer: Timer, duration_ms: int) -> None:
        """Serve and read nothing for a while (KIP-219). A longer time takes a shorter one's place.

        To be called before the answer that says so: with it the next request would be served.
        """
        if self.is_closed:
            return
        muted, self._muted = self._muted, timer.call_after(duration_ms, self._unmute)
        if muted is not None:
            if muted.due_ms > self._muted.due_ms:
                muted, self._muted = self._muted, muted
            muted.cancel()
        self.is_blocked = True
        self.watch()

    def _unmute(self) -> None:
        self._muted = None
        if not self.waiting:
            self._unblock()
        self.watch()

    def sent_all(self) -> None:
        """The client reads again."""
        self.is_backed_up = False
        self._unsent_bytes = 0
        self.handle()

    def close(self) -> None:
        """For ever, with whatever it still owed or was owed."""
        if self.is_closed:
            return
        self.is_closed = True
        for piece in self.outgoing:
            if isinstance(piece, FilePiece):
                piece.release()
        self.outgoing.clear()
        self.waiting.clear()
        self._leave()
        self.shortcut = None
        if self._muted is not None:
            self._muted.cancel()
        self.on_followed = None
        callbacks, self.on_closed = self.on_closed, []
        for callback in callbacks:
            callback()
        self.shut()


def _wrong_size(size: int, most: int) -> ProtocolError:
    cause = f"the size {size} is not between 0 and {most}"
    return ProtocolError(cause, reading="frame", path="size", offset=0)


def _no_door() -> None:
    """Until a door is there."""
