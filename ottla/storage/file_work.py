"""What is under way in the file threads for the log directories, and whom its failures concern."""

from __future__ import annotations

import logging
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import NamedTuple, TypeVar

from ottla.protocol.errors import KafkaError
from ottla.storage.files import CorruptLog, DiskFailed
from ottla.storage.threads import Background

_logger = logging.getLogger(__name__)
_MOST_UNDER_WAY = 64
T = TypeVar("T")


class _Work(NamedTuple):
    path: str  # of the log directory
    is_done: Callable[[], bool]
    take: Callable[[], None]


class FileWork:
    """One work for each key at a time, and not too many: the threads serve others, too."""

    def __init__(
        self, background: Background, on_disk_failed: Callable[[str, DiskFailed], None]
    ) -> None:
        self._background = background
        self._on_disk_failed = on_disk_failed
        self._under_way: dict[Hashable, _Work] = {}
        self._failed: dict[str, None] = {}  # directories: of each one it is told once

    def __len__(self) -> int:
        return len(self._under_way)

    def has_room_for(self, key: Hashable) -> bool:
        return key not in self._under_way and len(self._under_way) < _MOST_UNDER_WAY

    def submit(
        self,
        key: Hashable,
        path: str,
        work: Callable[[], T],
        *,
        take: Callable[[T], None],
        refused: Callable[[], None] = lambda: None,
    ) -> None:
        """`take` gets the result, later and on the caller's thread; `refused` hears of an error."""
        assert self.has_room_for(key), key
        future = self._background.submit(work)

        def finish() -> None:
            try:
                result = future.result()
            except (OSError, CorruptLog, DiskFailed, KafkaError):
                refused()
                raise
            take(result)

        self._under_way[key] = _Work(path, future.done, finish)

    def take_results(self, *, wait: bool = False) -> Iterator[None]:
        """Of what is done so far, one by one; with `wait`, of everything."""
        for key, work in list(self._under_way.items()):
            if wait or work.is_done():
                del self._under_way[key]
                with self.judging(work.path):
                    work.take()
                yield

    @contextmanager
    def judging(self, path: str) -> Iterator[None]:
        """A failing disk takes its directory with it; anything else is tried again some day."""
        try:
            yield
        except DiskFailed as error:
            if path not in self._failed:
                self._failed[path] = None
                self._on_disk_failed(path, error)
        except (OSError, CorruptLog, KafkaError) as error:
            _logger.warning("upkeep of %s: %s", path, error)
