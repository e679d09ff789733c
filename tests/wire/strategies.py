"""Hypothesis strategies for the value of any message in any version.

Small on the whole, for speed, but with the corners always within reach: extreme integers, texts and
arrays whose length takes two bytes as a varint, nulls, and tags that nobody knows.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from hypothesis import strategies as st

from ottla.protocol.layout import ArrayOf, Kind, Slot, default_of, layout_of
from ottla.protocol.primitives import STRING, Fixed, Sized, Varying
from ottla.protocol.schema import Message, Struct
from tests.wire.subjects import Subject

Strategy = st.SearchStrategy[Any]

_BITS = {"b": 8, "h": 16, "i": 32, "q": 64}
_UNSIGNED_BITS = {"H": 16, "I": 32}
_LONG_TEXTS = ["x" * 126, "x" * 127, "x" * 128, "ü" * 64, "日本語" * 100, "🚀" * 33, "\0" * 300]
_LONG_BYTES = [b"\xff" * 126, b"\x80" * 127, bytes(128), bytes(range(256)) * 2]


class _Form(NamedTuple):
    """What holds for a whole message."""

    version: int
    flexible: bool
    unknown_tags: bool


def messages(subject: Subject, *, unknown_tags: bool = True) -> st.SearchStrategy[Message]:
    """Any value that this version of the message can carry."""
    cls, version = subject
    return _structs(cls, _Form(version, cls.is_flexible(version), unknown_tags))


@cache
def _structs(cls: type[Struct], form: _Form) -> Strategy:
    layout = layout_of(cls, form.version, flexible=form.flexible)
    values = {slot.name: st.builds(default_of, st.just(slot)) for slot, _ in layout.absent}
    for slot in layout.inline:
        values[slot.name] = _values(slot, form)
    for slot in layout.tagged:
        # Often its default, which is not written; None stands for a struct that is not there.
        values[slot.name] = st.builds(default_of, st.just(slot)) | _values(slot, form)
    if form.flexible and form.unknown_tags:
        values["unknown_tags"] = _unknown_tags(frozenset(slot.tag for slot in layout.tagged))
    return st.fixed_dictionaries(values).map(lambda found: _fill(cls, found))


def _fill(cls: type[Struct], values: dict[str, Any]) -> Struct:
    struct = cls.__new__(cls)
    struct.unknown_tags = ()
    for name, value in values.items():
        setattr(struct, name, value)
    return struct


def _values(slot: Slot, form: _Form) -> Strategy:
    strategy = _kind(slot.kind, form)
    return st.none() | strategy if slot.nullable else strategy


def _kind(kind: Kind, form: _Form) -> Strategy:
    if isinstance(kind, Fixed):
        return _fixed(kind)
    if isinstance(kind, Varying):
        return _integers(64 if kind.name == "varlong" else 31)
    if isinstance(kind, Sized):
        return _TEXTS if kind is STRING else _BYTES
    if isinstance(kind, ArrayOf):
        element = _kind(kind.element, form)
        few = st.lists(element, max_size=2)
        # A struct in such a number would take too long; a flat element does as well.
        return few if isinstance(kind.element, type) else few | element.map(lambda one: [one] * 130)
    return _structs(kind, form)


@cache
def _fixed(kind: Fixed) -> Strategy:
    if kind.name == "uuid":
        return st.binary(min_size=16, max_size=16)
    if kind.name == "boolean":
        return st.booleans()
    if kind.name == "float64":
        return st.floats(allow_nan=False)
    if kind.code in _UNSIGNED_BITS:
        most = 2 ** _UNSIGNED_BITS[kind.code] - 1
        return st.sampled_from([0, 1, most // 2, most]) | st.integers(0, most)
    return _integers(_BITS[kind.code])


def _integers(bits: int) -> Strategy:
    least, most = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    return st.sampled_from([0, 1, -1, least, most]) | st.integers(least, most)


def _unknown_tags(known: frozenset[int | None]) -> Strategy:
    tags = st.sampled_from([0, 77, 127, 128, 99_999, 2**31 - 1]).filter(lambda n: n not in known)
    drawn = st.dictionaries(tags, _BYTES, max_size=2)
    return st.just(()) | drawn.map(lambda found: sorted(found.items()) or ())


_TEXTS = st.sampled_from(["", "a", "größe", "日本", *_LONG_TEXTS]) | st.text(max_size=8)
_BYTES = st.sampled_from([b"", b"\0", *_LONG_BYTES]) | st.binary(max_size=8)
