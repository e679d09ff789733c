"""Fetch sessions (KIP-227): a reader names its partitions once, and then only what changes.

Pure: the time and new ids are handed in.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ottla.protocol.errors import ErrorCode, KafkaError

NO_SESSION = 0
INITIAL_EPOCH = 0
FINAL_EPOCH = -1
_LAST_EPOCH = 0x7FFF_FFFF
EVICTABLE_AFTER_MS = 120_000


class Key(NamedTuple):
    """A partition as the reader names it: by topic, or since version 13 by topic id."""

    topic: str | bytes
    partition_index: int


class Asked(NamedTuple):
    """What a reader wants of one partition."""

    key: Key
    fetch_offset: int
    max_bytes: int
    leader_epoch: int = -1
    last_fetched_epoch: int = -1
    log_start_offset: int = -1


class Told(NamedTuple):
    """What decides whether a partition is worth telling of again."""

    error: ErrorCode
    high_watermark: int
    log_start_offset: int
    has_records: bool
    has_more: bool = False  # a diverging epoch, or a better replica to read from


@dataclass(slots=True)
class Session:
    """What one reader has asked for, and what it was told last."""

    id: int
    uses_topic_ids: bool
    is_follower: bool
    created_ms: int
    used_ms: int
    partitions: dict[Key, Asked]
    epoch: int = 1
    told: dict[Key, tuple[int, int]] = field(default_factory=dict)

    def update(self, asked: Sequence[Asked], forgotten: Sequence[Key]) -> None:
        for each in asked:
            self.partitions[each.key] = each
        for key in forgotten:
            self.partitions.pop(key, None)
            self.told.pop(key, None)

    def is_news(self, key: Key, told: Told, *, is_incremental: bool = True) -> bool:
        """Whether the reader must hear it; remembers that it did."""
        is_news = self.would_be_news(key, told)
        if told.error:
            self.told.pop(key, None)  # so that it hears when things are well again
            return True
        self.told[key] = (told.high_watermark, told.log_start_offset)
        if told.has_records and is_incremental:
            # Whoever had its turn goes to the end, so that no partition starves.
            self.partitions[key] = self.partitions.pop(key)
        return is_news

    def would_be_news(self, key: Key, told: Told) -> bool:
        now = (told.high_watermark, told.log_start_offset)
        if told.error or told.has_records or told.has_more:
            return True
        return self.told.get(key) != now


@dataclass(slots=True)
class Fetch:
    """One request: the partitions to read, in order, and the session it belongs to."""

    asked: list[Asked]
    session: Session | None = None
    is_incremental: bool = False


class FetchSessions:
    """The cache. A full one gives no session, and the reader names everything every time."""

    def __init__(self, slots: int, new_id: Callable[[], int]) -> None:
        self.slots = slots
        self.evictions = 0
        self._new_id = new_id
        self._sessions: dict[int, Session] = {}  # the least recently used first

    def __len__(self) -> int:
        return len(self._sessions)

    @property
    def partition_count(self) -> int:
        return sum(len(each.partitions) for each in self._sessions.values())

    def begin(
        self,
        asked: list[Asked],
        forgotten: Sequence[Key],
        *,
        session_id: int,
        epoch: int,
        uses_topic_ids: bool,
        is_follower: bool,
        now_ms: int,
    ) -> Fetch:
        """KafkaError if the session is not known, or not where the reader believes it to be."""
        if epoch in (INITIAL_EPOCH, FINAL_EPOCH):
            self._sessions.pop(session_id, None)
            if epoch == FINAL_EPOCH:
                return Fetch(asked)
            return Fetch(asked, self._create(asked, uses_topic_ids, is_follower, now_ms))
        session = self._sessions.get(session_id)
        if session is None:
            raise KafkaError(ErrorCode.FETCH_SESSION_ID_NOT_FOUND, f"session {session_id}")
        if session.epoch != epoch:
            detail = f"session {session_id} is at epoch {session.epoch}, not {epoch}"
            raise KafkaError(ErrorCode.INVALID_FETCH_SESSION_EPOCH, detail)
        if session.uses_topic_ids != uses_topic_ids:
            raise KafkaError(ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR, f"session {session_id}")
        session.update(asked, forgotten)
        session.epoch = 1 if epoch == _LAST_EPOCH else epoch + 1
        del self._sessions[session_id]
        if not session.partitions:
            return Fetch([])
        session.used_ms = now_ms
        self._sessions[session_id] = session
        return Fetch(list(session.partitions.values()), session, is_incremental=True)

    def end(self, session: Session) -> None:
        """As if it had not begun: its reader never heard of it."""
        self._sessions.pop(session.id, None)

    def _create(
        self, asked: list[Asked], uses_topic_ids: bool, is_follower: bool, now_ms: int
    ) -> Session | None:
        partitions = {each.key: each for each in asked}
        if len(self._sessions) >= self.slots and not self._evict(
            len(partitions), is_follower=is_follower, now_ms=now_ms
        ):
            return None
        number = self._new_id()
        while number in self._sessions or number == NO_SESSION:
            number = self._new_id()
        session = Session(number, uses_topic_ids, is_follower, now_ms, now_ms, partitions)
        self._sessions[number] = session
        return session

    def _evict(self, size: int, *, is_follower: bool, now_ms: int) -> bool:
        """Make room: of whoever is silent, or of someone smaller who had its time."""
        if not self._sessions:
            return False
        victim = next(iter(self._sessions.values()))
        if now_ms - victim.used_ms <= EVICTABLE_AFTER_MS:
            old = [
                each
                for each in self._sessions.values()
                if now_ms - each.created_ms > EVICTABLE_AFTER_MS
            ]
            if not old:
                return False
            victim = min(old, key=lambda each: (each.is_follower, len(each.partitions), each.id))
            if (victim.is_follower, len(victim.partitions)) >= (is_follower, size):
                return False
        del self._sessions[victim.id]
        self.evictions += 1
        return True
