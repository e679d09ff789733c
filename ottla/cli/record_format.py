"""How `ottla consume` writes a record: by a template, or as one JSON object a line."""

from __future__ import annotations

import json
import re
from base64 import b64encode
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


class BadFormat(ValueError):
    """A template that names what a record does not have."""


def by_template(template: str, *, for_terminal: bool) -> Writer:
    """`{key}: {value}` and the like, a line each. A pipe gets the bytes, a terminal safe text."""
    pieces: list[Writer] = []
    for number, part in enumerate(_PLACE.split(template)):
        if number % 2:
            pieces.append(_field(part))
        else:
            pieces.append(_literal(part))

    def write(record: IncomingRecord) -> bytes:
        return b"".join(piece(record) for piece in pieces) + b"\n"

    def write_safely(record: IncomingRecord) -> bytes:
        line = write(record)[:-1].decode(errors="backslashreplace")
        return "\n".join(map(visible, line.split("\n"))).encode() + b"\n"

    return write_safely if for_terminal else write


def to_json_line(record: IncomingRecord) -> bytes:
    told = {
        "topic": record.partition.topic,
        "partition": record.partition.partition,
        "offset": record.offset,
        "timestamp": record.timestamp,
        "timestamp_type": "LogAppendTime" if record.is_append_time else "CreateTime",
        "key": _readable(record.key),
        "value": _readable(record.value),
        "headers": [{"name": name, "value": _readable(value)} for name, value in record.headers],
    }
    return json.dumps(told, separators=(",", ":")).encode() + b"\n"


def _readable(data: bytes | None) -> object:
    if data is None:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return {"base64": b64encode(data).decode()}


def _field(name: str) -> Writer:
    if name not in _FIELDS:
        known = ", ".join(f"{{{each}}}" for each in _FIELDS)
        raise BadFormat(f"{{{name}}} is nothing that a record has; it has {known}.")
    return _FIELDS[name]


def _literal(text: str) -> Writer:
    data = _ESCAPE.sub(lambda found: _ESCAPES[found[0]], text).encode()
    return lambda _: data
