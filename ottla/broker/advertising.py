"""Where the broker listens, and where it says that it can be reached."""

from __future__ import annotations

import errno
from collections.abc import Callable
from dataclasses import dataclass

from ottla.config.broker_config import BrokerConfig
from ottla.config.general_options import BROKER_RACK
from ottla.config.network_options import SOCKET_LISTEN_BACKLOG_SIZE
from ottla.network.server import Server
from ottla.store.registration import BrokerRegistration, Endpoint

_LEAST_BACKLOG = 4096  # the system has its own limit


class CannotListen(Exception):
    """Some other program has the address, or it is not this machine's."""

    def __init__(self, address: str, option: str, cause: OSError) -> None:
        reason, fix = cause.strerror or str(cause), f"Give another address with {option}."
        if cause.errno == errno.EADDRINUSE:
            reason = "another program uses this port"
            fix = f"Stop that program, or choose another port with {option}; 0 takes a free one."
        elif cause.errno == errno.EACCES:
            reason = "this user may not use this port"
            fix = f"Choose one above 1023 with {option}."
        super().__init__(f"cannot listen at {address}: {reason}. {fix}")


@dataclass(frozen=True, slots=True)
class Addresses:
    """One endpoint a listener; `bound` is where it really is, for a port of 0 too."""

    bound: dict[str, int]
    advertised: tuple[Endpoint, ...]

    @classmethod
    def listen(cls, server: Server, config: BrokerConfig, hostname: Callable[[], str]) -> Addresses:
        # One loop serves and accepts: who comes while it serves waits, and must not be turned away.
        backlog = max(config[SOCKET_LISTEN_BACKLOG_SIZE], _LEAST_BACKLOG)
        bound = {}
        hosts = {}
        for endpoint in config.listeners:
            host, port = endpoint.host, endpoint.port
            try:
                bound[endpoint.listener] = server.listen(
                    endpoint.listener, host, port, backlog=backlog
                )
            except OSError as error:
                raise CannotListen(f"{host}:{port}", "--port or listeners", error) from error
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
