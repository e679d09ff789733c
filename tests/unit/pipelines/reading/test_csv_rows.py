"""CSV: one line a record."""

from __future__ import annotations

import csv
import datetime
import io
import pickle
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.pipelines.reading.csv_rows import CsvDecoder
from ottla.pipelines.reading.rows import Unreadable
from ottla.pipelines.schema import structure
from tests.unit.pipelines.reading.records import records

SHAPE = {
    "name": "string or null",
    "count": "int or null",
    "at": "timestamp or null",
    "price": "decimal(6,2) or null",
}


def decode(value: bytes | None, delimiter: str = ",") -> tuple[Any, str | None]:
    decoded = CsvDecoder(structure(SHAPE), delimiter).decode(records([value]))
    (row,) = decoded.rows.to_pylist()
    return row and tuple(row.values()), decoded.faults[0].error if decoded.faults else None


def test_fields_are_read_by_their_place_and_an_empty_one_is_null() -> None:
    time = datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.UTC)
    line = b'"a ""quoted"", b",5,2026-01-02T03:04:05Z,1.5\n'
    assert decode(line) == (('a "quoted", b', 5, time, Decimal("1.50")), None)
    assert decode(b",,,") == ((None, None, None, None), None)
    assert decode(b"x;1;1000;", ";")[0][:2] == ("x", 1)
    assert decode(b"x,1,1000,")[0][2] == datetime.datetime(1970, 1, 1, 0, 0, 1, 0, datetime.UTC)


@pytest.mark.parametrize(
    ("line", "error"),
    [
        (b"", "0 fields, where the schema has 4"),
        (b"a,1", "2 fields, where the schema has 4"),
        (b"a,1,,,", "5 fields, where the schema has 4"),
        (b"a,x,,", "count: expected 'int', got 'str'"),
        (b"a,1.5,,", "count: expected 'int', got 'str'"),
        (b"a,99999999999,,", "count: expected 'int' <= 2147483647"),
        (b"a,1,soon,", "at: invalid RFC3339"),
        (b"a,1,1700000000.5,", "at: '1700000000.5' is neither ISO 8601 nor milliseconds"),
        (b"a,1,,12345.6", "price: "),
        (b"\xff,1,,", "'utf-8' codec can't decode byte 0xff"),
        (b'"a,1,,', "unexpected end of data"),
        (b'"a"b,1,,', "',' expected after '\"'"),
        (b"a,1,,\nb,2,,", "new-line character seen in unquoted field"),
        (b"a" * 200_000 + b",1,,", "field larger than field limit"),
        (None, "the record has no value; it is a tombstone"),
    ],
)
def test_a_wrong_line_is_a_fault(line: bytes | None, error: str) -> None:
    row, found = decode(line)
    assert row is None
    assert found is not None
    assert found.startswith(error)


def test_what_has_parts_is_no_field_of_csv() -> None:
    with pytest.raises(Unreadable, match="tags: array<string> cannot be a field of CSV"):
        CsvDecoder(structure({"tags": "array<string>"}), ",")


@given(st.lists(st.binary(max_size=20), max_size=5))
def test_no_bytes_raise(values: list[bytes]) -> None:
    decoded = CsvDecoder(structure(SHAPE), ",").decode(records(values))
    assert decoded.rows.null_count == len(decoded.faults)


TEXTS = st.text(st.characters(exclude_characters="\r\n\0", exclude_categories=["Cs"]), min_size=1)


@given(st.lists(st.tuples(TEXTS, st.integers(-(2**31), 2**31 - 1)), max_size=4))
def test_rows_come_back_as_they_were(rows: list[tuple[str, int]]) -> None:
    decoder = pickle.loads(pickle.dumps(CsvDecoder(structure({"t": "string", "n": "int"}), ",")))
    lines = []
    for row in rows:
        line = io.StringIO()
        csv.writer(line).writerow(row)
        lines.append(line.getvalue().encode())
    assert [tuple(row.values()) for row in decoder.decode(records(lines)).rows.to_pylist()] == rows
