"""Listeners: `NAME://host:port` lists, and the security protocol that each name speaks."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from ipaddress import IPv4Address, IPv6Address, ip_address

from ottla.config.option import ConfigError

_LISTENER = re.compile(r"(.*)://\[?([0-9a-zA-Z%._:-]*)\]?:(-?[0-9]+)")


class SecurityProtocol(IntEnum):
    """The numbers are those of UpdateMetadata."""

    PLAINTEXT = 0
    SSL = 1
    SASL_PLAINTEXT = 2
    SASL_SSL = 3

    @property
    def uses_sasl(self) -> bool:
        return self in (SecurityProtocol.SASL_PLAINTEXT, SecurityProtocol.SASL_SSL)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One listener. An empty host means every interface or, advertised, this machine's name."""

    listener: str
    security_protocol: SecurityProtocol
    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.listener}://{host}:{self.port}"


def parse_protocol_map(text: str) -> dict[str, SecurityProtocol]:
    """listener.security.protocol.map; names in capitals."""
    protocols: dict[str, SecurityProtocol] = {}
    mistakes = []
    for pair in _parts(text):
        listener, separator, protocol = (part.strip() for part in pair.partition(":"))
        name = listener.upper()
        if not separator or not listener or protocol.upper() not in SecurityProtocol.__members__:
            known = ", ".join(SecurityProtocol.__members__)
            mistakes.append(_map_mistake(pair, f"expected LISTENER:PROTOCOL with one of {known}"))
        elif name in protocols:
            mistakes.append(_map_mistake(pair, f"{name} stands there twice"))
        else:
            protocols[name] = SecurityProtocol[protocol.upper()]
    if mistakes:
        raise ConfigError(*mistakes)
    return protocols


def parse_listeners(
    text: str, protocols: Mapping[str, SecurityProtocol], *, option: str
) -> tuple[Endpoint, ...]:
    """The list of `option`, which errors name."""
    endpoints, mistakes = [], []
    for part in _parts(text):
        match = _LISTENER.fullmatch(part)
        if not match or not 0 <= int(match[3]) <= 65_535:
            mistakes.append(f"{option}: {part!r} is not allowed; expected NAME://host:port")
        elif (name := match[1].upper()) not in protocols:
            mistakes.append(
                f"{option}: no security protocol for {name} in {part!r}; "
                f"add {name}:PLAINTEXT, or another, to listener.security.protocol.map"
            )
        else:
            endpoints.append(Endpoint(name, protocols[name], match[2], int(match[3])))
    mistakes += _twice(endpoints, option)
    if mistakes:
        raise ConfigError(*mistakes)
    return tuple(endpoints)


def shared_ports(endpoints: Sequence[Endpoint]) -> list[str]:
    """Listeners that would take each other's port; 0 is a free one, ever another.

    One IPv4 and one IPv6 address may share a port.
    """
    mistakes = []
    by_port: dict[int, list[Endpoint]] = {}
    for endpoint in endpoints:
        if endpoint.port > 0:
            by_port.setdefault(endpoint.port, []).append(endpoint)
    for port, sharing in by_port.items():
        families = [_family(endpoint.host) for endpoint in sharing]
        if len(sharing) > 1 and families not in ([4, 6], [6, 4]):
            names = " and ".join(str(endpoint) for endpoint in sharing)
            mistakes.append(f"listeners: {names} share port {port}; each needs its own")
    return mistakes


def _twice(endpoints: Sequence[Endpoint], option: str) -> list[str]:
    names = [endpoint.listener for endpoint in endpoints]
    repeated = dict.fromkeys(name for name in names if names.count(name) > 1)
    return [f"{option}: {name} stands there twice; each name once" for name in repeated]


def _family(host: str) -> int | None:
    try:
        address: IPv4Address | IPv6Address = ip_address(host)
    except ValueError:
        return None
    return address.version


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _map_mistake(pair: str, expected: str) -> str:
    return f"listener.security.protocol.map: {pair!r} is not allowed; {expected}"
