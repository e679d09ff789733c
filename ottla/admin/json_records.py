"""Records as lines of JSON: what `ottla consume --json` prints, `ottla produce --json` reads."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Mapping
from typing import Any

from ottla.admin.consuming import IncomingRecord
from ottla.admin.producing import BadLine, Headers, OutgoingRecord


def to_json_line(record: IncomingRecord) -> bytes:
    told = {
        "topic": record.partition.topic,
        "partition": record.partition.partition,
        "offset": record.offset,
        "timestamp": record.timestamp,
        "timestamp_type": "LogAppendTime" if record.is_append_time else "CreateTime",
        "key": readable(record.key),
        "value": readable(record.value),
        "headers": [{"name": name, "value": readable(value)} for name, value in record.headers],
    }
    return json.dumps(told, separators=(",", ":")).encode() + b"\n"


def readable(data: bytes | None) -> object:
    """Text where it is text; else an object with `base64`."""
    if data is None:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return {"base64": b64encode(data).decode()}


class JsonFormat:
    """An object a line: `value`, and if wanted `key`, `headers` and `timestamp`."""

    def __init__(self, headers: Headers) -> None:
        self._headers = headers

    def parse(self, line: bytes) -> OutgoingRecord:
        try:
            told = json.loads(line)
        except ValueError as cause:
            raise BadLine(f"it is no JSON ({cause})") from cause
        if not isinstance(told, dict) or "value" not in told:
            raise BadLine('it is no object with a "value"')
        timestamp = told.get("timestamp")
        if not isinstance(timestamp, int | None) or (timestamp is not None and timestamp < 0):
            raise BadLine(f"its timestamp {timestamp!r} is not in ms since 1970")
        return OutgoingRecord(
            key=_content(told.get("key")),
            value=_content(told["value"]),
            headers=(*_headers(told.get("headers")), *self._headers),
            timestamp=timestamp,
        )


def _content(told: Any) -> bytes | None:
    """Text as it is, `base64` decoded, everything else as JSON."""
    if told is None:
        return None
    if isinstance(told, str):
        return told.encode()
    if isinstance(told, dict) and told.keys() == {"base64"}:
        try:
            return b64decode(told["base64"], validate=True)
        except (TypeError, ValueError) as cause:
            raise BadLine(f"{told['base64']!r} is no base64") from cause
    return json.dumps(told, separators=(",", ":"), ensure_ascii=False).encode()


def _headers(told: Any) -> Headers:
    """As they are printed, or simply `{"name": "value"}`."""
    if told is None:
        return ()
    if isinstance(told, Mapping):
        return tuple((name, _content(value)) for name, value in told.items())
    if not isinstance(told, list):
        raise BadLine("its headers are neither a list nor an object")
    pairs = []
    for each in told:
        if not isinstance(each, dict) or not isinstance(each.get("name"), str):
            raise BadLine(f"its header {each!r} has no name")
        pairs.append((each["name"], _content(each.get("value"))))
    return tuple(pairs)
