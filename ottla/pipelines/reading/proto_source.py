"""The text of a .proto file as a descriptor: messages and enums of proto2 and proto3.

The protobuf package reads descriptors only, and its compiler is another program. Options (but for
`default` and `packed`), services and extensions change nothing about how a record is read, and are
passed over. Names are left as they are written: protobuf finds what they mean.
"""

from __future__ import annotations

import ast
import re
from typing import NoReturn

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
)

_TOKEN = re.compile(
    r"""
    (?P<space>\s+|//[^\n]*|/\*.*?\*/)
    |(?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
    |(?P<word>\.?[A-Za-z_][\w.]*)
    |(?P<number>[+-]?(?:0[xX][0-9a-fA-F]+|\.?\d[\w.]*(?:(?<=[eE])[+-]\d+)?))
    |(?P<symbol>[{}()\[\]<>=;,:/+-])
    """,
    re.VERBOSE | re.DOTALL,
)
_SCALARS = {
    "double": 1, "float": 2, "int64": 3, "uint64": 4, "int32": 5, "fixed64": 6, "fixed32": 7,
    "bool": 8, "string": 9, "bytes": 12, "uint32": 13, "sfixed32": 15, "sfixed64": 16,
    "sint32": 17, "sint64": 18,
}  # fmt: skip
_LABELS = {"optional": 1, "required": 2, "repeated": 3}
_CLOSING = {"{": "}", "[": "]", "<": ">", "(": ")"}


class BadProto(ValueError):
    """The text is no .proto file; the message names the line."""


def parse(text: str, name: str) -> FileDescriptorProto:
    return _Parser(text, name).file()


