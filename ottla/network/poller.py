"""Which sockets are ready, asked of the kernel once for all of them.

asyncio watches the one descriptor of the poller; a round of ready sockets then costs one callback,
whatever their number. Linux's epoll, or what `selectors` has elsewhere.
"""

from __future__ import annotations

import select
import selectors
from typing import Protocol

READ = 1  # as EPOLLIN
WRITE = 4  # as EPOLLOUT
MOST_EVENTS = 128  # of one round: more, and what was read is out of the cache when it is answered
Events = list[tuple[int, int]]  # descriptors, and what they are ready for


class Poller(Protocol):
    """Level-triggered: what is not dealt with is ready again in the next round."""

    def fileno(self) -> int: ...

    def register(self, descriptor: int, interest: int) -> None: ...

    def modify(self, descriptor: int, interest: int) -> None: ...

    def unregister(self, descriptor: int) -> None: ...

    def poll(self, timeout: float = ..., maxevents: int = ...) -> Events: ...

    def close(self) -> None: ...


class _Selector:
    """The same over kqueue and others; with no interest at all a socket is left out."""

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()

    def fileno(self) -> int:
        return self._selector.fileno()

    def register(self, descriptor: int, interest: int) -> None:
        events = _events(interest)
        if events:
            self._selector.register(descriptor, events)

    def modify(self, descriptor: int, interest: int) -> None:
        self.unregister(descriptor)
        self.register(descriptor, interest)

    def unregister(self, descriptor: int) -> None:
        if descriptor in self._selector.get_map():
            self._selector.unregister(descriptor)

    def poll(self, timeout: float = 0, maxevents: int = -1) -> Events:
        found = self._selector.select(timeout)
        return [(key.fd, _interest(events)) for key, events in found]

    def close(self) -> None:
        self._selector.close()


def _events(interest: int) -> int:
    read = selectors.EVENT_READ if interest & READ else 0
    return read | (selectors.EVENT_WRITE if interest & WRITE else 0)


def _interest(events: int) -> int:
    read = READ if events & selectors.EVENT_READ else 0
    return read | (WRITE if events & selectors.EVENT_WRITE else 0)


def new_poller() -> Poller:
    return select.epoll() if hasattr(select, "epoll") else _Selector()
