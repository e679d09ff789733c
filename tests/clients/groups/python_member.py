"""A member on a thread of its own: polls, tells, commits; what it is asked, it does in between."""

from __future__ import annotations

import json
import os
import threading
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from queue import SimpleQueue
from typing import Any, TypeAlias

from tests.clients.client import PATIENCE_S, ClientFailed
from tests.clients.groups.history import CLOSED, CLOSING, COMMITTED, FAILED, READ, REFUSED, WOKEN
from tests.clients.groups.options import EACH, Options

Partition: TypeAlias = tuple[str, int]
Commit: TypeAlias = dict[Partition, tuple[int, str]]  # offset and metadata
POLL_S = 0.05


class Journal:
    """One write for each event: even what a killed process told is there, and in order."""

    def __init__(self, path: Path, member: str) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        self._member = member

    def tell(self, event: str, partitions: Iterable[Partition] = (), **details: Any) -> None:
        found = {"member": self._member, "event": event, "partitions": list(partitions), **details}
        os.write(self._file, f"{json.dumps(found)}\n".encode())


class PythonMember(ABC):
    """What the three libraries share; each says only how it polls and commits."""

    def __init__(self, bootstrap: str, name: str, options: Options) -> None:
        self.bootstrap = bootstrap
        self.name = name
        self.options = options
        self.journal = Journal(options.journal, name)
        self.uncommitted: dict[Partition, int] = {}
        self._tasks: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._closing = False
        self._stalled = False
        self._poll_s = POLL_S
        self._thread = threading.Thread(target=self._run, daemon=True)

    @abstractmethod
    def connect(self) -> None: ...
    @abstractmethod
    def poll(self, timeout_s: float) -> None:
        """Hands what it got to `took`, then has it committed."""

    @abstractmethod
    def commit(self, offsets: Commit, *, wait: bool) -> None:
        """Raises what the client raises. Without `wait` it is the asynchronous one, and the client
        says by itself when it is `stored`."""

    @abstractmethod
    def disconnect(self) -> None: ...
    @abstractmethod
    def control(self, verb: str, partition: Partition, offset: int) -> Any:
        """seek, seek_to_beginning, seek_to_end, pause, resume."""

    def idle(self) -> None:
        """Instead of a poll, while it stalls: a task may come."""
        threading.Event().wait(POLL_S)

    def wake(self) -> None:
        raise ClientFailed(f"{type(self).__name__} has nothing to wake it with")

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        self._closing = True
        self._thread.join(PATIENCE_S)

    def do(self, verb: str, words: Sequence[str]) -> Any:
        if verb == "wake":
            return self.wake()
        done: Future[Any] = Future()

        def task() -> None:
            try:
                done.set_result(self._do(verb, words))
            except Exception as error:
                done.set_exception(error)

        self._tasks.put(task)
        return done.result(PATIENCE_S)

    def took(self, partition: Partition, offsets: list[int]) -> None:
        self.journal.tell(READ, [partition], offsets=offsets)
        self.uncommitted[partition] = offsets[-1] + 1

    def due(self, partitions: Iterable[Partition] | None = None) -> Commit:
        """What is to be committed now, of all or of some."""
        if self.options.commit != EACH:
            return {}
        some = self.uncommitted if partitions is None else partitions
        return {each: (self.uncommitted[each], "") for each in some if each in self.uncommitted}

    def stored(self, offsets: Mapping[Partition, tuple[int, str]]) -> None:
        self.journal.tell(COMMITTED, offsets, offsets=[offset for offset, _ in offsets.values()])
        for partition, (offset, _) in offsets.items():
            if self.uncommitted.get(partition) == offset:
                del self.uncommitted[partition]

    def commit_due(self, partitions: Iterable[Partition] | None = None) -> None:
        """A refusal is told; it is tried again after the next poll."""
        if not (due := self.due(partitions)):
            return
        try:
            self.commit(due, wait=True)
        except Exception as error:
            self.journal.tell(REFUSED, due, text=repr(error))
        else:
            self.stored(due)

    def _run(self) -> None:
        try:
            self.connect()
            while not self._closing:
                self._turn()
            self.journal.tell(CLOSING)
            self.disconnect()
            self.journal.tell(CLOSED)
        except Exception:
            self.journal.tell(FAILED, text=traceback.format_exc())

    def _turn(self) -> None:
        while not self._tasks.empty():
            self._tasks.get()()
        if self._stalled:
            self.idle()
        else:
            timeout_s, self._poll_s = self._poll_s, POLL_S
            self.poll(timeout_s)
            if timeout_s != POLL_S:
                self.journal.tell(WOKEN)

    def _do(self, verb: str, words: Sequence[str]) -> Any:
        if verb in ("stall", "go"):
            self._stalled = verb == "stall"
        elif verb == "long_poll":
            self._poll_s = 3 * PATIENCE_S
        elif verb in ("commit_sync", "commit_async"):
            offsets = _offsets(words) or {each: (o, "") for each, o in self.uncommitted.items()}
            self.commit(offsets, wait=verb == "commit_sync")
            if verb == "commit_sync":
                self.stored(offsets)
        else:
            topic, partition, *offset = words
            return self.control(verb, (topic, int(partition)), int(offset[0]) if offset else -1)
        return None


def _offsets(words: Sequence[str]) -> Commit:
    """Four words for each partition: topic, partition, offset, metadata."""
    return {
        (words[i], int(words[i + 1])): (int(words[i + 2]), words[i + 3])
        for i in range(0, len(words), 4)
    }
