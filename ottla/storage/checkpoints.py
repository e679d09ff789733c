"""The small text files beside the logs, byte for byte as Kafka 3.9 writes them.

Only bytes and values here; `files.py` knows how to replace a file safely.
"""

from __future__ import annotations

import json
import re
from base64 import urlsafe_b64decode
from binascii import Error as Base64Error
from collections.abc import Iterable, Iterator, Mapping

from ottla.protocol.primitives import ZERO_UUID
from ottla.protocol.readable import uuid_text
from ottla.storage.epochs import EpochEntry
from ottla.storage.files import CorruptLog

HIGH_WATERMARKS = "replication-offset-checkpoint"
RECOVERY_POINTS = "recovery-point-offset-checkpoint"
LOG_STARTS = "log-start-offset-checkpoint"
CLEANED_UP_TO = "cleaner-offset-checkpoint"
LEADER_EPOCHS = "leader-epoch-checkpoint"
PARTITION_METADATA = "partition.metadata"
CLEAN_SHUTDOWN = ".kafka_cleanshutdown"

TopicPartition = tuple[str, int]

_VERSION = 0
# Lines and columns as Java sees them, which is not what `str.splitlines` and `str.split` do.
_LINE = re.compile(rb"([^\r\n]*)(?:\r\n|\r|\n|\Z)")
_SPACES = re.compile(r"[ \t\v\f]+")
_INTEGER = re.compile(r"[+-]?[0-9]{1,20}")
_FIELD = re.compile(r":[ \t\v\f]+")


def parse_offsets(data: bytes, path: str) -> dict[TopicPartition, int]:
    """The offsets in one of the four checkpoints of a log directory."""
    offsets = {}
    for pos, fields in _entries(data, path, columns=3):
        topic, partition, offset = fields
        if not topic:
            raise CorruptLog(path, pos, "an entry without a topic")
        key = (topic, _integer(partition, 32, path, pos))
        offsets[key] = _integer(offset, 64, path, pos)
    return offsets


def format_offsets(offsets: Mapping[TopicPartition, int]) -> bytes:
    return _format(f"{topic} {number} {offset}" for (topic, number), offset in offsets.items())


def parse_leader_epochs(data: bytes, path: str) -> tuple[EpochEntry, ...]:
    entries = []
    for pos, (epoch, start_offset) in _entries(data, path, columns=2):
        entry = EpochEntry(_integer(epoch, 32, path, pos), _integer(start_offset, 64, path, pos))
        if min(entry) < 0:
            raise CorruptLog(path, pos, f"epoch {entry.epoch} at offset {entry.start_offset}")
        entries.append(entry)
    return tuple(entries)


def format_leader_epochs(entries: Iterable[EpochEntry]) -> bytes:
    return _format(f"{entry.epoch} {entry.start_offset}" for entry in entries)


def parse_partition_metadata(data: bytes, path: str) -> bytes:
    """The topic id in a partition's folder."""
    # Kafka does not look at the names, nor at what follows the second line.
    lines = [*_lines(data, path), (len(data), ""), (len(data), "")]
    version = _integer(_value(*lines[0], path), 32, path, 0)
    pos, line = lines[1]
    topic_id = parse_uuid(_value(pos, line, path), path, pos)
    if version < 0:
        raise CorruptLog(path, 0, f"version {version}")
    if topic_id == ZERO_UUID:
        raise CorruptLog(path, pos, "the topic id is zero")
    return topic_id


def format_partition_metadata(topic_id: bytes) -> bytes:
    assert len(topic_id) == 16
    assert topic_id != ZERO_UUID
    return f"version: {_VERSION}\ntopic_id: {uuid_text(topic_id)}".encode()


def parse_clean_shutdown(data: bytes, path: str) -> int:
    """The broker's epoch when it stopped; -1 if it did not say, as before 3.7.

    That the file is there is what matters: whoever cannot read it may still trust it.
    """
    if not data:
        return -1
    try:
        content = json.loads(data)
        epoch = content["brokerEpoch"]
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise CorruptLog(path, 0, "not the JSON of a clean shutdown") from error
    if type(epoch) is not int or not -1 <= epoch < 1 << 63:
        raise CorruptLog(path, 0, "the broker epoch is not a number")
    return epoch


def format_clean_shutdown(broker_epoch: int = -1) -> bytes:
    content = {"version": _VERSION, "brokerEpoch": broker_epoch}
    return json.dumps(content, separators=(",", ":")).encode()


def parse_uuid(text: str, path: str, position: int) -> bytes:
    """Kafka's text of a UUID: URL-safe base64, with or without padding."""
    try:
        uuid = urlsafe_b64decode(text.rstrip("=") + "==")
    except (Base64Error, ValueError) as error:
        raise CorruptLog(path, position, "an id that is not base64") from error
    # Python skips what is not base64; Java, and we, do not.
    if len(uuid) != 16 or uuid_text(uuid) != text.rstrip("="):
        raise CorruptLog(path, position, "an id that is not 16 bytes in base64")
    return uuid


def _format(lines: Iterable[str]) -> bytes:
    listed = list(lines)
    return "".join(f"{line}\n" for line in (_VERSION, len(listed), *listed)).encode()


def _entries(data: bytes, path: str, *, columns: int) -> Iterator[tuple[int, list[str]]]:
    """The lines after version and count. A file that was never written has none."""
    lines = _lines(data, path)
    version = next(lines, None)
    if version is None:
        return
    if _integer(version[1], 32, path, 0) != _VERSION:
        raise CorruptLog(path, 0, f"version {version[1]}")
    count = next(lines, None)
    if count is None:
        return
    expected = _integer(count[1], 32, path, count[0])
    found = 0
    for pos, line in lines:
        fields = _SPACES.split(line.rstrip(" \t\v\f"))
        if len(fields) != columns:
            raise CorruptLog(path, pos, f"{len(fields)} columns instead of {columns}")
        found += 1
        yield pos, fields
    if found != expected:
        raise CorruptLog(path, count[0], f"{expected} entries are announced, {found} are there")


def _lines(data: bytes, path: str) -> Iterator[tuple[int, str]]:
    """Each line and where it begins."""
    pos = 0
    while pos < len(data):
        match = _LINE.match(data, pos)
        assert match is not None
        try:
            yield pos, match[1].decode()
        except UnicodeDecodeError as error:
            raise CorruptLog(path, pos + error.start, "not UTF-8") from error
        pos = match.end()


def _value(pos: int, line: str, path: str) -> str:
    parts = _FIELD.split(line)
    if len(parts) != 2:
        raise CorruptLog(path, pos, "not a line of the form `name: value`")
    return parts[1]


def _integer(text: str, bits: int, path: str, pos: int) -> int:
    # Not `int` alone: it takes blanks, underscores and the digits of every script.
    if not _INTEGER.fullmatch(text) or not -(1 << bits - 1) <= int(text) < 1 << bits - 1:
        raise CorruptLog(path, pos, f"{text[:40]!r} is not a {bits}-bit number")
    return int(text)
