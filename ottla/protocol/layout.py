"""A declared struct in one version: which fields it has, in which form, with which defaults."""

from __future__ import annotations

from types import UnionType
from typing import Annotated, Any, NamedTuple, TypeAlias, TypeGuard, Union, get_args, get_origin

from ottla.protocol.primitives import BOOLEAN, BYTES, STRING, Fixed, Sized, Varying
from ottla.protocol.schema import MISSING, Field, Struct


class ArrayOf(NamedTuple):
    element: Kind


Kind: TypeAlias = Fixed | Varying | Sized | ArrayOf | type[Struct]

_PLAIN: dict[Any, Kind] = {bool: BOOLEAN, str: STRING, bytes: BYTES}


class Slot(NamedTuple):
    """A field in one version."""

    name: str
    kind: Kind
    nullable: bool
    compact: bool
    default: Any
    tag: int | None


class Layout(NamedTuple):
    """A struct in one version: what stands in line, what is tagged, and what this version lacks."""

    inline: list[Slot]
    tagged: list[Slot]
    absent: list[tuple[Slot, Field]]


def layout_of(cls: type[Struct], version: int, *, flexible: bool) -> Layout:
    layout = Layout([], [], [])
    for declared in cls.fields:
        slot = _slot(declared, version, flexible=flexible)
        if not declared.exists_in(version):
            layout.absent.append((slot, declared))
        elif declared.tag is not None:
            layout.tagged.append(slot)
        else:
            layout.inline.append(slot)
    layout.tagged.sort(key=lambda slot: slot.tag or 0)
    return layout


def default_of(slot: Slot) -> Any:
    """A value of its own each time, so that no two messages share a list or a struct."""
    if isinstance(slot.default, list):
        return list(slot.default)
    if slot.default is not MISSING:
        return slot.default
    return zero_of(slot.kind)


def zero_of(kind: Kind) -> Any:
    """What Kafka takes for a field that declares no default."""
    if isinstance(kind, ArrayOf):
        return []
    if isinstance(kind, type):
        struct = kind.__new__(kind)
        struct.unknown_tags = ()
        for declared in kind.fields:
            setattr(struct, declared.name, default_of(_slot(declared, 0, flexible=False)))
        return struct
    return kind.zero


def _slot(declared: Field, version: int, *, flexible: bool) -> Slot:
    kind, optional = kind_of(declared.annotation)
    nullable_since = declared.nullable_since
    if nullable_since is None and optional and not _is_absent_as_none(declared, kind):
        nullable_since = declared.since
    return Slot(
        name=declared.name,
        kind=kind,
        nullable=nullable_since is not None and version >= nullable_since,
        compact=flexible and declared.compact,
        default=declared.default,
        tag=declared.tag,
    )


def is_number(kind: Kind) -> TypeGuard[Fixed]:
    """Whether `struct` can take many of them at once by a count before the letter."""
    return isinstance(kind, Fixed) and len(kind.code) == 1


def null_marker(slot: Slot) -> int:
    """The byte that stands for a null struct; 1 stands for one that is there."""
    return 0 if slot.tag is not None else -1


def _is_absent_as_none(declared: Field, kind: Kind) -> bool:
    """The None of a tagged struct means that the tag is not there; there is no null on the wire."""
    return declared.tag is not None and isinstance(kind, type)


def kind_of(annotation: Any) -> tuple[Kind, bool]:
    """The wire type behind a Python annotation, and whether it says `| None`."""
    origin = get_origin(annotation)
    if origin in (Union, UnionType):
        inner = [option for option in get_args(annotation) if option is not type(None)]
        assert len(inner) == 1, f"{annotation}: a field has one type, and perhaps None"
        return kind_of(inner[0])[0], True
    if origin is list:
        return ArrayOf(kind_of(get_args(annotation)[0])[0]), False
    if origin is Annotated:
        kind: Kind = annotation.__metadata__[0]
        return kind, False
    if isinstance(annotation, type) and issubclass(annotation, Struct):
        return annotation, False
    assert annotation in _PLAIN, f"{annotation} is not a type of the wire"
    return _PLAIN[annotation], False
