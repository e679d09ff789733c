"""The codec written plainly: field by field, with the path and the offset always at hand.

Slow, and the one to read first. It explains what a compiled reader or writer refused, and the tests
hold the compiled ones against it.
"""

from __future__ import annotations

from struct import Struct as Packing
from struct import error as StructError
from typing import Any

from ottla.protocol.errors import ProtocolError
from ottla.protocol.layout import ArrayOf, Slot, default_of, layout_of, null_marker
from ottla.protocol.primitives import (
    LONGEST_STRING,
    RECORDS,
    STRING,
    UNSIGNED_VARINT,
    Fixed,
    Sized,
    Varying,
)
from ottla.protocol.schema import Message, Struct
from ottla.protocol.varint import write_uvarint


def explain_read(cls: type[Message], buf: bytes, version: int, offset: int) -> ProtocolError:
    """Why these bytes are not this message."""
    try:
        PlainReader(cls, version, buf, offset).message()
    except ProtocolError as error:
        return error
    return ProtocolError(
        "the bytes cannot be read", reading=f"{cls.__name__} v{version}", offset=offset
    )


def explain_write(message: Message, version: int) -> ProtocolError:
    """Why this message cannot be written in this version."""
    writer = PlainWriter(message, version)
    try:
        writer.message()
    except ProtocolError as error:
        return error
    return ProtocolError("the message cannot be written", reading=writer.reading)


class PlainReader:
    """Reads one message; `path` names the field that is being read."""

    def __init__(self, cls: type[Message], version: int, buf: bytes, pos: int = 0) -> None:
        self._cls = cls
        self._version = version
        self._flexible = cls.is_flexible(version)
        self._buf = buf
        self._end = len(buf)
        self.pos = pos

    def message(self) -> Message:
        message = self._struct(self._cls, "")
        assert isinstance(message, Message)
        return message

    def _fail(self, path: str, cause: str, at: int) -> ProtocolError:
        reading = f"{self._cls.__name__} v{self._version}"
        return ProtocolError(cause, reading=reading, path=path, offset=at)

    def _take(self, size: int, path: str, what: str) -> bytes:
        left = self._end - self.pos
        if size > left:
            raise self._fail(path, f"{what} needs {size} bytes, {left} are left", self.pos)
        content = self._buf[self.pos : self.pos + size]
        self.pos += size
        return content

    def _varying(self, kind: Varying, path: str) -> int:
        try:
            value, self.pos = kind.read(self._buf[: self._end], self.pos)
        except IndexError:
            raise self._fail(path, f"the bytes end inside the {kind.name}", self.pos) from None
        except ValueError as error:
            raise self._fail(path, str(error), self.pos) from None
        return value

    def _fixed(self, code: str, path: str, what: str) -> Any:
        packing = Packing(">" + code)
        return packing.unpack(self._take(packing.size, path, what))[0]

    def _struct(self, cls: type[Struct], path: str) -> Struct:
        layout = layout_of(cls, self._version, flexible=self._flexible)
        struct = cls.__new__(cls)
        struct.unknown_tags = ()
        for slot in [slot for slot, _ in layout.absent] + layout.tagged:
            setattr(struct, slot.name, default_of(slot))
        for slot in layout.inline:
            setattr(struct, slot.name, self._value(slot, _join(path, slot.name)))
        if self._flexible:
            self._tags(struct, {slot.tag: slot for slot in layout.tagged}, path)
        return struct

    def _tags(self, struct: Struct, known: dict[int | None, Slot], path: str) -> None:
        here = _join(path, "(tags)")
        unknown, previous = [], -1
        for _ in range(self._varying(UNSIGNED_VARINT, here)):
            at = self.pos
            tag = self._varying(UNSIGNED_VARINT, here)
            if tag <= previous:
                raise self._fail(here, f"tag {tag} after tag {previous}: tags must ascend", at)
            previous = tag
            size = self._varying(UNSIGNED_VARINT, here)
            if tag not in known:
                unknown.append((tag, self._take(size, here, f"tag {tag}")))
                continue
            self._known_tag(struct, known[tag], size, _join(path, known[tag].name))
        if unknown:
            struct.unknown_tags = unknown

    def _known_tag(self, struct: Struct, slot: Slot, size: int, path: str) -> None:
        start, outer_end = self.pos, self._end
        self._take(size, path, "the tagged field")
        self.pos, self._end = start, start + size
        setattr(struct, slot.name, self._value(slot, path))
        if self.pos != self._end:
            cause = f"the tagged field says {size} bytes, its value takes {self.pos - start}"
            raise self._fail(path, cause, start)
        self._end = outer_end

    def _length(self, slot: Slot, code: str, path: str) -> int:
        """A length or count; -1 is null."""
        at = self.pos
        if slot.compact:
            length = self._varying(UNSIGNED_VARINT, path) - 1
        else:
            length = self._fixed(code, path, "a length")
        if length < -1:
            raise self._fail(path, f"the length {length} is negative", at)
        if length == -1 and not slot.nullable:
            raise self._fail(path, "null is not allowed here", at)
        return length

    def _value(self, slot: Slot, path: str) -> Any:
        kind = slot.kind
        if isinstance(kind, Fixed):
            return self._fixed(kind.code, path, f"{kind.name}")
        if isinstance(kind, Varying):
            return self._varying(kind, path)
        if isinstance(kind, Sized):
            return self._sized(kind, slot, path)
        if isinstance(kind, ArrayOf):
            return self._array(kind, slot, path)
        if slot.nullable:
            at = self.pos
            marker = self._fixed("b", path, "the null marker")
            if marker == null_marker(slot):
                return None
            if marker != 1:
                cause = f"the null marker is {marker}, not 1 or {null_marker(slot)}"
                raise self._fail(path, cause, at)
        return self._struct(kind, path)

    def _sized(self, kind: Sized, slot: Slot, path: str) -> Any:
        length = self._length(slot, kind.length_code, path)
        if length == -1:
            return None
        at = self.pos
        if kind is STRING and length > LONGEST_STRING:
            raise self._fail(path, f"a string of {length} bytes is too long", at)
        content = self._take(length, path, f"{kind.name} of length {length}")
        if kind is RECORDS:
            return memoryview(content)
        if kind is not STRING:
            return content
        try:
            return content.decode()
        except UnicodeDecodeError as error:
            raise self._fail(path, f"not UTF-8: {error.reason}", at + error.start) from None

    def _array(self, kind: ArrayOf, slot: Slot, path: str) -> list[Any] | None:
        at = self.pos
        count = self._length(slot, "i", path)
        if count == -1:
            return None
        left = self._end - self.pos
        least = kind.element.size if isinstance(kind.element, Fixed) else 1
        if count * least > left:
            raise self._fail(path, f"an array of {count} does not fit into {left} bytes", at)
        element = Slot(slot.name, kind.element, False, slot.compact, None, None)
        return [self._value(element, f"{path}[{index}]") for index in range(count)]


