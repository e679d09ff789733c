"""Which names a topic may have, and which two are too alike (pure)."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ottla.protocol.errors import ErrorCode, KafkaError

LONGEST_NAME = 249
_NAME = re.compile(r"[a-zA-Z0-9._-]+")


def check_name(name: str) -> None:
    reason = _fault(name)
    if reason:
        raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"Topic name is invalid: {reason}")


def is_name(name: str) -> bool:
    return _fault(name) is None


def _fault(name: str) -> str | None:
    if not name:
        return "the empty string is not allowed"
    if name in (".", ".."):
        return f"'{name}' is not allowed"
    if len(name) > LONGEST_NAME:
        return f"the length of '{name}' is longer than the max allowed length {LONGEST_NAME}"
    if not _NAME.fullmatch(name):
        return (
            f"'{name}' contains one or more characters other than "
            "ASCII alphanumerics, '.', '_' and '-'"
        )
    return None


class Collisions:
    """Names that metrics cannot tell apart, since there a '.' is written as '_'."""

    def __init__(self, existing: Iterable[str]) -> None:
        self._by_metric_name: dict[str, list[str]] = {}
        for name in existing:
            self.add(name)

    def add(self, name: str) -> None:
        if _can_collide(name):
            self._by_metric_name.setdefault(_metric_name(name), []).append(name)

    def check(self, name: str) -> None:
        if _can_collide(name) and (alike := self._by_metric_name.get(_metric_name(name))):
            raise KafkaError(
                ErrorCode.INVALID_TOPIC_EXCEPTION,
                f"Topic '{name}' collides with existing topics: {', '.join(alike)}",
            )


def _can_collide(name: str) -> bool:
    return "." in name or "_" in name


def _metric_name(name: str) -> str:
    return name.replace(".", "_")
