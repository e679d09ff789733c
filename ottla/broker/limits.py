"""What clients may take of a broker, as its options say."""

from __future__ import annotations

from ottla.broker.host_limits import HostLimits
from ottla.config import network_options as options
from ottla.config import replication_options
from ottla.config.broker_config import BrokerConfig
from ottla.config.option import Option
from ottla.network.limits import Limits
from ottla.replication.replicas import PurgeIntervals

_SEND_BUFFER_BYTES = 192 * 1024
_AS_THE_SYSTEM = -1


def limits_of(config: BrokerConfig, hosts: HostLimits) -> Limits:
    return Limits(
        max_request_bytes=config[options.SOCKET_REQUEST_MAX_BYTES],
        max_connections=config[options.MAX_CONNECTIONS],
        max_connections_per_ip=config[options.MAX_CONNECTIONS_PER_IP],
        per_ip_overrides=hosts.by_address(config[options.MAX_CONNECTIONS_PER_IP_OVERRIDES]),
        listener_connections=_own(config, options.MAX_CONNECTIONS),
        # As in Kafka: with one for all, brokers would take the places of clients.
        protected_listener=config.inter_broker_listener if len(config.listeners) > 1 else None,
        idle_ms=config[options.CONNECTIONS_MAX_IDLE_MS],
        listener_idle_ms=_own(config, options.CONNECTIONS_MAX_IDLE_MS),
        queued_max_request_bytes=config[options.QUEUED_MAX_REQUEST_BYTES],
        # Unless somebody asks for a size; why these are not Kafka's is in decision 0015.
        send_buffer_bytes=_if_set(config, options.SOCKET_SEND_BUFFER_BYTES, _SEND_BUFFER_BYTES),
        receive_buffer_bytes=_if_set(config, options.SOCKET_RECEIVE_BUFFER_BYTES, _AS_THE_SYSTEM),
    )


def purge_intervals(config: BrokerConfig) -> PurgeIntervals:
    return PurgeIntervals(
        fetches=config[replication_options.FETCH_PURGATORY_PURGE_INTERVAL_REQUESTS],
        produces=config[replication_options.PRODUCER_PURGATORY_PURGE_INTERVAL_REQUESTS],
        deletions=config[replication_options.DELETE_RECORDS_PURGATORY_PURGE_INTERVAL_REQUESTS],
    )


def _own(config: BrokerConfig, option: Option[int]) -> dict[str, int]:
    """Of the listeners that have a value of their own."""
    names = [endpoint.listener for endpoint in config.listeners]
    return {
        name: config.of_listener(name)[option] for name in names if config.has_own(name, option)
    }


def _if_set(config: BrokerConfig, option: Option[int], otherwise: int) -> int:
    return config[option] if config.is_set(option) else otherwise
