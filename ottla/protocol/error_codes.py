"""The error codes in an answer, wherever they stand in it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from ottla.protocol.layout import ArrayOf, kind_of
from ottla.protocol.schema import Struct


def errors_in(struct: Struct) -> Iterator[int]:
    """Not those that say that all is well."""
    has_code, below = _places(type(struct))
    if has_code and (code := struct.error_code):  # type: ignore[attr-defined]
        yield code
    for name in below:
        for each in getattr(struct, name) or ():
            yield from errors_in(each)


@cache
def _places(cls: type[Struct]) -> tuple[bool, tuple[str, ...]]:
    """Whether it has a code itself, and which of its arrays hold structs that have some."""
    below = []
    for declared in cls.fields:
        kind, _ = kind_of(declared.annotation)
        if isinstance(kind, ArrayOf) and isinstance(kind.element, type):
            has_code, deeper = _places(kind.element)
            if has_code or deeper:
                below.append(declared.name)
    return any(declared.name == "error_code" for declared in cls.fields), tuple(below)
