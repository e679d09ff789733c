"""PostgreSQL's types in Spark: the plain ones as they are, the rest as text, none unknown."""

from __future__ import annotations

import pytest
from pyspark.sql import types as spark

from ottla.pipelines.sources.postgres_types import GROWING, asked

NO_MODIFIER = -1


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("bool", spark.BooleanType()),
        ("int2", spark.IntegerType()),
        ("int8", spark.LongType()),
        ("float4", spark.FloatType()),
        ("varchar", spark.StringType()),
        ("bytea", spark.BinaryType()),
        ("date", spark.DateType()),
        ("timestamp", spark.TimestampType()),
        ("timestamptz", spark.TimestampType()),
        ("_int4", spark.ArrayType(spark.IntegerType())),
        ("_text", spark.ArrayType(spark.StringType())),
    ],
)
def test_a_type_that_spark_knows_stays(name: str, kind: spark.DataType) -> None:
    assert asked(name, NO_MODIFIER).type == kind


@pytest.mark.parametrize("name", ["uuid", "jsonb", "interval", "inet", "mood", "_numeric", "_date"])
def test_what_spark_does_not_know_is_asked_for_as_text(name: str) -> None:
    assert asked(name, NO_MODIFIER) == (spark.StringType(), "{}::text")


@pytest.mark.parametrize(
    ("precision", "scale", "kind"),
    [(10, 2, (10, 2)), (38, 0, (38, 0)), (39, 2, (38, 18)), (5, 7, (38, 18))],
)
def test_a_number_keeps_its_digits_if_spark_can_hold_them(
    precision: int, scale: int, kind: tuple[int, int]
) -> None:
    modifier = (precision << 16 | scale) + 4
    found = asked("numeric", modifier)
    assert found == (spark.DecimalType(*kind), f"{{}}::numeric({kind[0]},{kind[1]})")


def test_a_number_without_a_limit_gets_one() -> None:
    assert asked("numeric", NO_MODIFIER).type == spark.DecimalType(38, 18)


def test_what_can_grow_is_a_number_or_a_time() -> None:
    kinds = {type(asked(name, NO_MODIFIER).type) for name in GROWING}
    assert kinds == {
        spark.IntegerType,
        spark.LongType,
        spark.DecimalType,
        spark.TimestampType,
    }
