"""How `ottla consume` writes a record by a template."""

from __future__ import annotations

import re
from collections.abc import Callable

from ottla.admin.consuming import IncomingRecord
from ottla.cli.output import visible

Writer = Callable[[IncomingRecord], bytes]
_PLACE = re.compile(r"\{(\w*)\}")
_ESCAPES = {"\\n": "\n", "\\t": "\t", "\\0": "\0", "\\\\": "\\"}
_ESCAPE = re.compile(r"\\[nt0\\]")
_NULL = b"null"

_FIELDS: dict[str, Writer] = {
    "topic": lambda record: record.partition.topic.encode(),
    "partition": lambda record: b"%d" % record.partition.partition,
    "offset": lambda record: b"%d" % record.offset,
    "timestamp": lambda record: _NULL if record.timestamp is None else b"%d" % record.timestamp,
    "key": lambda record: _NULL if record.key is None else record.key,
    "value": lambda record: _NULL if record.value is None else record.value,
    "headers": lambda record: b",".join(
        name.encode() + b"=" + (_NULL if value is None else value) for name, value in record.headers
    ),
}
# `ottla produce --hex` reads these again.
_HEX_FIELDS: dict[str, Writer] = {
    "key": lambda record: _hex(record.key),
    "value": lambda record: _hex(record.value),
    "headers": lambda record: b",".join(
        name.encode() + b"=" + _hex(value) for name, value in record.headers
    ),
}


class BadFormat(ValueError):
    """A template that names what a record does not have."""


def by_template(template: str, *, for_terminal: bool, in_hex: bool = False) -> Writer:
    """`{key}: {value}` and the like, a line each. A pipe gets the bytes, a terminal safe text."""
    pieces: list[Writer] = []
    for number, part in enumerate(_PLACE.split(template)):
        if number % 2:
            pieces.append(_HEX_FIELDS[part] if in_hex and part in _HEX_FIELDS else _field(part))
        else:
            pieces.append(_literal(part))

    def write(record: IncomingRecord) -> bytes:
        return b"".join(piece(record) for piece in pieces) + b"\n"

    def write_safely(record: IncomingRecord) -> bytes:
        line = write(record)[:-1].decode(errors="backslashreplace")
        return "\n".join(map(visible, line.split("\n"))).encode() + b"\n"

    return write_safely if for_terminal else write


def _field(name: str) -> Writer:
    if name not in _FIELDS:
        known = ", ".join(f"{{{each}}}" for each in _FIELDS)
        raise BadFormat(f"{{{name}}} is nothing that a record has; it has {known}.")
    return _FIELDS[name]


def _literal(text: str) -> Writer:
    data = _ESCAPE.sub(lambda found: _ESCAPES[found[0]], text).encode()
    return lambda _: data


def _hex(data: bytes | None) -> bytes:
    return _NULL if data is None else data.hex().encode()
