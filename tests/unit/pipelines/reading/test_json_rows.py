"""JSON: strict about types, patient with poison."""

from __future__ import annotations

import datetime
import json
import pickle
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import types as spark

from ottla.pipelines.reading.decoded import MALFORMED
from ottla.pipelines.reading.json_rows import JsonDecoder
from ottla.pipelines.reading.rows import Unreadable
from ottla.pipelines.schema import structure
from tests.unit.pipelines.reading.records import records

UTC = datetime.UTC
WIDE = {
    "user-id": "string",
    "amount": "int or null",
    "id": "long or null",
    "ratio": "float or null",
    "at": "timestamp or null",
    "day": "date or null",
    "price": "decimal(5,2) or null",
    "data": "binary or null",
    "times": "array<timestamp> or null",
    "seen": "map<string,timestamp> or null",
}


def decode(value: bytes | None, shape: Any = WIDE) -> tuple[Any, str | None]:
    decoded = JsonDecoder(structure(shape)).decode(records([value]))
    (row,) = decoded.rows.to_pylist()
    return row, decoded.faults[0].error if decoded.faults else None


def field(name: str, text: str) -> Any:
    row, error = decode(b'{"%s": %s}' % (name.encode(), text.encode()))
    return error if row is None else row[name]


def test_a_field_that_is_not_there_is_null_and_one_that_nobody_wants_is_skipped() -> None:
    row, error = decode(b' {"user-id": "a", "more": [{}]}\n')
    assert error is None
    assert row["user-id"] == "a"
    assert row["amount"] is None


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("at", '"2026-11-16T09:43:33.5Z"', datetime.datetime(2026, 11, 16, 9, 43, 33, 500000, UTC)),
        ("at", '"2026-11-16T09:43:33+02:00"', datetime.datetime(2026, 11, 16, 7, 43, 33, 0, UTC)),
        ("at", '"2026-11-16 09:43:33"', datetime.datetime(2026, 11, 16, 9, 43, 33, 0, UTC)),
        ("at", "1700000000123", datetime.datetime(2023, 11, 14, 22, 13, 20, 123000, UTC)),
        ("day", '"2026-02-28"', datetime.date(2026, 2, 28)),
        ("price", "12.5", Decimal("12.50")),
        ("price", '"12.50"', Decimal("12.50")),
        ("data", '"aGk="', b"hi"),
        ("ratio", "1", 1.0),
        ("times", "[1000, null]", [datetime.datetime(1970, 1, 1, 0, 0, 1, 0, UTC), None]),
        ("seen", '{"a": 1000}', [("a", datetime.datetime(1970, 1, 1, 0, 0, 1, 0, UTC))]),
        ("id", str(2**63 - 1), 2**63 - 1),
    ],
)
def test_a_value_is_read_as_its_column_says(name: str, text: str, value: Any) -> None:
    assert field(name, text) == value


@pytest.mark.parametrize(
    ("name", "text", "error"),
    [
        ("amount", '"5"', "amount: expected 'int', got 'str'"),
        ("user-id", "5", "user-id: expected 'str', got 'int'"),
        ("amount", "1.5", "amount: expected 'int', got 'float'"),
        ("amount", "true", "amount: expected 'int', got 'bool'"),
        ("amount", str(2**31), "amount: expected 'int' <= 2147483647"),
        ("id", str(2**63), "id: expected 'int' <= 9223372036854775807"),
        ("ratio", "1e39", "ratio: expected 'float' <="),
        ("ratio", "1e999", "ratio: number out of range"),
        ("ratio", "NaN", "JSON is malformed: invalid character (byte 10)"),
        ("at", '"yesterday"', "at: invalid RFC3339 encoded datetime"),
        ("at", "9223372036854775807", "at: expected 'int' <="),
        ("day", '"2026-02-30"', "day: invalid RFC3339 encoded date"),
        ("price", "1234.5", "price: "),
        ("price", "1.234", "price: "),
        ("price", '"NaN"', "price: "),
        ("data", '"!"', "data: invalid base64"),
        ("times", '["x"]', "times[0]: invalid RFC3339"),
        ("user-id", '"\\ud800"', "Input data was truncated"),
    ],
)
def test_a_value_of_another_kind_is_a_fault_that_says_where(
    name: str, text: str, error: str
) -> None:
    assert str(field(name, text)).startswith(error)


POISON = [
    b"", b" ", b"{", b"{}}", b'{"user-id"', b"null", b"[]", b"5", b"\x00", b"\xff\xfe",
    b'{"user-id": "\xff"}', b"[" * 100_000, b'{"x":' + b"[" * 100_000, b'{"x":' * 100_000,
    b'{"id": ' + b"9" * 10_000 + b"}", b"\x00\x00\x00\x00\x01{}",
]  # fmt: skip


@pytest.mark.parametrize("value", POISON, ids=range(len(POISON)))
def test_poison_is_a_fault_and_nothing_worse(value: bytes) -> None:
    row, error = decode(value)
    assert row is None
    assert error


def test_a_tombstone_is_no_row() -> None:
    assert decode(None) == (None, "the record has no value; it is a tombstone")


def test_bad_records_leave_the_others_as_they_are() -> None:
    good, long = b'{"user-id": "a", "price": 1.5}', b'{"user-id": "b", "price": 1.23456}'
    values = [good] * 50 + [long] + [good] * 50 + [b"{", long]
    decoded = JsonDecoder(structure(WIDE)).decode(records(values))
    assert [fault.at for fault in decoded.faults] == [50, 101, 102]
    assert {fault.rule for fault in decoded.faults} == {MALFORMED}
    assert decoded.rows.null_count == 3
    assert decoded.rows.is_valid().to_pylist() == [value == good for value in values]


def test_it_works_after_it_was_pickled_into_a_task() -> None:
    decoder = pickle.loads(pickle.dumps(JsonDecoder(structure(WIDE))))
    assert decoder.decode(records([b"{}"])).faults == []


def test_a_type_that_no_text_can_be_is_refused_by_its_place() -> None:
    inner = spark.StructType([spark.StructField("v", spark.CalendarIntervalType())])
    with pytest.raises(Unreadable, match=r"place\.v: interval"):
        JsonDecoder(spark.StructType([spark.StructField("place", inner)]))


@given(st.lists(st.binary(max_size=40), max_size=5))
def test_no_bytes_raise(values: list[bytes]) -> None:
    decoded = JsonDecoder(structure(WIDE)).decode(records(values))
    assert len(decoded.rows) == len(values)
    assert decoded.rows.null_count == len(decoded.faults)


ROWS = st.fixed_dictionaries(
    {
        "name": st.none() | st.text(),
        "count": st.none() | st.integers(-(2**63), 2**63 - 1),
        "part": st.none() | st.floats(allow_nan=False, allow_infinity=False),
        "is_new": st.none() | st.booleans(),
        "tags": st.none() | st.lists(st.none() | st.text(), max_size=3),
    }
)
SHAPE = {
    "name": "string or null",
    "count": "long or null",
    "part": "double or null",
    "is_new": "boolean or null",
    "tags": "array<string> or null",
}


@given(st.lists(ROWS, max_size=5))
def test_rows_come_back_from_json_as_they_were(rows: list[dict[str, Any]]) -> None:
    values = [json.dumps(row).encode() for row in rows]
    decoded = JsonDecoder(structure(SHAPE)).decode(records(values))
    assert isinstance(decoded.rows, pa.StructArray)
    assert decoded.rows.to_pylist() == rows
