"""Reads from a broker's metrics how long its event loop stood still at worst."""

from __future__ import annotations

import re
from urllib.request import urlopen

_STALL = re.compile(r"^ottla_EventLoop_LongestStallMs ([0-9.eE+-]+)$", re.MULTILINE)
_TIMEOUT_S = 10


def longest_stall_ms(metrics_url: str | None) -> float | None:
    """None where the broker shows no such metric."""
    if metrics_url is None:
        return None
    with urlopen(metrics_url, timeout=_TIMEOUT_S) as answer:
        return find_stall_ms(answer.read().decode())


def find_stall_ms(text: str) -> float | None:
    found = _STALL.search(text)
    return float(found[1]) if found else None
