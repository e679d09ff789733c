"""Lists in parts: those for which something holds and the others; or so many at a time (pure)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


def split(items: Iterable[T], holds: Callable[[T], object]) -> tuple[list[T], list[T]]:
    """Those for which it holds, then the others."""
    yes: list[T] = []
    no: list[T] = []
    for item in items:
        (yes if holds(item) else no).append(item)
    return yes, no


def chunks(items: Iterable[T], size: int) -> Iterator[list[T]]:
    remaining = iter(items)
    while some := list(islice(remaining, size)):
        yield some
