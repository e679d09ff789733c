"""What goes between a broker and its cleaning worker: plain values, whole, over a socket pair."""

from __future__ import annotations

import pickle
import select
import socket
from enum import Enum
from struct import Struct
from typing import NamedTuple, TypeAlias

from ottla.storage.cleaner import CleanedGroup
from ottla.storage.cleaning_plan import CleaningPlan

_LENGTH = Struct(">I")
_READ_BYTES = 64 * 1024


class CleaningJob(NamedTuple):
    """Compact one log. The number is the asker's, and stands in every answer."""

    number: int
    folder: str
    plan: CleaningPlan
    now_ms: int
    bytes_per_second: float = float("inf")  # log.cleaner.io.max.bytes.per.second


class Cancel(NamedTuple):
    number: int


class Advanced(NamedTuple):
    """Progress; sent when it is worth showing."""

    number: int
    done_bytes: int
    total_bytes: int


class Cleaned(NamedTuple):
    """A group is on disk; the job is done when it is the last one."""

    number: int
    group: CleanedGroup


class Failure(Enum):
    """Why a job ended without its last group."""

    CANCELLED = "it was cancelled"
    UNSETTLED = "a transaction in reach has an end that may not last"  # to wait for a flush
    CORRUPT_LOG = "a segment is corrupt"
    DISK_FAILED = "the disk fails"
    OS_ERROR = "the system refused"  # a full disk among others: to be tried again
    WORKER_DIED = "the worker process ended"  # to be tried again


class CleaningFailed(NamedTuple):
    number: int
    failure: Failure
    detail: str


Request: TypeAlias = CleaningJob | Cancel
Answer: TypeAlias = Advanced | Cleaned | CleaningFailed


class Channel:
    """One end of the socket pair. EOFError when the other end is gone, however it went."""

    def __init__(self, end: socket.socket) -> None:
        self._socket = end
        self._received = bytearray()

    def fileno(self) -> int:
        return self._socket.fileno()

    def send(self, message: Request | Answer) -> None:
        data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
        try:
            self._socket.sendall(_LENGTH.pack(len(data)) + data)
        except (BrokenPipeError, ConnectionResetError) as cause:
            raise EOFError from cause

    def receive(self, *, wait_s: float | None = 0) -> object | None:
        """The next message; None if there is none within `wait_s`, where None is for ever."""
        while (message := self._take()) is None:
            if not select.select([self._socket], [], [], wait_s)[0]:
                return None
            try:
                data = self._socket.recv(_READ_BYTES)
            except ConnectionResetError as cause:
                raise EOFError from cause
            if not data:
                raise EOFError
            self._received += data
        return message

    def _take(self) -> object | None:
        buffer, head = self._received, _LENGTH.size
        if len(buffer) < head:
            return None
        end = head + _LENGTH.unpack_from(buffer)[0]
        if len(buffer) < end:
            return None
        message: object = pickle.loads(bytes(buffer[head:end]))
        del buffer[:end]
        return message

    def close(self) -> None:
        self._socket.close()
