"""How a message is declared: once, as a class whose annotated fields cover all its versions.

`Struct` is a part of a message, `Message` a whole one with `@message(...)` on top. What a field is
like in one given version is asked of `layout.py`; this file only keeps what was declared.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, TypeVar, dataclass_transform

MISSING: Any = object()


class Field:
    """What one `name: type = field(...)` line declares."""

    __slots__ = (
        "annotation",
        "compact",
        "default",
        "ignorable",
        "name",
        "nullable_since",
        "since",
        "tag",
        "until",
    )

    def __init__(
        self,
        *,
        since: int,
        until: int | None,
        nullable_since: int | None,
        default: Any,
        tag: int | None,
        ignorable: bool,
        compact: bool,
    ) -> None:
        self.name = ""
        self.annotation: Any = None
        self.since = since
        self.until = until
        self.nullable_since = nullable_since
        self.default = default
        self.tag = tag
        self.ignorable = ignorable
        self.compact = compact

    def exists_in(self, version: int) -> bool:
        return self.since <= version and (self.until is None or version <= self.until)


def field(
    *,
    since: int = 0,
    until: int | None = None,
    nullable_since: int | None = None,
    default: Any = MISSING,
    tag: int | None = None,
    ignorable: bool = False,
    compact: bool = True,
) -> Any:
    """A field that is not the same in all versions, or has a default.

    since, until    the versions that have it
    nullable_since  the first version in which null is allowed (all, when the type says `| None`)
    default         the value where a version lacks it; a list is copied for every message
    tag             its number, if it is a tagged field; a tagged struct that is absent is None
    ignorable       a version without it drops the value silently; otherwise encoding is refused
    compact         False keeps the old length prefix in flexible versions (a header's client id)
    """
    return Field(
        since=since,
        until=until,
        nullable_since=nullable_since,
        default=default,
        tag=tag,
        ignorable=ignorable,
        compact=compact,
    )


class _Declaration(type):
    """Turns annotations into slots and keeps the `field(...)` values aside.

    A slot and a class attribute exclude each other, so it must happen before the class exists.
    """

    def __new__(
        mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **options: Any
    ) -> _Declaration:
        if not bases or "__slots__" in namespace:
            return super().__new__(mcs, name, bases, namespace)
        fields = []
        for field_name, annotation in namespace.get("__annotations__", {}).items():
            declared = namespace.pop(field_name, MISSING)
            if not isinstance(declared, Field):
                declared = field(default=declared)
            declared.name = field_name
            declared.annotation = annotation
            fields.append(declared)
        namespace["__slots__"] = tuple(declared.name for declared in fields)
        namespace["fields"] = tuple(fields)
        return super().__new__(mcs, name, bases, namespace)


@dataclass_transform(kw_only_default=True, field_specifiers=(field,))
class Struct(metaclass=_Declaration):
    """Some fields in wire order, and the tagged fields of a newer peer that we do not know."""

    __slots__ = ("unknown_tags",)
    fields: ClassVar[tuple[Field, ...]] = ()
    unknown_tags: Sequence[tuple[int, bytes]]

    def __init__(self, **values: Any) -> None:
        """Runs once for each class: most are never built by keyword, so it is made on first use."""
        cls = type(self)
        cls.__init__ = _constructor(cls.fields)  # type: ignore[method-assign]
        cls.__init__(self, **values)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(
            getattr(self, name) == getattr(other, name)
            for name in (*self.__slots__, "unknown_tags")
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        values = [f"{name}={getattr(self, name)!r}" for name in self.__slots__]
        if self.unknown_tags:
            values.append(f"unknown_tags={self.unknown_tags!r}")
        return f"{type(self).__name__}({', '.join(values)})"


class Message(Struct):
    """A whole message: a request, a response, a header or a stored record."""

    __slots__ = ()
    api_key: ClassVar[int]
    oldest: ClassVar[int]
    newest: ClassVar[int]
    flexible_from: ClassVar[int | None]
    readers: ClassVar[dict[int, Any]]
    writers: ClassVar[dict[int, Any]]

    @classmethod
    def is_flexible(cls, version: int) -> bool:
        return cls.flexible_from is not None and version >= cls.flexible_from


MessageType = TypeVar("MessageType", bound=type[Message])


def message(
    *, key: int = -1, oldest: int = 0, newest: int, flexible_from: int | None
) -> Callable[[MessageType], MessageType]:
    """Says which versions a message has. `key` is its API's; -1 for what is not an API."""

    def declare(cls: MessageType) -> MessageType:
        cls.api_key = key
        cls.oldest = oldest
        cls.newest = newest
        cls.flexible_from = flexible_from
        cls.readers = {}
        cls.writers = {}
        return cls

    return declare


def _constructor(fields: Sequence[Field]) -> Callable[..., None]:
    """An `__init__` with one keyword for each field. Source is the fastest way to say it."""
    defaults = {f"d{i}": declared.default for i, declared in enumerate(fields)}
    parameters, body = [], ["    self.unknown_tags = ()"]
    for i, declared in enumerate(fields):
        name = declared.name
        if declared.default is MISSING:
            parameters.append(name)
            body.append(f"    self.{name} = {name}")
        elif isinstance(declared.default, list):
            parameters.append(f"{name}=d{i}")
            body.append(f"    self.{name} = list(d{i}) if {name} is d{i} else {name}")
        else:
            parameters.append(f"{name}=d{i}")
            body.append(f"    self.{name} = {name}")
    signature = ", ".join(["self", *(["*", *parameters] if parameters else [])])
    namespace: dict[str, Any] = defaults
    exec("\n".join([f"def __init__({signature}):", *body]), namespace)
    constructor: Callable[..., None] = namespace["__init__"]
    return constructor
