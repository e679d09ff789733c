"""What handlers may use: the parts of a broker, handed over by whoever builds it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from ottla.replication.fetch_sessions import FetchSessions
from ottla.replication.replicas import Replicas
from ottla.timing.clock import Clock
from ottla.timing.tick import Tick
from ottla.timing.timer import Timer


@dataclass(slots=True)
class RequestCounts:
    """How often each API was asked, by version; read by the metrics."""

    by_version: Counter[tuple[int, int]] = field(default_factory=Counter)
    failures: int = 0  # requests that met a bug of ours

    def count(self, key: int, version: int) -> None:
        self.by_version[key, version] += 1


@dataclass(slots=True)
class Services:
    """One broker, as its handlers see it."""

    broker_id: int
    clock: Clock
    tick: Tick
    timer: Timer
    replicas: Replicas
    sessions: FetchSessions
    topic_named: Callable[[bytes], str]  # by its id; UNKNOWN_TOPIC_ID
    fetch_max_bytes: Callable[[], int]
    down_converts: Callable[[str], bool]  # message.downconversion.enable of the topic
    requests: RequestCounts = field(default_factory=RequestCounts)
