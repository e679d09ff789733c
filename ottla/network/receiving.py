"""Where a client's bytes lie until they are handled: in a buffer that is lent for one tick, or in
one of its own, which grows as far as its frames and the memory for requests allow.
"""

from __future__ import annotations

from struct import Struct
from typing import NamedTuple

from ottla.network.memory import RequestMemory

_SIZE = Struct(">i")
SMALL_BUFFER = 16 * 1024
# What one read takes at most of a busy client. Frames that are larger get the buffer they need.
LARGE_BUFFER = 256 * 1024
# But not two of them, if they are larger than this together.
MOST_READ = 4 * 1024 * 1024


class ReceiveBuffer(NamedTuple):
    """Lent to a connection for one tick: most have nothing left in it when they were served."""

    bytes: bytearray
    view: memoryview

    @classmethod
    def of(cls, size_bytes: int) -> ReceiveBuffer:
        made = bytearray(size_bytes)
        return cls(made, memoryview(made))


_NO_BUFFER = ReceiveBuffer.of(0)


class Receiving:
    """The half of a connection that a door fills.

    The other half inherits from it, takes the bytes from `_start` to `_end` and moves both: asked
    of another object, they would cost each request some more lookups.
    """

    __slots__ = ("_end", "_memory", "_reserved", "_start", "buffer", "owns_buffer", "view")

    def __init__(self, memory: RequestMemory) -> None:
        self.buffer, self.view = _NO_BUFFER
        self._memory = memory
        self._start = 0  # the first byte of the buffer that is not handled
        self._end = 0  # one past the last that was received
        self._reserved = 0  # bytes, beyond the small buffer that each may have
        self.owns_buffer = False

    def space(self, lent: ReceiveBuffer | None = None) -> memoryview | None:
        """Where to put what comes next; None while there is no memory for it.

        Only between ticks: what was appended must be written before its bytes move.
        """
        if not self.owns_buffer:
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

    def shrink(self) -> None:
        """Give back a buffer that nobody uses any more."""
        if not self._end and self.owns_buffer:
            self.buffer, self.view = _NO_BUFFER
            self.owns_buffer = False
            self._release()

    def _grow(self) -> None:
        """More was there than fitted: next time take more at once."""
        capacity = len(self.buffer)
        if 0 < capacity < LARGE_BUFFER:  # it may have been given back: others have too little
            larger = min(capacity * 4, LARGE_BUFFER)
            if self._reserve(larger):
                self._own(larger)

    def _leave(self) -> None:
        """For ever."""
        self._memory.leave(self, self._reserved)
        self._reserved = 0
        # A parked request may refer to us long after. Whoever serves us just now finds it empty.
        self.buffer, self.view = _NO_BUFFER
        self.owns_buffer = False
        self._start = self._end = 0

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
        self.owns_buffer = True

    def _move(self) -> None:
        """To the beginning."""
        length = self._end - self._start
        self.view[:length] = self.view[self._start : self._end]
        self._start, self._end = 0, length
