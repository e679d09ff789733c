"""Compiles a declared struct into a function that writes one version of it.

As in `reader.py`: source made once for each version, nested structs inlined, neighbouring
fixed-size values and the length of what follows packed by one call. The pieces go to `add`, to be
joined once.
"""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct as Packing
from typing import Any, NamedTuple

from ottla.protocol.layout import (
    ArrayOf,
    Kind,
    Slot,
    default_of,
    is_number,
    layout_of,
    null_marker,
)
from ottla.protocol.packings import Packings
from ottla.protocol.primitives import (
    LONGEST_STRING,
    RECORDS,
    STRING,
    ZERO_UUID,
    Fixed,
    Sized,
    Varying,
)
from ottla.protocol.schema import Struct
from ottla.protocol.source import Source
from ottla.protocol.varint import write_uvarint

Add = Callable[[bytes], None]
Writer = Callable[[Any, Add], None]


class Unwritable(ValueError):
    """A value does not fit the version; which one is found by the plain writer."""


def compile_writer(cls: type[Struct], version: int, *, flexible: bool) -> Writer:
    source = _Source(version, flexible=flexible)
    source.struct("o", cls)
    return source.function(f"{cls.__name__} v{version}")


def _compile_tag(slot: Slot, version: int) -> Writer:
    source = _Source(version, flexible=True)
    source.value(slot, f"o.{slot.name}")
    return source.function(f"tagged field {slot.name} v{version}")


class _Waiting(NamedTuple):
    """A value to be packed: its struct letter, its expression, and the length if it is an array."""

    code: str
    value: str = ""
    length: str = ""


