"""Names of options beyond the plain list: those of one listener, and the nearest to a typing error.

`listener.name.external.ssl.keystore.location` is ssl.keystore.location for one listener;
`listener.name.external.plain.sasl.jaas.config` is for one mechanism on it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches

from ottla.config.broker import ALL_BROKER_OPTIONS, BROKER_OPTIONS
from ottla.config.option import AnyOption

LISTENER_PREFIX = re.compile(r"listener\.name\.([^.]*)\.(.+)")
PER_MECHANISM = (
    "sasl.jaas.config",
    "sasl.login.callback.handler.class",
    "sasl.login.class",
    "sasl.server.callback.handler.class",
    "connections.max.reauth.ms",
)
_OF_A_LISTENER = re.compile(
    r"ssl\.|sasl\.|principal\.builder\.class|connections\.max\.|max\.connection"
    r"|num\.network\.threads|connection\.failed\."
)


@dataclass(frozen=True, slots=True)
class ListenerName:
    """A name taken apart: the listener in small letters, the mechanism if any, the option."""

    listener: str
    mechanism: str | None
    option: AnyOption


def listener_name(name: str) -> ListenerName | None:
    """None when it is not the name of a listener's option."""
    match = LISTENER_PREFIX.fullmatch(name)
    if match is None:
        return None
    listener, rest = match.groups()
    for per_mechanism in PER_MECHANISM:
        if rest.endswith(f".{per_mechanism}"):
            mechanism = rest.removesuffix(f".{per_mechanism}")
            return ListenerName(listener, mechanism, BROKER_OPTIONS[per_mechanism])
    option = BROKER_OPTIONS.get(rest)
    if option is None or not _OF_A_LISTENER.match(rest):
        return None
    return ListenerName(listener, None, option)


def find_option(name: str) -> AnyOption | None:
    """The broker option that a name stands for, with a listener's prefix or without."""
    if option := ALL_BROKER_OPTIONS.get(name):
        return option
    of_listener = listener_name(name)
    return of_listener.option if of_listener else None


def nearest(name: str, known: Iterable[str]) -> str:
    """A hint to append to a complaint; empty when nothing is near."""
    found = get_close_matches(name, list(known), n=1, cutoff=0.75)
    return f"; did you mean {found[0]}?" if found else ""
