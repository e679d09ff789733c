"""A hierarchical timing wheel: setting and cancelling a deadline costs the same however many wait.

The first level has 20 buckets of 1 ms, each further one 20 buckets as long as the whole level
before it. A bucket falls due at the start of its span; its deadlines are then filed anew, further
down, so only the first level decides that one is due and none is early.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from heapq import heappop, heappush

BUCKETS = 20
NOT_BUSY = -1


class Deadline:
    """What to call and when; it is compared by identity."""

    __slots__ = ("callback", "due_ms", "place")

    def __init__(self, due_ms: int, callback: Callable[[], object]) -> None:
        self.due_ms = due_ms
        self.callback = callback
        self.place: dict[Deadline, None] | None = None  # the wheel's business

    def cancel(self) -> None:
        """It is never called from now on; too late or twice does no harm."""
        if self.place is not None:
            del self.place[self]
            self.place = None


class Bucket:
    __slots__ = ("deadlines", "start_ms")

    def __init__(self) -> None:
        self.start_ms = NOT_BUSY
        self.deadlines: dict[Deadline, None] = {}  # in order, and a cancelled one leaves at once


class Level:
    __slots__ = ("buckets", "span_ms", "tick_ms")

    def __init__(self, tick_ms: int) -> None:
        self.tick_ms = tick_ms
        self.span_ms = tick_ms * BUCKETS
        self.buckets = [Bucket() for _ in range(BUCKETS)]


class Wheel:
    """Its time is never past the start of a busy bucket, so a bucket holds one span at a time."""

    def __init__(self, now_ms: int) -> None:
        self._now_ms = now_ms
        self._levels = [Level(1)]
        # One heap for all levels instead of a hand that ticks: an idle hour costs nothing. Where
        # starts are equal the coarser bucket comes first: what is in it was set earlier.
        self._busy: list[tuple[int, int, Bucket]] = []
        self._due: OrderedDict[Deadline, None] = OrderedDict()

    @property
    def size(self) -> int:
        """Counted when asked, so that setting and cancelling need not."""
        levels = sum(len(bucket.deadlines) for level in self._levels for bucket in level.buckets)
        return levels + len(self._due)

    def add(self, deadline: Deadline, *, now_ms: int) -> int:
        """Files the deadline; returns the time at which the wheel wants to be turned for it."""
        busy = self._busy
        if now_ms > self._now_ms and (not busy or busy[0][0] > now_ms):
            self._now_ms = now_ms
        return self._file(deadline)

    def turn(self, now_ms: int) -> None:
        """Moves to `now_ms`; what is due by then waits for `pop_due`."""
        while self._busy and self._busy[0][0] <= now_ms:
            start_ms, _, bucket = heappop(self._busy)
            self._now_ms = start_ms
            deadlines, bucket.deadlines, bucket.start_ms = bucket.deadlines, {}, NOT_BUSY
            for deadline in deadlines:
                self._file(deadline)
        self._now_ms = max(self._now_ms, now_ms)

    def pop_due(self) -> Deadline | None:
        """The next that is due; until it is taken it can be cancelled."""
        if not self._due:
            return None
        deadline = next(iter(self._due))
        deadline.cancel()
        return deadline

    def next_ms(self) -> int | None:
        """When to turn next; None if nothing waits."""
        if self._due:
            return self._now_ms
        while self._busy and not self._busy[0][2].deadlines:
            # All in it were cancelled: nobody need wake up for it.
            heappop(self._busy)[2].start_ms = NOT_BUSY
        return self._busy[0][0] if self._busy else None

    def describe(self) -> dict[str, object]:
        """For people who debug: what waits on which level."""
        return {
            "pending": self.size,
            "due": len(self._due),
            "busy_buckets": len(self._busy),
            "levels": [
                {
                    "tick_ms": level.tick_ms,
                    "busy_buckets": sum(b.start_ms != NOT_BUSY for b in level.buckets),
                    "pending": sum(len(b.deadlines) for b in level.buckets),
                }
                for level in self._levels
            ],
        }

    def _file(self, deadline: Deadline) -> int:
        due_ms, now_ms = deadline.due_ms, self._now_ms
        delay_ms = due_ms - now_ms
        if delay_ms <= 0:
            self._due[deadline] = None
            deadline.place = self._due
            return now_ms
        for level in self._levels:
            if delay_ms < level.span_ms:
                tick_ms = level.tick_ms
                tick = due_ms // tick_ms
                # A level shows whole ticks: within the one that is running it ends a bit sooner.
                if tick - now_ms // tick_ms < BUCKETS:
                    break
        else:
            self._levels.append(Level(level.span_ms))
            return self._file(deadline)
        bucket = level.buckets[tick % BUCKETS]
        bucket.deadlines[deadline] = None
        deadline.place = bucket.deadlines
        start_ms = tick * tick_ms
        if bucket.start_ms != start_ms:
            # Once a round, however often deadlines come and go: the heap is never longer than
            # there are buckets.
            assert bucket.start_ms == NOT_BUSY, f"{bucket.start_ms} was passed over"
            bucket.start_ms = start_ms
            heappush(self._busy, (start_ms, -tick_ms, bucket))
        return start_ms
