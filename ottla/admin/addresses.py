"""Where a cluster is first asked: `host:port,host:port` taken apart."""

from __future__ import annotations

from typing import NamedTuple

DEFAULT_PORT = 9092
_LAST_PORT = 65_535


class BadAddress(ValueError):
    """What was given as a broker's address is none; the message says why."""


class Address(NamedTuple):
    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


def parse_bootstrap(text: str) -> list[Address]:
    """`host`, `host:port` or `[::1]:port`, several with commas between them."""
    parts = [part.strip() for part in text.split(",")]
    if not any(parts):
        raise BadAddress("no address is given; write host:port, as in 127.0.0.1:9092.")
    return [_parse(part) for part in parts if part]


def _parse(text: str) -> Address:
    if text.startswith("["):
        host, _, rest = text[1:].partition("]")
        port = rest.removeprefix(":")
    elif text.count(":") > 1:
        raise BadAddress(f"{text!r} has several colons; write [::1]:9092 for an IPv6 address.")
    else:
        host, _, port = text.partition(":")
    if not host or "/" in host:
        raise BadAddress(f"{text!r} names no host; write host:port, as in 127.0.0.1:9092.")
    if not port:
        return Address(host, DEFAULT_PORT)
    if not port.isdecimal() or not 0 < int(port) <= _LAST_PORT:
        raise BadAddress(f"{text!r}: the port must be a number from 1 to {_LAST_PORT}.")
    return Address(host, int(port))
