"""One client: bytes in, requests out, answers in the order of the requests.

Knows no socket: a door (a socket, the simulated network) fills `space`, says how much it
`received`, and sends what is in `outgoing`.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable
from struct import Struct
from typing import NamedTuple, Protocol

from ottla.network.memory import RequestMemory
from ottla.network.pieces import FilePiece, Piece
from ottla.protocol.errors import ProtocolError
from ottla.timing.tick import Tick
from ottla.timing.timer import Timer
from ottla.timing.wheel import Deadline

_logger = logging.getLogger(__name__)
_SIZE = Struct(">i")
_SIZE_AND_KEY = Struct(">ih")
SMALL_BUFFER = 16 * 1024
# What one read takes at most of a busy client. Frames that are larger get the buffer they need.
LARGE_BUFFER = 256 * 1024
# But not two of them, if they are larger than this together.
MOST_READ = 4 * 1024 * 1024
# Of answers that are not a produce's: enough for one send. Who asks for more reads first.
MOST_UNSENT = 64
MOST_UNSENT_BYTES = 1024 * 1024  # without those that lie in files
# How many requests may wait for their answers behind a parked one.
MOST_WAITING = 1000


class ReceiveBuffer(NamedTuple):
    """Lent to a connection for one tick: most have nothing left in it when they were served."""

    bytes: bytearray
    view: memoryview

    @classmethod
    def of(cls, size_bytes: int) -> ReceiveBuffer:
        made = bytearray(size_bytes)
        return cls(made, memoryview(made))


_NO_BUFFER = ReceiveBuffer.of(0)


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


class Connection:
    """What a door and a service share. Counts for `/debug/connections` are kept on the way."""

    __slots__ = (
        "_end", "_is_handling", "_max_request_bytes", "_memory", "_muted", "_owns_buffer",
        "_reserved", "_service", "_start", "_tick", "_unsent_bytes", "active_ms", "buffer",
        "bytes_in", "bytes_out", "client_id", "is_backed_up", "is_blocked", "is_closed",
        "is_sending", "listener", "number", "on_closed", "on_followed", "outgoing", "peer",
        "requests", "send", "shortcut", "shut", "software", "user", "view", "waiting", "watch",
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
        self.buffer, self.view = _NO_BUFFER
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
        self._memory = memory
        self._max_request_bytes = max_request_bytes
        self._start = 0  # the first byte of the buffer that is not handled
        self._end = 0  # one past the last that was received
        self._reserved = 0  # bytes, beyond the small buffer that each may have
        self._owns_buffer = False
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

    def space(self, lent: ReceiveBuffer | None = None) -> memoryview | None:
        """Where to put what comes next; None while there is no memory for it.

        Only between ticks: what was appended must be written before its bytes move.
        """
        if not self._owns_buffer:
            if lent is None:
                self._own(SMALL_BUFFER)
            else:
                self.buffer, self.view = lent
            return self.view
        if not self._end:
            return self.view
        if self._end == len(self.buffer) and not self._make_room():
            return None
        return self.view[self._end :]

    def _make_room(self) -> bool:
        """The last read filled the buffer: take more at once the next time, if there is memory.

        Step by step, as bytes really come: a client may announce more than it sends. But a frame
        is reserved at once: of two that had a part, neither would get the rest.
        """
        capacity, frame_bytes = len(self.buffer), self._frame_bytes()
        wanted = max(frame_bytes, min(capacity * 4, LARGE_BUFFER))
        if self._start:
            # Behind a whole frame there was more. A megabyte drives our code out of the cache: two
            # frames in one read, one write and one send find it there more often.
            wanted = max(wanted, min(self._frame_bytes(2), MOST_READ))
        if not self._reserve(wanted):
            wanted = frame_bytes if self._reserve(frame_bytes, is_needed=True) else 0
        if wanted > capacity:
            self._own(min(capacity * 4, wanted))
        elif self._start:
            self._move()
        return self._end < len(self.buffer)

    def _reserve(self, size_bytes: int, *, is_needed: bool = False) -> bool:
        """The right to a buffer of this size."""
        more = size_bytes - SMALL_BUFFER - self._reserved
        if more > 0:
            if not self._memory.take(self, more, is_needed=is_needed):
                return False
            self._reserved += more
        return True

    def _release(self) -> None:
        reserved, self._reserved = self._reserved, 0
        self._memory.give(self, reserved)

    def _frame_bytes(self, count: int = 1) -> int:
        """Of so many like the one that has begun."""
        if self._end - self._start < _SIZE.size:
            return 0
        size: int = _SIZE.unpack_from(self.buffer, self._start)[0]
        # The next one may be a little larger. What fits of it moves to the front: not too much.
        return count * (size + _SIZE.size) + size // 16

    def _own(self, size_bytes: int) -> None:
        """A buffer of our own, with what is left in the other one."""
        left = self.view[self._start : self._end]
        self.buffer, self.view = ReceiveBuffer.of(size_bytes)
        self.view[: len(left)] = left
        self._start, self._end = 0, len(left)
        self._owns_buffer = True

    def _move(self) -> None:
        """To the beginning."""
        length = self._end - self._start
        self.view[:length] = self.view[self._start : self._end]
        self._start, self._end = 0, length

    def shrink(self) -> None:
        """Give back a buffer that nobody uses any more."""
        if not self._end and self._owns_buffer:
            self.buffer, self.view = _NO_BUFFER
            self._owns_buffer = False
            self._release()

    def received(self, count: int) -> None:
        self.bytes_in += count
        self._end = end = self._end + count
        shortcut = self.shortcut
        if (
            shortcut is not None
            and not (self._owns_buffer or self.is_backed_up or self.is_blocked)
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
            if not self._owns_buffer:
                self._own(SMALL_BUFFER)
        elif filled and len(self.buffer) < LARGE_BUFFER and not self.is_closed:
            # More was there than fitted: next time take more at once.
            larger = min(len(self.buffer) * 4, LARGE_BUFFER)
            if self._reserve(larger):
                self._own(larger)

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
        self._memory.leave(self, self._reserved)
        self._reserved = 0
        # A parked request may refer to us long after. Whoever serves us just now finds it empty.
        self.buffer, self.view = _NO_BUFFER
        self._owns_buffer = False
        self._start = self._end = 0
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
