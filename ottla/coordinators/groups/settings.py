"""The options of groups and of their offsets, in the words of the rules."""

from __future__ import annotations

from typing import NamedTuple

from ottla.config import group_options as options
from ottla.config.broker_config import BrokerConfig
from ottla.config.units import MINUTE_MS
from ottla.coordinators.groups.requests import GroupSettings


class OffsetSettings(NamedTuple):
    max_metadata_length: int
    load_buffer_bytes: int
    retention_ms: int
    retention_check_interval_ms: int
    commit_timeout_ms: int


def group_settings(config: BrokerConfig) -> GroupSettings:
    return GroupSettings(
        min_session_timeout_ms=config[options.GROUP_MIN_SESSION_TIMEOUT_MS],
        max_session_timeout_ms=config[options.GROUP_MAX_SESSION_TIMEOUT_MS],
        initial_rebalance_delay_ms=config[options.GROUP_INITIAL_REBALANCE_DELAY_MS],
        max_size=config[options.GROUP_MAX_SIZE],
    )


def offset_settings(config: BrokerConfig) -> OffsetSettings:
    return OffsetSettings(
        max_metadata_length=config[options.OFFSET_METADATA_MAX_BYTES],
        load_buffer_bytes=config[options.OFFSETS_LOAD_BUFFER_SIZE],
        retention_ms=config[options.OFFSETS_RETENTION_MINUTES] * MINUTE_MS,
        retention_check_interval_ms=config[options.OFFSETS_RETENTION_CHECK_INTERVAL_MS],
        commit_timeout_ms=config[options.OFFSETS_COMMIT_TIMEOUT_MS],
    )
