"""Where a request waits for data, acks or its deadline: an object on a list, not a task."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Sequence
from functools import partial
from typing import Protocol

from ottla.timing.timer import Timer
from ottla.timing.wheel import Deadline

_LARGEST_SHOWN = 20


class Delayed(Protocol):
    """What waits. Whoever answers it sets `completed`, once."""

    completed: bool

    def try_complete(self) -> bool:
        """Answers if it can; True if it is completed now. May be asked any number of times."""
        ...

    def expire(self) -> None:
        """The deadline has come: answers with what there is."""
        ...


class _Waiter:
    """One parked operation, on the lists of all its keys; without operation it is finished."""

    __slots__ = ("deadline", "operation", "watches")

    def __init__(self, operation: Delayed, watches: int) -> None:
        self.operation: Delayed | None = operation
        self.watches = watches
        self.deadline: Deadline | None = None


class Purgatory:
    def __init__(self, name: str, timer: Timer, *, purge_interval: int = 1000) -> None:
        self.name = name
        self._timer = timer
        self.purge_interval = purge_interval
        self._watchers: dict[Hashable, list[_Waiter]] = {}
        self._waiting: dict[_Waiter, None] = {}  # in the order they were parked
        self._changed: deque[Hashable] = deque()
        self._is_checking = False
        self._finished = 0  # entries on lists of operations that wait no more
        self.watched = 0  # PurgatorySize: an operation counts once for each of its keys

    @property
    def delayed(self) -> int:
        """NumDelayedOperations: how many wait."""
        return len(self._waiting)

    def park(self, operation: Delayed, *, watch: Sequence[Hashable], timeout_ms: int) -> bool:
        """Answers now if it can, else when a watched key changes, else at the deadline.

        True if it is completed when this returns.
        """
        is_outermost, self._is_checking = not self._is_checking, True
        try:
            if operation.try_complete():
                return True
            # Kafka checks again after this. Here nothing else ran since the check, and what the
            # check itself changed is taken up below: no change can slip by unseen.
            self._watch(operation, watch, timeout_ms)
        finally:
            if is_outermost:
                self._is_checking = False
                self._check_changed()
        # Kafka guesses at the number of the finished and sweeps all lists for every thousand of
        # them. We know it, and wait until half is finished: one sweep then pays for itself even
        # among many that wait on a thousand partitions each.
        if self._finished > max(self.purge_interval, self.watched // 2):
            self._purge()
        return operation.completed

    def recheck(self, key: Hashable) -> int:
        """Something happened to `key`: those who wait for it try again. How many completed.

        From inside a try_complete nothing is tried until that is done: none is entered twice, and
        one that was tried before the change is tried again.
        """
        if self._is_checking:
            self._changed.append(key)
            return 0
        if key in self._watchers:
            self._changed.append(key)
        return self._check_changed() if self._changed else 0

    def cancel(self, key: Hashable) -> list[Delayed]:
        """Forgets those who wait for `key`, whatever else they wait for; they are not completed."""
        waiters = self._watchers.pop(key, [])
        forgotten = [self._finish(waiter) for waiter in waiters if waiter.operation is not None]
        self._dropped(len(waiters))
        return [operation for operation in forgotten if not operation.completed]

    def drain(self) -> list[Delayed]:
        """At shutdown: forgets all that wait, and returns them in the order they came."""
        forgotten = [self._finish(waiter) for waiter in list(self._waiting)]
        self._purge()
        return [operation for operation in forgotten if not operation.completed]

    def waiting_for(self, key: Hashable) -> list[Delayed]:
        """For people who debug: those who wait for `key`, in the order they came."""
        waiters = self._watchers.get(key, ())
        return [waiter.operation for waiter in waiters if waiter.operation is not None]

    def describe(self) -> dict[str, object]:
        """For people who debug: how many wait, and for which keys most."""
        sizes = sorted(self._watchers.items(), key=lambda item: len(item[1]), reverse=True)
        return {
            "name": self.name,
            "delayed": self.delayed,
            "watched": self.watched,
            "finished": self._finished,
            "keys": len(sizes),
            "largest": [
                {"key": str(key), "watchers": len(waiters)}
                for key, waiters in sizes[:_LARGEST_SHOWN]
            ],
        }

    def _watch(self, operation: Delayed, watch: Sequence[Hashable], timeout_ms: int) -> None:
        waiter = _Waiter(operation, len(watch))
        for key in watch:
            self._watchers.setdefault(key, []).append(waiter)
        self._waiting[waiter] = None
        self.watched += len(watch)
        waiter.deadline = self._timer.call_after(timeout_ms, partial(self._expire, waiter))

    def _expire(self, waiter: _Waiter) -> None:
        operation = self._finish(waiter)
        if not operation.completed:
            operation.expire()

    def _check_changed(self) -> int:
        completed = 0
        while self._changed:
            completed += self._check(self._changed.popleft())
        return completed

    def _check(self, key: Hashable) -> int:
        """Also if one raises, the others go on waiting and the next check is like any other."""
        completed = 0
        self._is_checking = True
        try:
            # A copy: a try_complete may park, cancel or purge, and so change the list.
            for waiter in self._watchers.get(key, ())[:]:
                operation = waiter.operation
                if operation is None:
                    continue
                # One that was answered elsewhere is not ours to count.
                if not operation.completed and operation.try_complete():
                    completed += 1
                if operation.completed and waiter.operation is not None:
                    self._finish(waiter)
        finally:
            self._is_checking = False
            self._drop_finished(key)
        return completed

    def _finish(self, waiter: _Waiter) -> Delayed:
        """It waits no more. On the lists of other keys only the empty waiter stays, till purged."""
        operation, deadline = waiter.operation, waiter.deadline
        assert operation is not None, "finished twice"
        assert deadline is not None
        deadline.cancel()
        # Also breaks the circle of waiter, deadline and callback, for which gc would have to come.
        waiter.operation = waiter.deadline = None
        del self._waiting[waiter]
        self._finished += waiter.watches
        return operation

    def _drop_finished(self, key: Hashable) -> None:
        waiters = self._watchers.get(key)
        if waiters is None:
            return
        waiting = [waiter for waiter in waiters if waiter.operation is not None]
        self._dropped(len(waiters) - len(waiting))
        if waiting:
            self._watchers[key] = waiting
        else:
            del self._watchers[key]

    def _dropped(self, entries: int) -> None:
        self.watched -= entries
        self._finished -= entries

    def _purge(self) -> None:
        for key in list(self._watchers):
            self._drop_finished(key)
        assert self._finished == 0, f"{self._finished} finished entries are on no list"
