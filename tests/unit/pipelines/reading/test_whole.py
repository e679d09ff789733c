"""Records taken whole."""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql import types as spark

from ottla.pipelines.reading.whole import RawDecoder, RowDecoder, TextDecoder
from tests.unit.pipelines.reading.records import records


def test_raw_is_what_the_record_was_even_a_tombstone() -> None:
    decoded = RawDecoder().decode(records([b"\xff", None], keys=[b"a", None]))
    assert decoded.faults == []
    header = [{"key": "h", "value": b"x"}]
    assert decoded.rows.to_pylist() == [
        {"key": b"a", "value": b"\xff", "headers": header},
        {"key": None, "value": None, "headers": header},
    ]


def test_text_may_be_missing_or_empty() -> None:
    decoded = TextDecoder().decode(records(["grüß".encode(), None, b""], keys=[b"a", None, b""]))
    assert decoded.faults == []
    assert [row["value"] for row in decoded.rows.to_pylist()] == ["grüß", None, ""]


def test_what_is_no_utf8_is_a_fault_in_the_key_as_in_the_value() -> None:
    values, keys = [b"good", b"\xff", b"good", b""], [b"a", b"\xfe", b"\xfe", b""]
    decoded = TextDecoder().decode(records(values, keys=keys))
    assert [(fault.at, fault.error[:20]) for fault in decoded.faults] == [
        (1, "the key is no text: "),
        (2, "the key is no text: "),
    ]
    good = [{"key": "a", "value": "good"}, None, None, {"key": "", "value": ""}]
    assert decoded.rows.to_pylist() == good


def test_a_row_of_a_file_may_lack_what_its_schema_wants() -> None:
    strict = spark.StructField("a", spark.LongType(), nullable=False)
    rows = pa.array([{"a": 1, "b": None}, {"a": None, "b": 2}])
    decoded = RowDecoder(spark.StructType([strict])).decode(pa.record_batch({"row": rows}))
    assert [(fault.at, fault.rule) for fault in decoded.faults] == [(1, "not null in schema")]
