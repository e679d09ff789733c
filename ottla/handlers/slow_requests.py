"""Requests that take too long are named in the broker's log, each in one line."""

from __future__ import annotations

import logging

from ottla.handlers.call import Call
from ottla.protocol.registry import API_NAMES

_logger = logging.getLogger(__name__)
SLOW_MS = 1000


def name_if_slow(call: Call, how: str) -> None:
    """`how` says what it did for that long."""
    took_ms = (call.services.timer.now_ns() - call.begun_ns) // 1_000_000
    if took_ms > SLOW_MS:
        name_slow(call, f"took {took_ms} ms{how}")


def name_slow(call: Call, how: str) -> None:
    name, client = API_NAMES[call.api_key], call.client_id
    _logger.warning("%s v%d of %r at %s %s", name, call.version, client, call.connection.peer, how)
