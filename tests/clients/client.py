"""What every client can be asked here, whatever its language."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol

HEADERS, IDEMPOTENCE, CONSUME = "headers", "idempotence", "consume"
PIPELINING = "several idempotent batches for a partition under way"
TOPICS, CONFIGS, PARTITIONS, DELETE_RECORDS = "topics", "configs", "partitions", "delete records"
EVERYTHING = (
    HEADERS, IDEMPOTENCE, PIPELINING, CONSUME, TOPICS, CONFIGS, PARTITIONS, DELETE_RECORDS,
)  # fmt: skip
ALL_CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
PATIENCE_S = 30
_TRIES, _PAUSE_S = 600, 0.05


class Sent(NamedTuple):
    """A record as its producer means it."""

    value: bytes | None
    key: bytes | None = None
    timestamp: int = 1_600_000_000_000
    headers: tuple[tuple[str, bytes | None], ...] = ()
    partition: int = 0


class Seen(NamedTuple):
    """A record as a consumer gets it."""

    offset: int
    record: Sent


class ClientFailed(AssertionError):
    """The client said so, or did not get what it asked for in time."""


def comes_true(condition: Callable[[], bool]) -> bool:
    """It is asked again and again, as long as one can wait."""
    pause = threading.Event()
    return any(condition() or pause.wait(_PAUSE_S) for _ in range(_TRIES))


class Client(Protocol):
    """One client library at one version; the roster says what it has, the rest is never asked."""

    def produce(
        self,
        topic: str,
        records: Sequence[Sent],
        *,
        codec: str = "none",
        acks: int = -1,
        idempotent: bool = False,
    ) -> list[int]:
        """The offsets, in the order of the records; -1 where nobody said (acks=0)."""

    def consume(self, topic: str, *, partition: int, offset: int, count: int) -> list[Seen]: ...
    def offsets(self, topic: str, *, partition: int) -> tuple[int, int]:
        """Earliest and latest."""

    def offset_at(self, topic: str, *, partition: int, timestamp: int) -> int | None: ...
    def create_topic(self, topic: str, *, partitions: int, configs: Mapping[str, str]) -> None: ...
    def delete_topic(self, topic: str) -> None: ...
    def topics(self) -> list[str]: ...
    def partition_count(self, topic: str) -> int: ...
    def add_partitions(self, topic: str, *, count: int) -> None: ...
    def configs(self, topic: str) -> dict[str, str]: ...
    def set_config(self, topic: str, name: str, value: str) -> None: ...
    def delete_records(self, topic: str, *, partition: int, offset: int) -> None: ...
    def close(self) -> None: ...
