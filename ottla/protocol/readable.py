"""Messages as JSON, in the form Kafka's own tools print: lowerCamelCase names, bytes in base64."""

from __future__ import annotations

from base64 import b64encode, urlsafe_b64encode
from typing import Any

from ottla.protocol.layout import ArrayOf, Kind, default_of, layout_of
from ottla.protocol.primitives import STRING, Fixed, Sized
from ottla.protocol.schema import Message, Struct


def to_json(message: Message, version: int) -> dict[str, Any]:
    """What the message holds in this version. A tagged field with its default is left out."""
    return _struct(message, version, flexible=message.is_flexible(version))


def json_name(field_name: str) -> str:
    """`throttle_time_ms` is `throttleTimeMs` to Kafka."""
    first, *rest = field_name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def uuid_text(uuid: bytes) -> str:
    """An id as Kafka prints it: 22 characters, URL-safe."""
    return urlsafe_b64encode(uuid).decode().rstrip("=")


def _struct(struct: Struct, version: int, *, flexible: bool) -> dict[str, Any]:
    layout = layout_of(type(struct), version, flexible=flexible)
    tagged = [slot for slot in layout.tagged if getattr(struct, slot.name) != default_of(slot)]
    present = {slot.name: slot for slot in layout.inline + tagged}
    # In the order of the declaration, as a reader of the protocol's tables expects.
    return {
        json_name(name): _value(present[name].kind, getattr(struct, name), version, flexible)
        for name in struct.__slots__
        if name in present
    }


def _value(kind: Kind, value: Any, version: int, flexible: bool) -> Any:
    if value is None:
        return None
    if isinstance(kind, ArrayOf):
        return [_value(kind.element, item, version, flexible) for item in value]
    if isinstance(kind, type):
        return _struct(value, version, flexible=flexible)
    if isinstance(kind, Fixed) and kind.name == "uuid":
        return uuid_text(value)
    if isinstance(kind, Sized) and kind is not STRING:
        return b64encode(value).decode()
    return value
