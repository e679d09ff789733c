"""meta.properties: whose log directory this is, in Java's properties format.

Kafka writes its keys in the order of a Java hash table, so that order is computed here too. Keys
that are not known are kept as they are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from ottla.config.properties import parse_properties as parse_text
from ottla.protocol.readable import uuid_text
from ottla.storage.checkpoints import parse_uuid
from ottla.storage.files import CorruptLog

META_PROPERTIES = "meta.properties"

_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_ESCAPES = {"\t": "\\t", "\n": "\\n", "\r": "\\r", "\f": "\\f"} | {c: "\\" + c for c in "\\#!=:"}
_NUMBER = re.compile(r"[+-]?[0-9]{1,10}")


@dataclass(frozen=True, slots=True)
class MetaProperties:
    """Version 0 is ZooKeeper's (`broker.id`), version 1 KRaft's (`node.id`)."""

    version: int = 0
    node_id: int | None = None
    cluster_id: str | None = None
    directory_id: bytes | None = None
    others: Mapping[str, str] = field(default_factory=dict)


def parse_meta_properties(data: bytes, path: str) -> MetaProperties:
    properties = parse_properties(data, path)
    version = _number(properties, "version", path)
    if version not in (None, 0, 1):
        raise CorruptLog(
            path,
            0,
            f"version {version} is not known here, only 0 and 1: use the release that wrote it, "
            "or give the broker another log directory",
        )
    id_key = "node.id" if version == 1 else "broker.id"
    directory_id = properties.pop("directory.id", None)
    meta = MetaProperties(
        version=version or 0,
        node_id=_number(properties, id_key, path),
        cluster_id=properties.pop("cluster.id", None),
        directory_id=None if directory_id is None else parse_uuid(directory_id, path, 0),
        others=properties,
    )
    if version == 1:
        for key, value in ((id_key, meta.node_id), ("cluster.id", meta.cluster_id)):
            if value is None:
                raise CorruptLog(path, 0, f"{key} is missing")
    return meta


def format_meta_properties(meta: MetaProperties, *, now_ms: int) -> bytes:
    pairs = {"version": str(meta.version)}
    if meta.cluster_id is not None:
        pairs["cluster.id"] = meta.cluster_id
    if meta.node_id is not None:
        pairs["node.id" if meta.version == 1 else "broker.id"] = str(meta.node_id)
    if meta.directory_id is not None:
        pairs["directory.id"] = uuid_text(meta.directory_id)
    return format_properties(pairs | dict(meta.others), now_ms=now_ms)


def parse_properties(data: bytes, path: str) -> dict[str, str]:
    """Any file in Java's format; of a key that comes twice the last value counts."""
    try:
        return parse_text(data.decode())
    except UnicodeDecodeError as error:
        raise CorruptLog(path, error.start, "not UTF-8") from error
    except ValueError as error:
        raise CorruptLog(path, 0, str(error)) from error


def format_properties(properties: Mapping[str, str], *, now_ms: int) -> bytes:
    lines = ["#", f"#{_java_date(now_ms)}"]
    for key in _in_java_order(properties):
        value = properties[key]
        blank = "\\" if value.startswith(" ") else ""
        lines.append(f"{_escape(key).replace(' ', chr(92) + ' ')}={blank}{_escape(value)}")
    return "".join(f"{line}\n" for line in lines).encode()


def _escape(text: str) -> str:
    return "".join(_ESCAPES.get(char, char) for char in text)


def _number(properties: dict[str, str], key: str, path: str) -> int | None:
    text = properties.pop(key, None)
    if text is None:
        return None
    if not _NUMBER.fullmatch(text) or not -(1 << 31) <= int(text) < 1 << 31:
        raise CorruptLog(path, 0, f"{key} is not a number: {text[:40]!r}")
    return int(text)


def _in_java_order(keys: Mapping[str, str]) -> list[str]:
    """As a Java table of 16 buckets lists up to 11 keys, many more than Kafka has here."""
    return sorted(keys, key=lambda key: _java_hash(key) & 15)


def _java_hash(key: str) -> int:
    code = 0
    units = key.encode("utf-16-be")
    for high, low in zip(units[::2], units[1::2], strict=True):
        code = (31 * code + (high << 8 | low)) & 0xFFFF_FFFF
    return code ^ code >> 16  # as the table spreads it


def _java_date(now_ms: int) -> str:
    moment = datetime.fromtimestamp(0, UTC) + timedelta(milliseconds=now_ms)
    day, month = _DAYS[moment.weekday()], _MONTHS[moment.month - 1]
    return f"{day} {month} {moment.day:02} {moment:%H:%M:%S} UTC {moment.year}"
