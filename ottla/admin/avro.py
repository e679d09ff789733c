"""The one door to fastavro, which is there only with the extra `cli`: records in container files.

A file that `ottla consume` wrote comes back as it was. Of any other file each row becomes a value,
written as JSON: what it means to its readers is not ours to know.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO

from ottla.admin.consuming import IncomingRecord
from ottla.admin.extras import MissingExtra
from ottla.admin.json_records import readable
from ottla.admin.producing import BadLine, OutgoingRecord

_BYTES = ["null", "bytes"]
_NAME = "ottla.Record"
_SCHEMA: dict[str, Any] = {
    "type": "record",
    "name": "Record",
    "namespace": "ottla",
    "fields": [
        {"name": "topic", "type": "string"},
        {"name": "partition", "type": "int"},
        {"name": "offset", "type": "long"},
        {"name": "timestamp", "type": ["null", "long"]},
        {"name": "key", "type": _BYTES},
        {"name": "value", "type": _BYTES},
        {
            "name": "headers",
            "type": {
                "type": "array",
                "items": {
                    "type": "record",
                    "name": "Header",
                    "fields": [
                        {"name": "name", "type": "string"},
                        {"name": "value", "type": _BYTES},
                    ],
                },
            },
        },
    ],
}


def load() -> Any:
    try:
        import fastavro  # noqa: PLC0415
    except ImportError as cause:
        raise MissingExtra("fastavro") from cause
    return fastavro


class AvroWriter:
    def __init__(self, stream: BinaryIO) -> None:
        library = load()
        self._writer = library.write.Writer(stream, library.parse_schema(_SCHEMA), "deflate")

    def write(self, records: Sequence[IncomingRecord]) -> None:
        for record in records:
            self._writer.write(
                {
                    "topic": record.partition.topic,
                    "partition": record.partition.partition,
                    "offset": record.offset,
                    "timestamp": record.timestamp,
                    "key": record.key,
                    "value": record.value,
                    "headers": [{"name": name, "value": value} for name, value in record.headers],
                }
            )

    def close(self) -> None:
        """What is not written yet is now; an empty file has its schema, too."""
        self._writer.flush()


def read_records(stream: BinaryIO) -> Iterator[OutgoingRecord]:
    """`BadLine` where the file, or a row of it, is not what it should be."""
    library = load()
    try:
        rows = library.reader(stream)
        schema = rows.writer_schema
        is_ours = isinstance(schema, dict) and schema.get("name") == _NAME
        for row in rows:
            yield _restored(row) if is_ours else OutgoingRecord(None, _as_json(row), ())
    except (ValueError, EOFError, StopIteration) as cause:
        raise BadLine(f"this is no Avro container file, or a broken one ({cause})") from cause


def _restored(row: dict[str, Any]) -> OutgoingRecord:
    headers = tuple((each["name"], each["value"]) for each in row["headers"])
    return OutgoingRecord(row["key"], row["value"], headers, row["timestamp"])


def _as_json(row: object) -> bytes:
    return json.dumps(row, separators=(",", ":"), ensure_ascii=False, default=_plain).encode()


def _plain(value: object) -> object:
    """Avro's logical types (dates, decimals, UUIDs) as people write them."""
    return readable(value) if isinstance(value, bytes) else str(value)
