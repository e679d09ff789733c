"""Prepared `struct`s for fields with integer arrays among them, by length."""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct as Packing
from typing import Any, Literal

_LONGEST_KEPT = 64
_MOST_KEPT = 1_000


class Packings(dict[Any, Callable[..., Any]]):
    """`pack` or `unpack_from` by the lengths of the arrays: a number, or a tuple for several.

    The template is a struct format with `{}` where a length goes: `ii{}i` is an integer, a count
    and that many integers.
    """

    def __init__(self, method: Literal["pack", "unpack_from"], template: str) -> None:
        super().__init__()
        self._method = method
        self._template = ">" + template

    def __missing__(self, lengths: int | tuple[int, ...]) -> Callable[..., Any]:
        counts = [max(n, 0) for n in (lengths if isinstance(lengths, tuple) else (lengths,))]
        # A count that lies makes a struct larger than any buffer: it costs nothing until used.
        packing = Packing(self._template.format(*counts))
        made: Callable[..., Any] = getattr(packing, self._method)
        if max(counts) <= _LONGEST_KEPT and len(self) < _MOST_KEPT:
            self[lengths] = made
        return made
