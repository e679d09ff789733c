"""What a log needs now and then: segments that expire, producers that are forgotten, a flush."""

from __future__ import annotations

from ottla.storage.config import FOREVER
from ottla.storage.cutting import finish_drops, take_oldest
from ottla.storage.dropped import Dropped
from ottla.storage.log import Log
from ottla.storage.retention import Breach, Expiry, SegmentFacts, expired_segments


def apply_retention(log: Log, *, now_ms: int) -> tuple[tuple[Breach, ...], list[str]]:
    """Drop what is beyond a limit: why, segment by segment, and the renamed files to remove."""
    expiry = _expiry(log, now_ms)
    if not expiry.breaches:
        return (), []
    take_oldest(log, len(expiry.breaches), now_ms=now_ms)
    return expiry.breaches, finish_drops(log)


def begin_retention(log: Log, *, now_ms: int) -> Dropped | None:
    """The same without the renames, which are for a file thread."""
    expiry = _expiry(log, now_ms)
    return take_oldest(log, len(expiry.breaches), now_ms=now_ms) if expiry.breaches else None


def _expiry(log: Log, now_ms: int) -> Expiry:
    log.commit()
    return expired_segments(
        _facts(log, now_ms),
        log.config,
        now_ms=now_ms,
        high_watermark=log.high_watermark,
        log_start_offset=log.log_start_offset,
        log_end_offset=log.next_offset,
    )


def _facts(log: Log, now_ms: int) -> list[SegmentFacts]:
    """Ages only as far as they count, up to the first that is young enough.

    To know a segment's age its indexes are read. By size or start more may go than are old: what
    is behind those is looked at the next time.
    """
    is_old = log.config.deletes and log.config.retention_ms >= 0
    facts = []
    for segment in log.segments:
        timestamp = modified_ms = FOREVER
        if is_old:
            timestamp = segment.largest_timestamp()
            if timestamp < 0:
                status = log.disk.status(segment.path(".log"))
                modified_ms = status.modified_ms if status else 0
        facts.append(SegmentFacts(segment.base_offset, segment.size_bytes, modified_ms, timestamp))
        is_old = is_old and facts[-1].largest_timestamp < now_ms - log.config.retention_ms
    return facts


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
