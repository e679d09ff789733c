"""Changes of shapes: what goes on, and what stops."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import types as spark

from ottla.pipelines.reading.evolution import Change, changes, diff
from ottla.pipelines.schema import structure


def between(old: str, new: str) -> list[Change]:
    return changes(structure({"a": old}), structure({"a": new}))


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("int", "long", "int became bigint, which is wider"),
        ("int", "double", "int became double, which is wider"),
        ("float", "double", "float became double, which is wider"),
        ("decimal(5,2)", "decimal(7,3)", "decimal(5,2) became decimal(7,3), which is wider"),
        ("long", "int", "bigint became int, which fits"),
        ("string or null", "string", "is never null now"),
    ],
)
def test_what_can_still_be_taken_goes_on(old: str, new: str, what: str) -> None:
    (change,) = between(old, new)
    assert (change.path, change.what, change.is_breaking) == ("a", what, False)
    assert change.is_wider == what.endswith("wider")


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("int", "string", "int became string"),
        ("long", "double", "bigint became double"),  # 2**53 + 1 would be another number
        ("decimal(5,2)", "decimal(5,3)", "decimal(5,2) became decimal(5,3)"),
        ("string", "string or null", "may be null now"),
        ("array<int>", "array<string>", "int became string"),
        ("int", "array<int>", "int became array<int>"),
    ],
)
def test_what_cannot_stops(old: str, new: str, what: str) -> None:
    (change,) = between(old, new)
    assert (change.what, change.is_breaking) == (what, True)


def test_fields_come_and_go_at_any_depth() -> None:
    def nested(*fields: spark.StructField) -> spark.StructType:
        kind = spark.ArrayType(spark.StructType(list(fields)))
        return spark.StructType([spark.StructField("items", kind)])

    kept = spark.StructField("kept", spark.LongType())
    loose = spark.StructField("loose", spark.LongType())
    firm = spark.StructField("firm", spark.LongType(), nullable=False)
    old = nested(kept, loose, firm)
    new = nested(kept, spark.StructField("new", loose.dataType))
    found = changes(old, new)
    assert found == [
        ("items[].loose", "bigint, may be null, is gone, and reads as null", False, False, True),
        ("items[].firm", "bigint is gone", True, False, True),
        ("items[].new", "bigint, may be null, is new", False, False, False),
    ]
    assert not any(it.is_breaking for it in changes(old, new, optional={"items[].firm"}))
    assert diff(found).splitlines()[1] == "! items[].firm: bigint is gone"


KINDS = st.sampled_from(
    ["int", "long or null", "double", "string or null", "decimal(9,2)", "map<string,int>"]
)
SHAPES = st.dictionaries(st.sampled_from("abcd"), KINDS).map(structure)


@given(SHAPES, SHAPES)
def test_no_change_is_no_change_and_every_difference_shows(
    old: spark.StructType, new: spark.StructType
) -> None:
    assert changes(old, old) == []
    same_fields = sorted(old, key=lambda it: it.name) == sorted(new, key=lambda it: it.name)
    assert (changes(old, new) == []) == same_fields
