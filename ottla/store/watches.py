"""Who is to be told of which change, for stores that live in this process."""

from __future__ import annotations

from asyncio import AbstractEventLoop
from collections.abc import Callable

from ottla.store.tree import Changed

_Watchers = dict[str, dict["LocalWatch", None]]


class LocalWatch:
    """One watch. However much changes until the loop comes to it, it is called once."""

    def __init__(self, watchers: _Watchers, path: str, on_change: Callable[[], None]) -> None:
        self._watchers = watchers
        self._path = path
        self._on_change = on_change
        self._pending = False
        watchers.setdefault(path, {})[self] = None

    def cancel(self) -> None:
        watching = self._watchers.get(self._path, {})
        watching.pop(self, None)
        if not watching:
            self._watchers.pop(self._path, None)

    def call_soon(self, loop: AbstractEventLoop) -> None:
        if not self._pending:
            self._pending = True
            loop.call_soon(self._call)

    def _call(self) -> None:
        self._pending = False
        if self in self._watchers.get(self._path, {}):
            self._on_change()


class Watches:
    """The watches of one store."""

    def __init__(self, loop: AbstractEventLoop) -> None:
        self._loop = loop
        self._of_data: _Watchers = {}
        self._of_children: _Watchers = {}

    def watch(self, path: str, on_change: Callable[[], None]) -> LocalWatch:
        return LocalWatch(self._of_data, path, on_change)

    def watch_children(self, path: str, on_change: Callable[[], None]) -> LocalWatch:
        return LocalWatch(self._of_children, path, on_change)

    def tell(self, changed: Changed) -> None:
        for paths, watchers in (
            (changed.data, self._of_data),
            (changed.children, self._of_children),
        ):
            for path in paths:
                for watch in watchers.get(path, ()):
                    watch.call_soon(self._loop)

    def tell_all(self) -> None:
        """After a lost session nobody knows what has changed."""
        for watchers in (self._of_data, self._of_children):
            for watching in watchers.values():
                for watch in watching:
                    watch.call_soon(self._loop)
