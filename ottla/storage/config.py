"""How one partition's log behaves: the topic's configuration as storage needs it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

FOREVER = 0x7FFF_FFFF_FFFF_FFFF
_DAY_MS = 24 * 60 * 60 * 1000


class TimestampPolicy(Enum):
    """message.timestamp.type: who gives a record its time."""

    CREATE_TIME = "CreateTime"
    LOG_APPEND_TIME = "LogAppendTime"


@dataclass(frozen=True, slots=True)
class LogConfig:
    """Kafka's topic options by their names, with Kafka 3.9's defaults; -1 means no limit."""

    segment_bytes: int = 1024 * 1024 * 1024
    segment_ms: int = 7 * _DAY_MS
    segment_jitter_ms: int = 0
    segment_index_bytes: int = 10 * 1024 * 1024
    index_interval_bytes: int = 4096
    preallocate: bool = False
    max_message_bytes: int = 1_048_588
    compression_type: str = "producer"
    compression_level: int | None = None
    message_magic: int = 2  # message.format.version: 0, 1 or 2
    timestamp_policy: TimestampPolicy = TimestampPolicy.CREATE_TIME
    timestamp_before_max_ms: int = FOREVER
    timestamp_after_max_ms: int = FOREVER
    retention_ms: int = 7 * _DAY_MS
    retention_bytes: int = -1
    deletes: bool = True  # cleanup.policy holds "delete"
    compacts: bool = False  # cleanup.policy holds "compact"
    file_delete_delay_ms: int = 60_000
    flush_messages: int = FOREVER
    flush_ms: int = FOREVER
    delete_retention_ms: int = _DAY_MS
    min_cleanable_dirty_ratio: float = 0.5
    min_compaction_lag_ms: int = 0
    max_compaction_lag_ms: int = FOREVER
    producer_id_expiration_ms: int = _DAY_MS

    @property
    def roll_ms(self) -> int:
        """When a segment is old: what is in the active one cannot be compacted in time."""
        if self.compacts and self.max_compaction_lag_ms > 0:
            return min(self.segment_ms, self.max_compaction_lag_ms)
        return self.segment_ms
