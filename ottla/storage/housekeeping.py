"""What a log needs now and then: segments that expire, producers that are forgotten, a flush."""

from __future__ import annotations

from ottla.storage.cutting import drop_oldest
from ottla.storage.facts import segment_facts
from ottla.storage.log import Log
from ottla.storage.retention import Breach, expired_segments


def apply_retention(log: Log, *, now_ms: int) -> tuple[tuple[Breach, ...], list[str]]:
    """Drop what is beyond a limit: why, segment by segment, and the renamed files to remove."""
    expiry = expired_segments(
        segment_facts(log),
        log.config,
        now_ms=now_ms,
        high_watermark=log.high_watermark,
        log_start_offset=log.log_start_offset,
        log_end_offset=log.next_offset,
    )
    if not expiry.breaches:
        return (), []
    return expiry.breaches, drop_oldest(log, len(expiry.breaches), now_ms=now_ms)


def forget_idle_producers(log: Log, *, now_ms: int) -> int:
    log.commit()
    return log.producers.remove_expired(
        now_ms=now_ms, expiration_ms=log.config.producer_id_expiration_ms
    )


def flush_is_due(log: Log, *, now_ms: int) -> bool:
    """By `flush.messages` and `flush.ms`; both are off unless the topic asks for them."""
    unflushed = log.next_offset - log.recovery_point
    return unflushed > 0 and (
        unflushed >= log.config.flush_messages or now_ms - log.flushed_ms >= log.config.flush_ms
    )
