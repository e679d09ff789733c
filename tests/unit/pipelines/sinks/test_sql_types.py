"""Which types columns get, and which columns that are there will do."""

from __future__ import annotations

import pytest
from pyspark.sql import types as spark

from ottla.pipelines.sinks.port import SinkRefused
from ottla.pipelines.sinks.sql_types import DIALECTS, fits, sql_type

EVERY_KIND = [
    spark.BooleanType(),
    spark.ByteType(),
    spark.ShortType(),
    spark.IntegerType(),
    spark.LongType(),
    spark.FloatType(),
    spark.DoubleType(),
    spark.DecimalType(12, 3),
    spark.StringType(),
    spark.VarcharType(9),
    spark.CharType(9),
    spark.NullType(),
    spark.BinaryType(),
    spark.DateType(),
    spark.TimestampType(),
    spark.TimestampNTZType(),
    spark.DayTimeIntervalType(),
    spark.TimeType(),
    spark.ArrayType(spark.LongType()),
    spark.MapType(spark.StringType(), spark.LongType()),
    spark.StructType([spark.StructField("a", spark.LongType())]),
    spark.VariantType(),
]


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("kind", EVERY_KIND, ids=spark.DataType.simpleString)
def test_a_column_that_we_made_fits(dialect: str, kind: spark.DataType) -> None:
    made = sql_type(dialect, "c", kind)
    assert fits(dialect, "c", kind, existing=made)
    assert fits(dialect, "c", kind, existing=made.upper())


@pytest.mark.parametrize(
    "kind", [spark.YearMonthIntervalType(), spark.CalendarIntervalType(), spark.GeometryType(0)]
)
def test_what_no_database_has_is_refused_by_column(kind: spark.DataType) -> None:
    with pytest.raises(SinkRefused, match=r"column 'c': .* has no type in a database; cast it"):
        sql_type("PostgreSQL", "c", kind)


@pytest.mark.parametrize(
    ("dialect", "kind", "existing"),
    [
        ("PostgreSQL", spark.IntegerType(), "bigint"),
        ("PostgreSQL", spark.IntegerType(), "numeric"),
        ("PostgreSQL", spark.LongType(), "numeric(19,0)"),
        ("PostgreSQL", spark.StringType(), "character varying(40)"),
        ("PostgreSQL", spark.StringType(), "jsonb"),
        ("PostgreSQL", spark.DecimalType(6, 2), "numeric(10,4)"),
        ("PostgreSQL", spark.TimestampType(), "timestamp(3) with time zone"),
        ("SQLite", spark.LongType(), "UNSIGNED BIG INT"),
        ("SQLite", spark.StringType(), "VARCHAR(20)"),
        ("SQLite", spark.BinaryType(), ""),
        ("DuckDB", spark.FloatType(), "DOUBLE"),
        ("DuckDB", spark.DecimalType(6, 2), "DECIMAL(8,2)"),
    ],
)
def test_a_wider_column_fits(dialect: str, kind: spark.DataType, existing: str) -> None:
    assert fits(dialect, "c", kind, existing=existing)


@pytest.mark.parametrize(
    ("dialect", "kind", "existing"),
    [
        ("PostgreSQL", spark.LongType(), "integer"),
        ("PostgreSQL", spark.LongType(), "numeric(10,2)"),
        ("PostgreSQL", spark.DecimalType(6, 2), "numeric(6,1)"),
        ("PostgreSQL", spark.DecimalType(6, 2), "numeric(5,2)"),
        ("PostgreSQL", spark.StringType(), "integer"),
        ("PostgreSQL", spark.TimestampType(), "timestamp without time zone"),
        ("SQLite", spark.StringType(), "INTEGER"),
        ("SQLite", spark.DecimalType(6, 2), "DECIMAL(6,2)"),
        ("DuckDB", spark.DoubleType(), "FLOAT"),
        ("DuckDB", spark.BinaryType(), "VARCHAR"),
    ],
)
def test_a_column_that_would_lose_something_does_not(
    dialect: str, kind: spark.DataType, existing: str
) -> None:
    assert not fits(dialect, "c", kind, existing=existing)
