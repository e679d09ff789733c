"""Reads from a broker's metrics how long its event loop stood still."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.request import urlopen

_STALL = re.compile(r"^ottla_EventLoop_LongestStallMs ([0-9.eE+-]+)$", re.MULTILINE)
_BUCKET = re.compile(
    r'^ottla_EventLoop_StallMs_bucket\{le="([^"]+)"\} ([0-9.eE+-]+)$', re.MULTILINE
)
_TIMEOUT_S = 10
Stalls = Mapping[float, float]  # how many were at most so many milliseconds


def longest_stall_ms(metrics_url: str | None) -> float | None:
    """Since its start; None where the broker shows no such metric."""
    return find_stall_ms(_read(metrics_url)) if metrics_url else None


def stalls(metrics_url: str | None) -> Stalls | None:
    return find_stalls(_read(metrics_url)) if metrics_url else None


def longest_between_ms(before: Stalls, after: Stalls) -> float:
    """At most so long was the longest of those that came in between."""
    came = [(bound, after[bound] - before.get(bound, 0)) for bound in sorted(after)]
    return next(bound for bound, count in came if count == came[-1][1])


def find_stall_ms(text: str) -> float | None:
    found = _STALL.search(text)
    return float(found[1]) if found else None


def find_stalls(text: str) -> Stalls:
    return {float(bound): float(count) for bound, count in _BUCKET.findall(text)}


def _read(metrics_url: str) -> str:
    with urlopen(metrics_url, timeout=_TIMEOUT_S) as answer:
        text: str = answer.read().decode()
    return text
