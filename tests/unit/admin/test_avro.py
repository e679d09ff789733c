"""Records go into an Avro file and come back; other people's rows become JSON."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from io import BytesIO

import pytest

from ottla.admin.avro import AvroWriter, read_records
from ottla.admin.cluster import TopicPartition
from ottla.admin.consuming import IncomingRecord
from ottla.admin.producing import BadLine, OutgoingRecord

fastavro = pytest.importorskip("fastavro")

RECORD = IncomingRecord(
    partition=TopicPartition("orders", 3),
    offset=42,
    timestamp=1_700_000_000_000,
    is_append_time=False,
    key=b"\xff",
    value=None,
    headers=(("a", b"1"), ("b", None)),
)


def test_what_was_written_comes_back_as_it_was() -> None:
    file = BytesIO()
    writer = AvroWriter(file)
    writer.write([RECORD, RECORD])
    writer.close()
    file.seek(0)
    again = OutgoingRecord(RECORD.key, RECORD.value, RECORD.headers, RECORD.timestamp)
    assert list(read_records(file)) == [again, again]


def test_a_file_without_records_can_be_read() -> None:
    file = BytesIO()
    AvroWriter(file).close()
    file.seek(0)
    assert list(read_records(file)) == []


def test_rows_of_others_become_json() -> None:
    schema = {
        "type": "record",
        "name": "Order",
        "fields": [
            {"name": "what", "type": "string"},
            {"name": "raw", "type": "bytes"},
            {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        ],
    }
    file = BytesIO()
    at = datetime(2026, 1, 31, 12, tzinfo=UTC)
    fastavro.writer(file, schema, [{"what": "pear", "raw": b"\xff", "at": at}])
    file.seek(0)
    (record,) = read_records(file)
    assert record.key is None
    assert json.loads(record.value or b"") == {
        "what": "pear",
        "raw": {"base64": "/w=="},
        "at": "2026-01-31 12:00:00+00:00",
    }


@pytest.mark.parametrize("content", [b"", b"hello", b"Obj\x01\x00"])
def test_what_is_no_avro_file_is_told(content: bytes) -> None:
    with pytest.raises(BadLine, match="this is no Avro container file"):
        list(read_records(BytesIO(content)))