class _Parser:
    def __init__(self, text: str, name: str) -> None:
        self._name = name
        self._text = text
        self._tokens: list[tuple[str, int]] = []  # with the place of each
        self._at = 0
        self._is_proto3 = False
        at = 0
        while at < len(text):
            found = _TOKEN.match(text, at)
            if found is None:
                raise self._bad(at, f"{text[at]!r} has no meaning here")
            if found.lastgroup != "space":
                self._tokens.append((found[0], at))
            at = found.end()

    def _bad(self, at: int, error: str) -> BadProto:
        line = self._text.count("\n", 0, at) + 1
        return BadProto(f"{self._name}, line {line}: {error}")

    def _fail(self, wanted: str) -> NoReturn:
        token, at = [*self._tokens, ("the end", len(self._text))][self._at]
        raise self._bad(at, f"{token} stands where {wanted} should")

    def _peek(self, ahead: int) -> str:
        at = self._at + ahead
        return self._tokens[at][0] if at < len(self._tokens) else ""

    @property
    def _next(self) -> str:
        return self._peek(0)

    def _take(self) -> str:
        if self._at >= len(self._tokens):
            self._fail("more")
        self._at += 1
        return self._tokens[self._at - 1][0]

    def _expect(self, token: str) -> None:
        if self._next != token:
            self._fail(repr(token))
        self._at += 1

    def _took(self, token: str) -> bool:
        self._at += (took := self._next == token)
        return took

    def _word(self) -> str:
        if not re.fullmatch(r"\.?[A-Za-z_][\w.]*", self._next):
            self._fail("a name")
        return self._take()

    def _number(self) -> int:
        try:
            return int(self._next, 8 if re.fullmatch(r"[+-]?0[0-7]+", self._next) else 0)
        except ValueError:
            self._fail("a whole number")
        finally:
            self._at += 1

    def _string(self) -> str:
        parts = []
        while self._next[:1] in ("'", '"') and self._next:
            parts.append(str(ast.literal_eval(self._take())))
        if not parts:
            self._fail("a string")
        return "".join(parts)

    def _skip(self) -> None:
        """A statement to its semicolon or to the end of its block."""
        while (token := self._take()) != ";":
            if token in _CLOSING:
                self._skip_block(_CLOSING[token])
                if token == "{" and self._next != ";":
                    return

    def _skip_block(self, closing: str) -> None:
        while (token := self._take()) != closing:
            if token in _CLOSING:
                self._skip_block(_CLOSING[token])

    def file(self) -> FileDescriptorProto:
        file = FileDescriptorProto(name=self._name, syntax="proto2")
        while self._next:
            match self._take():
                case "syntax" | "edition":
                    self._syntax(file)
                case "package":
                    file.package = self._word()
                    self._expect(";")
                case "import":
                    self._import(file)
                case "message":
                    self._message(file.message_type.add())
                case "enum":
                    self._enum(file.enum_type.add())
                case "option" | "service" | "extend":
                    self._skip()
                case ";":
                    pass
                case _:
                    self._at -= 1
                    self._fail("a message or an enum")
        return file

    def _syntax(self, file: FileDescriptorProto) -> None:
        self._expect("=")
        file.syntax = self._string()
        if file.syntax not in ("proto2", "proto3"):
            at = self._tokens[self._at - 1][1]
            raise self._bad(at, "editions are read from sets of descriptors only")
        self._is_proto3 = file.syntax == "proto3"
        self._expect(";")

    def _import(self, file: FileDescriptorProto) -> None:
        if self._took("public"):
            file.public_dependency.append(len(file.dependency))
        self._took("weak")
        file.dependency.append(self._string())
        self._expect(";")

    def _message(self, message: DescriptorProto) -> None:
        message.name = self._word()
        self._expect("{")
        optional: list[FieldDescriptorProto] = []
        while not self._took("}"):
            match self._next:
                case "message" | "enum" | "oneof" if self._peek(2) == "{":
                    self._inner(message)
                case "option":
                    self._skip()
                case "reserved" | "extensions" | "extend" if self._peek(2) != "=":
                    self._skip()
                case ";":
                    self._take()
                case _:
                    is_optional = self._next == "optional"
                    field = self._field(message)
                    if is_optional and self._is_proto3:
                        optional.append(field)
        for field in optional:  # in a oneof of its own, after those that were written
            field.proto3_optional = True
            field.oneof_index = len(message.oneof_decl)
            message.oneof_decl.add(name=f"_{field.name}")

    def _inner(self, message: DescriptorProto) -> None:
        match self._take():
            case "message":
                self._message(message.nested_type.add())
            case "enum":
                self._enum(message.enum_type.add())
            case "oneof":
                index = len(message.oneof_decl)
                message.oneof_decl.add(name=self._word())
                self._expect("{")
                while not self._took("}"):
                    if self._next == "option":
                        self._skip()
                    else:
                        self._field(message).oneof_index = index

    def _field(self, message: DescriptorProto) -> FieldDescriptorProto:
        field = message.field.add(label=1)
        if self._next in _LABELS and self._peek(2) != "=":
            field.label = _LABELS[self._take()]
        if self._next == "map" and self._peek(1) == "<":
            self._map(message, field)
        else:
            self._type(field)
            field.name = self._word()
        if field.type_name == "group":
            at = self._tokens[self._at - 1][1]
            raise self._bad(at, "groups are read from sets of descriptors only")
        self._expect("=")
        field.number = self._number()
        if self._took("["):
            self._field_options(field)
        self._expect(";")
        return field

    def _type(self, field: FieldDescriptorProto) -> None:
        word = self._word()
        if word in _SCALARS:
            field.type = _SCALARS[word]
        else:
            field.type_name = word

    def _map(self, message: DescriptorProto, field: FieldDescriptorProto) -> None:
        self._take()
        self._expect("<")
        entry = DescriptorProto()
        entry.options.map_entry = True
        for number, name in enumerate(("key", "value"), 1):
            self._type(entry.field.add(name=name, number=number, label=1))
            self._expect("," if name == "key" else ">")
        field.name = self._word()
        entry.name = "".join(part.capitalize() for part in field.name.split("_")) + "Entry"
        message.nested_type.append(entry)
        field.label, field.type_name = _LABELS["repeated"], entry.name

    def _field_options(self, field: FieldDescriptorProto) -> None:
        while True:
            option = self._next
            while self._next != "=":
                self._take()
            self._expect("=")
            if option == "default":
                is_text = self._next[:1] in ("'", '"')
                sign = self._take() if self._next in ("+", "-") else ""
                field.default_value = self._string() if is_text else sign + self._take()
            elif option == "packed":
                field.options.packed = self._take() == "true"
            else:
                self._skip_value()
            if self._took("]"):
                return
            self._expect(",")

    def _skip_value(self) -> None:
        if (token := self._take()) in _CLOSING:
            self._skip_block(_CLOSING[token])
        while self._next[:1] in ("'", '"') and self._next:  # strings beside each other are one
            self._take()

    def _enum(self, enum: EnumDescriptorProto) -> None:
        enum.name = self._word()
        self._expect("{")
        while not self._took("}"):
            if self._next in ("option", "reserved") and self._peek(1) != "=":
                if self._peek(1) == "allow_alias":
                    enum.options.allow_alias = self._peek(3) == "true"
                self._skip()
            elif not self._took(";"):
                value = enum.value.add(name=self._word())
                self._expect("=")
                value.number = self._number()
                if self._took("["):
                    self._skip_block("]")
                self._expect(";")
