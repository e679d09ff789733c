"""max.connections.per.ip.overrides: hosts by name or address, and what each may have.

Names are looked up when they are given, as in Kafka, and off the loop: name servers may be slow.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from ipaddress import IPv6Address, ip_address

from ottla.config.broker_config import BrokerConfig
from ottla.config.network_options import MAX_CONNECTIONS_PER_IP_OVERRIDES
from ottla.config.option import ConfigError
from ottla.protocol.errors import ErrorCode, KafkaError

_logger = logging.getLogger(__name__)
_OPTION = MAX_CONNECTIONS_PER_IP_OVERRIDES


class HostLimits:
    """Knows the addresses of the names that it was told to learn."""

    def __init__(self, resolve: Callable[[str], Awaitable[Sequence[str]]]) -> None:
        self._resolve = resolve
        self._known: dict[str, list[str]] = {}

    async def learn(self, text: str) -> None:
        """Look up the names in it; a ConfigError tells of all that have no address."""
        mistakes = []
        for host in _counts(text):
            if _literal(host) is not None:
                continue
            try:
                addresses = await self._resolve(host)
            except OSError as error:
                mistakes.append(_unknown(host, text, error.strerror or str(error)))
            else:
                self._known[host] = [_literal(address) or address for address in addresses]
        if mistakes:
            raise ConfigError(*mistakes)

    async def learn_stored(self, config: BrokerConfig) -> None:
        """A name may be gone since it was stored; without a start nobody could change that."""
        try:
            await self.learn(config[_OPTION])
        except ConfigError as error:
            _logger.warning("a stored limit is ignored: %s", error)

    async def check(self, asked: Mapping[str, str | None]) -> None:
        """Before a running broker's options change."""
        try:
            await self.learn(asked.get(_OPTION.name) or "")
        except ConfigError as error:
            raise KafkaError(ErrorCode.INVALID_CONFIG, str(error)) from error

    def by_address(self, text: str) -> dict[str, int]:
        """Addresses in the form that the system has for those of clients."""
        limits = {}
        for host, count in _counts(text).items():
            literal = _literal(host)
            for address in self._known.get(host, ()) if literal is None else [literal]:
                limits[address] = count
        return limits


def _counts(text: str) -> dict[str, int]:
    """`host:count,host:count`"""
    pairs = [part.rpartition(":") for part in text.split(",") if part.strip()]
    return {host.strip(): int(count) for host, _, count in pairs}


def _literal(host: str) -> str | None:
    """None if it is a name."""
    try:
        address = ip_address(host.removeprefix("[").removesuffix("]"))
    except ValueError:
        return None
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(address)


def _unknown(host: str, text: str, cause: str) -> str:
    return (
        f"{_OPTION.name}: {host!r} in {text!r} has no address here ({cause}); "
        "expected an address, or a name that this machine can resolve"
    )