class _Source:
    """The lines of one function, and the values waiting to be packed together."""

    def __init__(self, version: int, *, flexible: bool) -> None:
        self._version = version
        self._flexible = flexible
        self._run: list[_Waiting] = []
        self._code = Source(
            Unwritable=Unwritable,
            view=memoryview,
            write_uvarint=write_uvarint,
            write_tags=_write_tags,
        )
        self.line = self._code.line

    def function(self, title: str) -> Writer:
        """A function of the struct, `o`, and of what takes the pieces, `add`."""
        self.flush()
        self.line("return None")
        writer: Writer = self._code.function("o, add", f"writer of {title}")
        return writer

    def struct(self, variable: str, cls: type[Struct]) -> None:
        layout = layout_of(cls, self._version, flexible=self._flexible)
        for slot, declared in layout.absent:
            if not declared.ignorable:
                self.line(f"if {self._differs(variable, slot)}: raise Unwritable")
        for slot in layout.inline:
            self.value(slot, f"{variable}.{slot.name}")
        if self._flexible:
            self._tags(variable, layout.tagged)

    def value(self, slot: Slot, source: str) -> None:
        kind = slot.kind
        if isinstance(kind, Fixed):
            whole = source if is_number(kind) else f"{self._code.name(_whole_uuid)}({source})"
            self._run.append(_Waiting(kind.code, whole))
        elif isinstance(kind, Varying):
            self.flush()
            self.line(f"add({self._code.name(kind.write)}({source}))")
        elif isinstance(kind, Sized):
            self._sized(kind, slot, source)
        elif isinstance(kind, ArrayOf):
            self._array(kind.element, slot, source)
        else:
            self._nested(kind, slot, source)

    def flush(self) -> None:
        """Pack the waiting values with one call."""
        if self._run:
            self.line(f"add({self._packed(self._run)})")
            self._run = []

    def _packed(self, run: list[_Waiting]) -> str:
        values = ", ".join(waiting.value for waiting in run if waiting.value)
        codes = "".join(waiting.code for waiting in run)
        lengths = ", ".join(waiting.length for waiting in run if waiting.length)
        if lengths:
            return f"{self._code.name(Packings('pack', codes))}[{lengths}]({values})"
        if values:
            return f"{self._code.name(Packing('>' + codes).pack)}({values})"
        return repr(bytes(len(codes)))

    def _differs(self, variable: str, slot: Slot) -> str:
        """An expression that is true when the value is not the field's default."""
        value, default = f"{variable}.{slot.name}", default_of(slot)
        if default is None:
            return f"{value} is not None"
        if isinstance(default, Struct):
            return f"{value} != {self._code.name(default)}"
        return f"{value} != {default!r}"

    def _tags(self, variable: str, tagged: list[Slot]) -> None:
        """The tag buffer: nearly always the one byte that says there is none."""
        tests = [self._differs(variable, slot) for slot in tagged]
        writers = [(slot.tag, _test(slot), _compile_tag(slot, self._version)) for slot in tagged]
        run, self._run = self._run, []
        self.line(f"if {' or '.join([f'{variable}.unknown_tags', *tests])}:")
        packed = f"add({self._packed(run)}); " if run else ""
        self.line(f"    {packed}write_tags({variable}, {self._code.name(writers)}, add)")
        self.line("else:")
        self.line(f"    add({self._packed([*run, _Waiting('x')])})")

    def _length(self, slot: Slot, code: str) -> None:
        """Writes the length in `n` together with what waits."""
        run, self._run = self._run, []
        if not slot.compact:
            self.line(f"add({self._packed([*run, _Waiting(code, 'n')])})")
            return
        self.line("n += 1")
        self.line(f"if n < 128: add({self._packed([*run, _Waiting('B', 'n')])})")
        before = f"add({self._packed(run)}); " if run else ""
        self.line(f"else: {before}add(write_uvarint(n))")

    def _sized(self, kind: Sized, slot: Slot, source: str) -> None:
        # A view of what has no bytes fails here; as a piece it would fail only when all are joined.
        encoded = "s = s.encode(); n = len(s)" if kind is STRING else "n = view(s).nbytes"
        if kind is RECORDS:
            encoded = "n = s.size_bytes if hasattr(s, 'size_bytes') else view(s).nbytes"
        self.line(f"s = {source}")
        if slot.nullable:
            self.line("if s is None: n = -1; s = b''")
            self.line(f"else: {encoded}")
        else:
            self.line(encoded)
        if kind is STRING and slot.compact:
            self.line(f"if n > {LONGEST_STRING}: raise Unwritable")
        self._length(slot, kind.length_code)
        self.line("if s: add(s)")

    def _array(self, element: Kind, slot: Slot, source: str) -> None:
        items, count = self._code.variable("a"), self._code.variable("n")
        self.line(f"{items} = {source}")
        if slot.nullable:
            self.line(f"if {items} is None: {count} = -1; {items} = ()")
            self.line(f"else: {count} = len({items})")
        else:
            self.line(f"{count} = len({items})")
        if slot.compact or not is_number(element):
            self.line(f"n = {count}")
            self._length(slot, "i")
        else:
            self._run.append(_Waiting("i", count))
        if is_number(element):
            self._run.append(_Waiting("{}" + element.code, f"*{items}", count))
        else:
            self._loop(element, slot, items)

    def _loop(self, element: Kind, slot: Slot, items: str) -> None:
        item = self._code.variable("o")
        with self._code.block(f"for {item} in {items}:"):
            if isinstance(element, type):
                self.struct(item, element)
            else:
                self.value(Slot(slot.name, element, False, slot.compact, None, None), item)
            self.flush()

    def _nested(self, kind: type[Struct], slot: Slot, source: str) -> None:
        variable = self._code.variable("o")
        self.line(f"{variable} = {source}")
        if slot.nullable:
            self.flush()
            null = null_marker(slot).to_bytes(1, "big", signed=True)
            self.line(f"if {variable} is None: add({null!r})")
            with self._code.block("else:"):
                self.line("add(b'\\x01')")
                self.struct(variable, kind)
                self.flush()
        else:
            self.struct(variable, kind)


def _whole_uuid(uuid: bytes) -> bytes:
    """`struct` would fill up a short one and cut off a long one, silently."""
    if len(uuid) != len(ZERO_UUID):
        raise Unwritable
    return uuid


def _test(slot: Slot) -> Callable[[Struct], bool]:
    """Whether a tagged field must be written: its default never is."""
    default = default_of(slot)
    return lambda struct: bool(getattr(struct, slot.name) != default)


def _write_tags(
    struct: Struct, known: list[tuple[int, Callable[[Struct], bool], Writer]], add: Add
) -> None:
    tags = list(struct.unknown_tags)
    for tag, is_written, write in known:
        if is_written(struct):
            parts: list[bytes] = []
            write(struct, parts.append)
            tags.append((tag, b"".join(parts)))
    tags.sort()
    add(write_uvarint(len(tags)))
    for tag, content in tags:
        add(write_uvarint(tag) + write_uvarint(len(content)) + content)
