"""The group coordinator of a broker, built from its configuration and over its replicas."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ottla.broker.coordinator_logs import CoordinatorLogs
from ottla.config import group_options
from ottla.config.broker_config import BrokerConfig
from ottla.config.units import MINUTE_MS
from ottla.coordinators.groups.coordinator import GroupCoordinator
from ottla.coordinators.groups.requests import GroupSettings
from ottla.coordinators.groups.settings import OffsetSettings
from ottla.protocol.internal.topics import GROUP_METADATA_TOPIC
from ottla.protocol.records.compression import Codec

if TYPE_CHECKING:
    from ottla.broker.broker import Broker


def group_coordinator(
    broker: Broker, call_soon: Callable[[Callable[[], None]], object]
) -> GroupCoordinator:
    """Its options are read once: none of them can be changed while a broker runs."""
    config, ports = broker.config, broker.ports
    codec = Codec(config[group_options.OFFSETS_TOPIC_COMPRESSION_CODEC])
    logs = CoordinatorLogs(
        GROUP_METADATA_TOPIC,
        broker.replicas,
        ports.clock,
        codec,
        acks=config[group_options.OFFSETS_COMMIT_REQUIRED_ACKS],
    )
    return GroupCoordinator(
        _group_settings(config),
        _offset_settings(config),
        open_log=logs.open,
        witness=broker.rebalances,
        timer=broker.timer,
        tick=broker.tick,
        clock=ports.clock,
        randomness=ports.randomness,
        call_soon=call_soon,
    )


def _group_settings(config: BrokerConfig) -> GroupSettings:
    return GroupSettings(
        min_session_timeout_ms=config[group_options.GROUP_MIN_SESSION_TIMEOUT_MS],
        max_session_timeout_ms=config[group_options.GROUP_MAX_SESSION_TIMEOUT_MS],
        initial_rebalance_delay_ms=config[group_options.GROUP_INITIAL_REBALANCE_DELAY_MS],
        max_size=config[group_options.GROUP_MAX_SIZE],
    )


def _offset_settings(config: BrokerConfig) -> OffsetSettings:
    return OffsetSettings(
        max_metadata_length=config[group_options.OFFSET_METADATA_MAX_BYTES],
        load_buffer_bytes=config[group_options.OFFSETS_LOAD_BUFFER_SIZE],
        retention_ms=config[group_options.OFFSETS_RETENTION_MINUTES] * MINUTE_MS,
        retention_check_interval_ms=config[group_options.OFFSETS_RETENTION_CHECK_INTERVAL_MS],
        commit_timeout_ms=config[group_options.OFFSETS_COMMIT_TIMEOUT_MS],
    )
