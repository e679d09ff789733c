"""A topic's options as its logs need them."""

from __future__ import annotations

from ottla.config import topic
from ottla.config.option import Config
from ottla.storage.config import LogConfig, TimestampPolicy


def log_config(
    config: Config, *, producer_id_expiration_ms: int, writes_old_formats: bool = False
) -> LogConfig:
    """`message.format.version` counts only while brokers speak a protocol before 3.0."""
    policy = config[topic.CLEANUP_POLICY]
    before_ms, after_ms = _timestamp_limits(config)
    return LogConfig(
        segment_bytes=config[topic.SEGMENT_BYTES],
        segment_ms=config[topic.SEGMENT_MS],
        segment_jitter_ms=config[topic.SEGMENT_JITTER_MS],
        segment_index_bytes=config[topic.SEGMENT_INDEX_BYTES],
        index_interval_bytes=config[topic.INDEX_INTERVAL_BYTES],
        preallocate=config[topic.PREALLOCATE],
        max_message_bytes=config[topic.MAX_MESSAGE_BYTES],
        compression_type=config[topic.COMPRESSION_TYPE],
        compression_level=_level(config),
        message_magic=_magic(config[topic.MESSAGE_FORMAT_VERSION]) if writes_old_formats else 2,
        timestamp_policy=TimestampPolicy(config[topic.MESSAGE_TIMESTAMP_TYPE]),
        timestamp_before_max_ms=before_ms,
        timestamp_after_max_ms=after_ms,
        retention_ms=config[topic.RETENTION_MS],
        retention_bytes=config[topic.RETENTION_BYTES],
        deletes="delete" in policy,
        compacts="compact" in policy,
        file_delete_delay_ms=config[topic.FILE_DELETE_DELAY_MS],
        flush_messages=config[topic.FLUSH_MESSAGES],
        flush_ms=config[topic.FLUSH_MS],
        delete_retention_ms=config[topic.DELETE_RETENTION_MS],
        min_cleanable_dirty_ratio=config[topic.MIN_CLEANABLE_DIRTY_RATIO],
        min_compaction_lag_ms=config[topic.MIN_COMPACTION_LAG_MS],
        max_compaction_lag_ms=config[topic.MAX_COMPACTION_LAG_MS],
        producer_id_expiration_ms=producer_id_expiration_ms,
    )


def _timestamp_limits(config: Config) -> tuple[int, int]:
    """The old option counts where the two that followed it were left as they are."""
    both = config[topic.MESSAGE_TIMESTAMP_DIFFERENCE_MAX_MS]
    before = config[topic.MESSAGE_TIMESTAMP_BEFORE_MAX_MS]
    after = config[topic.MESSAGE_TIMESTAMP_AFTER_MAX_MS]
    default = topic.MESSAGE_TIMESTAMP_BEFORE_MAX_MS.default
    return (both if before == default else before), (both if after == default else after)


def _level(config: Config) -> int | None:
    levels = {
        "gzip": topic.COMPRESSION_GZIP_LEVEL,
        "lz4": topic.COMPRESSION_LZ4_LEVEL,
        "zstd": topic.COMPRESSION_ZSTD_LEVEL,
    }
    option = levels.get(config[topic.COMPRESSION_TYPE])
    if option is None or (option is topic.COMPRESSION_GZIP_LEVEL and config[option] == -1):
        return None
    return config[option]


def _magic(version: str) -> int:
    """message.format.version: 0 before 0.10, 1 before 0.11."""
    numbers = [int(part) for part in version.split("-", maxsplit=1)[0].split(".")[:3]]
    if numbers < [0, 10]:
        return 0
    return 1 if numbers < [0, 11] else 2
