"""What the sink asks of a frame's columns."""

from __future__ import annotations

import pytest
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    DataType,
    IntegerType,
    StringType,
    StructField,
    StructType,
)

from ottla.pipelines.datasource.options import BadOptions
from ottla.pipelines.datasource.writing import check_columns

STRING, BINARY, INT = StringType(), BinaryType(), IntegerType()
HEADERS = ArrayType(StructType().add("key", STRING).add("value", BINARY))


def shape(**columns: DataType) -> StructType:
    return StructType([StructField(name, kind) for name, kind in columns.items()])


@pytest.mark.parametrize(
    "columns",
    [
        {"value": STRING},
        {"key": BINARY, "value": BINARY},
        {"key": STRING, "value": STRING, "headers": HEADERS, "partition": INT},
        {"value": STRING, "topic": STRING, "anything": ArrayType(INT)},
    ],
)
def test_the_connectors_columns_are_taken_and_others_left_out(columns: dict[str, DataType]) -> None:
    check_columns(shape(**columns), "out")


def test_what_may_be_null_in_headers_does_not_matter() -> None:
    pair = StructType().add("key", STRING, nullable=False).add("value", BINARY)
    check_columns(shape(value=STRING, headers=ArrayType(pair, containsNull=False)), "out")


def test_all_that_is_wrong_is_told_at_once() -> None:
    with pytest.raises(BadOptions) as caught:
        check_columns(shape(key=INT, headers=STRING), None)
    assert str(caught.value).split("; ") == [
        "there is no column `value`",
        "neither a column `topic` nor the option topic says where to write to",
        "column `key` must be string or binary: int",
        f"column `headers` must be {HEADERS.simpleString()}: string",
    ]
