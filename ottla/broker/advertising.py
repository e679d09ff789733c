"""Where the broker listens, and where it says that it can be reached."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ottla.config.broker_config import BrokerConfig
from ottla.config.general_options import BROKER_RACK
from ottla.config.network_options import SOCKET_LISTEN_BACKLOG_SIZE
from ottla.network.server import Server
from ottla.store.registration import BrokerRegistration, Endpoint


@dataclass(frozen=True, slots=True)
class Addresses:
    """One endpoint a listener; `bound` is where it really is, for a port of 0 too."""

    bound: dict[str, int]
    advertised: tuple[Endpoint, ...]

    @classmethod
    def listen(cls, server: Server, config: BrokerConfig, hostname: Callable[[], str]) -> Addresses:
        backlog = config[SOCKET_LISTEN_BACKLOG_SIZE]
        bound = {}
        hosts = {}
        for endpoint in config.listeners:
            bound[endpoint.listener] = server.listen(
                endpoint.listener, endpoint.host, endpoint.port, backlog=backlog
            )
            hosts[endpoint.listener] = endpoint.host
        advertised = []
        for endpoint in config.advertised_listeners:
            host = endpoint.host or hosts[endpoint.listener]
            port = endpoint.port or bound[endpoint.listener]
            advertised.append(Endpoint(endpoint.listener, host or hostname(), port))
        return cls(bound, tuple(advertised))

    @property
    def bootstrap(self) -> str:
        """Of the first listener: what to give to a client."""
        first = self.advertised[0]
        host = f"[{first.host}]" if ":" in first.host else first.host
        return f"{host}:{first.port}"


def registration(addresses: Addresses, config: BrokerConfig, now_ms: int) -> BrokerRegistration:
    protocols = {each.listener: each.security_protocol.name for each in config.listeners}
    return BrokerRegistration(
        endpoints=addresses.advertised,
        security_protocols=protocols,
        timestamp_ms=now_ms,
        rack=config[BROKER_RACK],
    )
