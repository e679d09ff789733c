"""The group coordinator of a broker, built from its configuration and over its replicas."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ottla.broker.coordinator_logs import CoordinatorLogs
from ottla.config import group_options
from ottla.coordinators.groups.coordinator import GroupCoordinator
from ottla.coordinators.groups.settings import group_settings, offset_settings
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
        group_settings(config),
        offset_settings(config),
        open_log=logs.open,
        witness=broker.rebalances,
        timer=broker.timer,
        tick=broker.tick,
        clock=ports.clock,
        randomness=ports.randomness,
        call_soon=call_soon,
    )
