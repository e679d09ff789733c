"""What clients may take of a broker, as its options say."""

from __future__ import annotations

from ottla.config import network_options as options
from ottla.config.broker_config import BrokerConfig
from ottla.config.option import Option
from ottla.network.server import Limits


def limits_of(config: BrokerConfig) -> Limits:
    return Limits(
        max_request_bytes=config[options.SOCKET_REQUEST_MAX_BYTES],
        max_connections=config[options.MAX_CONNECTIONS],
        max_connections_per_ip=config[options.MAX_CONNECTIONS_PER_IP],
        per_ip_overrides=_overrides(config[options.MAX_CONNECTIONS_PER_IP_OVERRIDES]),
        idle_ms=config[options.CONNECTIONS_MAX_IDLE_MS],
        queued_max_request_bytes=config[options.QUEUED_MAX_REQUEST_BYTES],
        # Kafka's default of 100 KB is from another time: unless somebody asks for a size, the
        # system finds a better one by itself.
        send_buffer_bytes=_if_set(config, options.SOCKET_SEND_BUFFER_BYTES),
        receive_buffer_bytes=_if_set(config, options.SOCKET_RECEIVE_BUFFER_BYTES),
    )


def _if_set(config: BrokerConfig, option: Option[int]) -> int:
    return config[option] if config.is_set(option) else -1


def _overrides(text: str) -> dict[str, int]:
    """`host:count,host:count`"""
    pairs = [part.rpartition(":") for part in text.split(",") if part.strip()]
    return {host.strip(): int(count) for host, _, count in pairs}