class PlainWriter:
    """Writes one message; a value that does not fit is named by its path."""

    def __init__(self, message: Message, version: int) -> None:
        self._message = message
        self._version = version
        self._flexible = message.is_flexible(version)
        self.reading = f"{type(message).__name__} v{version}"

    def message(self) -> bytes:
        return self._struct(self._message, "")

    def _fail(self, path: str, cause: str) -> ProtocolError:
        return ProtocolError(cause, reading=self.reading, path=path)

    def _struct(self, struct: Struct, path: str) -> bytes:
        layout = layout_of(type(struct), self._version, flexible=self._flexible)
        for slot, declared in layout.absent:
            value = self._get(struct, slot, path)
            if not declared.ignorable and value != default_of(slot):
                raise self._fail(_join(path, slot.name), f"this version has no place for {value!r}")
        out = b"".join(
            self._value(slot, self._get(struct, slot, path), _join(path, slot.name))
            for slot in layout.inline
        )
        return out + self._tags(struct, layout.tagged, path) if self._flexible else out

    def _get(self, struct: Struct, slot: Slot, path: str) -> Any:
        try:
            return getattr(struct, slot.name)
        except AttributeError:
            raise self._fail(_join(path, slot.name), "the field was never set") from None

    def _tags(self, struct: Struct, tagged: list[Slot], path: str) -> bytes:
        tags = list(struct.unknown_tags)
        for slot in tagged:
            value = self._get(struct, slot, path)
            if value != default_of(slot):
                assert slot.tag is not None
                tags.append((slot.tag, self._value(slot, value, _join(path, slot.name))))
        out = [write_uvarint(len(tags))]
        for tag, content in sorted(tags):
            out += [write_uvarint(tag), write_uvarint(len(content)), content]
        return b"".join(out)

    def _value(self, slot: Slot, value: Any, path: str) -> bytes:
        kind = slot.kind
        if value is None and not slot.nullable:
            raise self._fail(path, "null is not allowed here")
        try:
            if isinstance(kind, Fixed):
                if kind.name == "uuid" and len(value) != kind.size:
                    raise self._fail(path, f"a uuid has {kind.size} bytes, not {len(value)}")
                return Packing(">" + kind.code).pack(value)
            if isinstance(kind, Varying):
                return kind.write(value)
            if isinstance(kind, Sized):
                content = value.encode() if kind is STRING and value is not None else value
                if kind is STRING and content is not None and len(content) > LONGEST_STRING:
                    raise self._fail(path, f"a string of {len(content)} bytes is too long")
                data = b"" if content is None else bytes(memoryview(content))
                return self._length(slot, kind.length_code, content) + data
            if isinstance(kind, ArrayOf):
                return self._array(kind, slot, value, path)
            if value is None:
                return null_marker(slot).to_bytes(1, "big", signed=True)
            return (b"\x01" if slot.nullable else b"") + self._struct(value, path)
        except (StructError, TypeError, AttributeError, ValueError, OverflowError) as error:
            name = kind.name if isinstance(kind, Fixed | Varying | Sized) else "this field"
            raise self._fail(path, f"{name} cannot hold {value!r:.80}: {error}") from None

    def _length(self, slot: Slot, code: str, content: Any) -> bytes:
        length = -1 if content is None else len(content)
        return write_uvarint(length + 1) if slot.compact else Packing(">" + code).pack(length)

    def _array(self, kind: ArrayOf, slot: Slot, values: Any, path: str) -> bytes:
        element = Slot(slot.name, kind.element, False, slot.compact, None, None)
        out = [self._length(slot, "i", values)]
        for index, value in enumerate(values or ()):
            out.append(self._value(element, value, f"{path}[{index}]"))
        return b"".join(out)


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
