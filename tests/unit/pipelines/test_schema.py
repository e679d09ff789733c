"""Shapes of rows: said by dataclasses or by names, they become Spark's."""

from __future__ import annotations

import datetime
from dataclasses import dataclass

import pytest
from pyspark.sql import types as spark

from ottla.pipelines.schema import BadShape, structure


@dataclass
class Place:
    city: str
    zip: str | None


@dataclass
class Visit:
    user: str
    at: datetime.datetime
    seconds: float | None
    tags: list[str]
    counts: dict[str, int]
    place: Place


def test_a_dataclass_becomes_a_structure_with_what_may_be_null() -> None:
    found = structure(Visit)
    assert [field.simpleString() for field in found] == [
        "user:string",
        "at:timestamp",
        "seconds:double",
        "tags:array<string>",
        "counts:map<string,bigint>",
        "place:struct<city:string,zip:string>",
    ]
    assert [field.name for field in found if field.nullable] == ["seconds"]
    tags = found["tags"].dataType
    assert isinstance(tags, spark.ArrayType)
    assert not tags.containsNull


def test_names_of_types_become_a_structure_with_what_may_be_null() -> None:
    found = structure(
        {"id": "long", "price": "decimal(10, 2) or null", "tags": "array<map<string,int>>"}
    )
    assert found.simpleString() == (
        "struct<id:bigint,price:decimal(10,2),tags:array<map<string,int>>>"
    )
    assert [field.nullable for field in found] == [False, True, False]


def test_a_word_that_is_no_type_is_named_with_its_field_and_those_there_are() -> None:
    with pytest.raises(BadShape, match=r"field 'id': 'number' is no type\. There are: boolean"):
        structure({"id": "number"})


def test_two_types_for_one_field_are_refused() -> None:
    @dataclass
    class Either:
        id: int | str

    with pytest.raises(BadShape, match=r"field .id.: .* is more than one type"):
        structure(Either)
