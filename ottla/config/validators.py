"""Limits that are more than a range or a list: each says what it expects, or None when content."""

from __future__ import annotations

import re
from collections.abc import Callable, Sized

from ottla.config.versions import is_version

_THROTTLED = re.compile(r"[0-9]+:[0-9]+")


def not_empty(value: Sized | None) -> str | None:
    return None if value else "something"


def minus_one_or(*, at_least: int, at_most: int | None = None) -> Callable[[int], str | None]:
    span = f"{at_least} or more" if at_most is None else f"{at_least} to {at_most}"

    def judge(value: int) -> str | None:
        within = value >= at_least and (at_most is None or value <= at_most)
        return None if within or value == -1 else f"{span}, or -1"

    return judge


def unlimited_or_positive(value: int | None) -> str | None:
    """Of a time: nothing is kept for no time at all."""
    return "a positive number, or -1 for no limit" if value == 0 else None


def one_of_whatever_case(*words: str) -> Callable[[str], str | None]:
    def judge(value: str) -> str | None:
        return None if value.upper() in words else f"one of {', '.join(words)}"

    return judge


def version(value: str) -> str | None:
    return None if is_version(value) else "a version of Kafka's, such as 2.0, 2.0-IV1 or 3.9-IV0"


def throttled_replicas(value: tuple[str, ...]) -> str | None:
    if value == ("*",) or all(_THROTTLED.fullmatch(one) for one in value):
        return None
    return "*, or partition:broker pairs, comma separated"


def counts_by_host(value: str) -> str | None:
    """max.connections.per.ip.overrides; an IPv6 address has colons of its own."""
    for pair in filter(None, (pair.strip() for pair in value.split(","))):
        host, _, count = pair.rpartition(":")
        if not host or not count.strip().isdecimal():
            return "host:count pairs, comma separated"
    return None


def codec_number(value: int) -> str | None:
    return None if 0 <= value <= 4 else "a codec's number: 0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd"
