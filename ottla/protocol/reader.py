"""Compiles a declared struct into a function that reads one version of it.

The function is Python source made once for each version: nested structs are inlined, and
neighbouring fields of fixed size, the length of what follows included, are taken by one
`unpack_from`. It checks as little as safety allows and does not say where it failed: `plain.py`
finds that out afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from struct import Struct as Packing
from typing import Any

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
from ottla.protocol.primitives import LONGEST_STRING, RECORDS, STRING, Fixed, Sized, Varying
from ottla.protocol.schema import Struct
from ottla.protocol.source import Source
from ottla.protocol.varint import continue_uvarint, read_uvarint

Reader = Callable[[bytes, int], tuple[Any, int]]
TagReader = Callable[[Any, bytes, int, int], int]


class Malformed(ValueError):
    """The bytes are wrong; where and why is found by the plain reader."""


def compile_reader(cls: type[Struct], version: int, *, flexible: bool) -> Reader:
    source = _Source(version, flexible=flexible)
    source.line("end = len(buf)")
    source.new("o", cls)
    source.struct("o", cls)
    source.flush()
    source.line("if pos > end: raise Malformed")
    source.line("return o, pos")
    reader: Reader = source.function("buf, pos", f"{cls.__name__} v{version}")
    return reader


def _compile_tag(slot: Slot, version: int) -> TagReader:
    """A function that reads one tagged field into its struct and returns where it ended."""
    source = _Source(version, flexible=True)
    source.value(slot, f"o.{slot.name}")
    source.flush()
    source.line("return pos")
    reader: TagReader = source.function("o, buf, pos, end", f"tagged field {slot.name} v{version}")
    return reader


class _Source:
    """The lines of one function, and the fixed-size values waiting to be unpacked together."""

    def __init__(self, version: int, *, flexible: bool) -> None:
        self._version = version
        self._flexible = flexible
        self._run: list[tuple[str, str]] = []  # (struct letter, where the value goes)
        self._code = Source(
            Malformed=Malformed,
            new=object.__new__,
            continue_uvarint=continue_uvarint,
            read_tags=_read_tags,
        )
        self.line = self._code.line

    def function(self, parameters: str, title: str) -> Any:
        return self._code.function(parameters, f"reader of {title}")

    def new(self, variable: str, cls: type[Struct]) -> None:
        self.line(f"{variable} = new({self._code.name(cls)})")

    def struct(self, variable: str, cls: type[Struct]) -> None:
        """Lines that fill every slot of the struct in `variable`."""
        layout = layout_of(cls, self._version, flexible=self._flexible)
        self._constants(variable, [slot for slot, _ in layout.absent] + layout.tagged)
        for slot in layout.inline:
            self.value(slot, f"{variable}.{slot.name}")
        if self._flexible:
            known = {slot.tag: _compile_tag(slot, self._version) for slot in layout.tagged}
            self._run.append(("B", "n"))
            self.flush()
            tags = f"read_tags({variable}, buf, pos, n, {self._code.name(known)}, end)"
            self.line(f"if n: pos = {tags}")

    def value(self, slot: Slot, target: str) -> None:
        kind = slot.kind
        if isinstance(kind, Fixed):
            self._run.append((kind.code, target))
        elif isinstance(kind, Varying):
            self.flush()
            self.line(f"{target}, pos = {self._code.name(kind.read)}(buf, pos)")
        elif isinstance(kind, Sized):
            self._sized(kind, slot, target)
        elif isinstance(kind, ArrayOf):
            self._array(kind.element, slot, target)
        else:
            self._nested(kind, slot, target)

    def flush(self) -> None:
        """Take the waiting values with one unpack."""
        if not self._run:
            return
        codes, targets = zip(*self._run, strict=True)
        self._run = []
        if codes == ("B",):
            self.line(f"{targets[0]} = buf[pos]")
            self.line("pos += 1")
            return
        packing = Packing(">" + "".join(codes))
        self.line(f"{', '.join(targets)}, = {self._code.name(packing.unpack_from)}(buf, pos)")
        self.line(f"pos += {packing.size}")

    def _constants(self, variable: str, slots: list[Slot]) -> None:
        """Defaults of what this version lacks, and of tags until they turn up."""
        shared: dict[str, list[str]] = {"()": [f"{variable}.unknown_tags"]}
        for slot in slots:
            target = f"{variable}.{slot.name}"
            value = default_of(slot)
            if isinstance(value, list):
                self.line(f"{target} = {value!r}")
            elif isinstance(value, Struct):
                self.line(f"{target} = {self._code.name(default_of)}({self._code.name(slot)})")
            else:
                shared.setdefault(repr(value), []).append(target)
        for text, targets in shared.items():
            self.line(" = ".join([*targets, text]))

    def _length(self, slot: Slot, code: str) -> None:
        """Reads a length into `n`, which is -1 for null whatever the form."""
        if not slot.compact:
            self._run.append((code, "n"))
            self.flush()
            return
        self._run.append(("B", "n"))
        self.flush()
        self.line("if n > 127: n, pos = continue_uvarint(buf, pos, n)")
        self.line("n -= 1")

    @contextmanager
    def _if(self, there: str, slot: Slot, target: str, *, null: str) -> Iterator[None]:
        """What is added inside is for a value that is there; null and the rest are dealt with."""
        with self._code.block(f"if {there}:"):
            yield
            self.flush()
        if slot.nullable:
            self.line(f"elif {null}: {target} = None")
        self.line("else: raise Malformed")

    def _sized(self, kind: Sized, slot: Slot, target: str) -> None:
        self._length(slot, kind.length_code)
        content, there = "buf[pos:stop]", "n >= 0"
        if kind is STRING:
            content += ".decode()"
            there = f"0 <= n <= {LONGEST_STRING}" if slot.compact else there
        elif kind is RECORDS:
            content = f"{self._code.name(memoryview)}(buf)[pos:stop]"
        with self._if(there, slot, target, null="n == -1"):
            self.line("stop = pos + n")
            self.line(f"{target} = {content}")
            self.line("pos = stop")

    def _array(self, element: Kind, slot: Slot, target: str) -> None:
        self._length(slot, "i")
        with self._if("n >= 0", slot, target, null="n == -1"):
            if is_number(element):
                packings = Packings("unpack_from", "{}" + element.code)
                self.line(f"{target} = list({self._code.name(packings)}[n](buf, pos))")
                self.line(f"pos += {element.size} * n")
            else:
                self._loop(element, slot, target)

    def _loop(self, element: Kind, slot: Slot, target: str) -> None:
        item, items = self._code.variable("o"), self._code.variable("a")
        # Every element takes at least a byte, so a count beyond that lies.
        self.line("if n > end - pos: raise Malformed")
        self.line(f"{target} = {items} = []")
        with self._code.block("for _ in range(n):"):
            if isinstance(element, type):
                self.new(item, element)
                self.struct(item, element)
            else:
                self.value(Slot(slot.name, element, False, slot.compact, None, None), item)
            self.flush()
            self.line(f"{items}.append({item})")

    def _nested(self, kind: type[Struct], slot: Slot, target: str) -> None:
        variable = self._code.variable("o")
        if slot.nullable:
            self._run.append(("b", "n"))
            self.flush()
            with self._if("n == 1", slot, target, null=f"n == {null_marker(slot)}"):
                self.line(f"{target} = {variable} = new({self._code.name(kind)})")
                self.struct(variable, kind)
        else:
            self.line(f"{target} = {variable} = new({self._code.name(kind)})")
            self.struct(variable, kind)


def _read_tags(
    struct: Struct, buf: bytes, pos: int, count: int, known: dict[int, TagReader], end: int
) -> int:
    """The tag buffer of one struct, of which `count` is the first byte; unknown tags are kept."""
    if count > 127:
        count, pos = continue_uvarint(buf, pos, count)
    unknown: list[tuple[int, bytes]] = []
    previous = -1
    for _ in range(count):
        tag, pos = read_uvarint(buf, pos)
        size, pos = read_uvarint(buf, pos)
        stop = pos + size
        if tag <= previous or stop > end:
            raise Malformed
        previous = tag
        if tag in known:
            # A slice of its own, so that it cannot take bytes that belong to the next tag.
            if known[tag](struct, buf[pos:stop], 0, size) != size:
                raise Malformed
        else:
            unknown.append((tag, buf[pos:stop]))
        pos = stop
    if unknown:
        struct.unknown_tags = unknown
    return pos
