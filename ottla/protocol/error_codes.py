"""The error codes in an answer, wherever they stand in it."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from ottla.protocol.layout import ArrayOf, kind_of
from ottla.protocol.schema import Struct


class _Places(NamedTuple):
    """Whether a struct has a code itself, and the arrays of it that hold some."""

    has_code: bool
    flat: tuple[str, ...]  # of structs that have one themselves, and nothing below
    deep: tuple[str, ...]


def errors_in(struct: Struct) -> list[int]:
    """Not those that say that all is well. Every answer is looked at, so there are few calls."""
    has_code, flat, deep = _places(type(struct))
    found: list[int] = []
    if has_code and (code := struct.error_code):  # type: ignore[attr-defined]
        found.append(code)
    for name in flat:
        found += [code for each in getattr(struct, name) or () if (code := each.error_code)]
    for name in deep:
        for each in getattr(struct, name) or ():
            found += errors_in(each)
    return found


@cache
def _places(cls: type[Struct]) -> _Places:
    flat, deep = [], []
    for declared in cls.fields:
        kind, _ = kind_of(declared.annotation)
        if isinstance(kind, ArrayOf) and isinstance(kind.element, type):
            below = _places(kind.element)
            if below.flat or below.deep:
                deep.append(declared.name)
            elif below.has_code:
                flat.append(declared.name)
    has_code = any(declared.name == "error_code" for declared in cls.fields)
    return _Places(has_code, tuple(flat), tuple(deep))
