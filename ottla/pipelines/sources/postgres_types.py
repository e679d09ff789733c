"""What PostgreSQL's types become in Spark, and how a column is asked for so that it does."""

from __future__ import annotations

from typing import NamedTuple

from pyspark.sql import types as spark

# `{}` stands for the column's name.
_AS_IT_IS = "{}"
_AS_TEXT = "{}::text"
# Python knows the years 1 to 9999: what is beyond, infinity too, comes as null.
_KNOWN_YEARS = "case when {} between '0001-01-02' and '9999-12-30' then {} end"
_AS_UTC = "case when {} between '0001-01-02' and '9999-12-30' then {} at time zone 'UTC' end"
_MOST_DIGITS = 38
_ANY_NUMERIC = spark.DecimalType(_MOST_DIGITS, 18)


class Asked(NamedTuple):
    type: spark.DataType
    expression: str = _AS_IT_IS


_TYPES = {
    "bool": Asked(spark.BooleanType()),
    "int2": Asked(spark.IntegerType()),
    "int4": Asked(spark.IntegerType()),
    "int8": Asked(spark.LongType()),
    "float4": Asked(spark.FloatType()),
    "float8": Asked(spark.DoubleType()),
    "text": Asked(spark.StringType()),
    "varchar": Asked(spark.StringType()),
    "bpchar": Asked(spark.StringType()),
    "bytea": Asked(spark.BinaryType()),
    "date": Asked(spark.DateType(), _KNOWN_YEARS),
    "timestamptz": Asked(spark.TimestampType(), _KNOWN_YEARS),
    "timestamp": Asked(spark.TimestampType(), _AS_UTC),
}
_ARRAYS = {
    f"_{name}": Asked(spark.ArrayType(asked.type))
    for name, asked in _TYPES.items()
    if asked.expression == _AS_IT_IS
}
# A column of these can say what is new. The others may grow, but not by themselves.
GROWING = ("int2", "int4", "int8", "numeric", "timestamp", "timestamptz")
TIMES = ("timestamp", "timestamptz")


def asked(type_name: str, modifier: int) -> Asked:
    """By `pg_type.typname` and `pg_attribute.atttypmod`. What Spark has no type for is text."""
    if type_name == "numeric":
        kind = _decimal(modifier)
        return Asked(kind, f"{{}}::numeric({kind.precision},{kind.scale})")
    return _TYPES.get(type_name) or _ARRAYS.get(type_name) or Asked(spark.StringType(), _AS_TEXT)


def _decimal(modifier: int) -> spark.DecimalType:
    if modifier < 0:
        return _ANY_NUMERIC
    precision, scale = (modifier - 4) >> 16, (modifier - 4) & 0x7FF
    fits = scale <= precision <= _MOST_DIGITS  # else more than Spark can hold, or a scale below 0
    return spark.DecimalType(precision, scale) if fits else _ANY_NUMERIC
