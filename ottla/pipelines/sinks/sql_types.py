"""What a column of a frame becomes in a database, and which columns that are there will do.

A type's first name is that of a column we make; the others hold every value of it as well.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from pyspark.sql import types as spark

from ottla.pipelines.sinks.port import SinkRefused

Names = tuple[str, ...]
_WITH_SIZE = re.compile(r"([a-z ]+?) ?\((\d+)(?:, ?(\d+))?\)([a-z ]*)")
# So many digits before the point, in a column of numbers of any size.
_DIGITS = {"tinyint": 3, "smallint": 5, "int": 10, "bigint": 19}
_TEXT = ("text", "character varying", "character", "citext", "uuid", "json", "jsonb")

_POSTGRES: Mapping[str, Names] = {
    "boolean": ("boolean",),
    "tinyint": ("smallint", "integer", "bigint", "numeric"),
    "smallint": ("smallint", "integer", "bigint", "numeric"),
    "int": ("integer", "bigint", "numeric"),
    "bigint": ("bigint", "numeric"),
    "float": ("real", "double precision"),
    "double": ("double precision",),
    "decimal": ("numeric",),
    "string": _TEXT,
    "binary": ("bytea",),
    "date": ("date",),
    "timestamp": ("timestamp with time zone",),
    "timestamp_ntz": ("timestamp without time zone",),
    "day-time interval": ("interval",),
    "time": ("time without time zone",),
    "nested": ("jsonb", "json", "text"),
}
# SQLite keeps what it is given; a column's type only says what it is turned into before.
_SQLITE: Mapping[str, Names] = {
    "boolean": ("integer", "numeric"),
    "tinyint": ("integer", "numeric"),
    "smallint": ("integer", "numeric"),
    "int": ("integer", "numeric"),
    "bigint": ("integer", "numeric"),
    "float": ("real", "numeric"),
    "double": ("real", "numeric"),
    "decimal": ("text",),  # as a number it would be rounded to a double
    "string": ("text",),
    "binary": ("blob",),
    "date": ("text",),
    "timestamp": ("text",),
    "timestamp_ntz": ("text",),
    "day-time interval": ("real",),  # seconds
    "time": ("text",),
    "nested": ("text",),
}
_DUCKDB: Mapping[str, Names] = {
    "boolean": ("boolean",),
    "tinyint": ("tinyint", "smallint", "integer", "bigint", "hugeint"),
    "smallint": ("smallint", "integer", "bigint", "hugeint"),
    "int": ("integer", "bigint", "hugeint"),
    "bigint": ("bigint", "hugeint"),
    "float": ("float", "double"),
    "double": ("double",),
    "decimal": ("decimal",),
    "string": ("varchar", "json", "uuid"),
    "binary": ("blob",),
    "date": ("date",),
    "timestamp": ("timestamp with time zone",),
    "timestamp_ntz": ("timestamp",),
    "day-time interval": ("interval",),
    "time": ("time",),
    "nested": ("json", "varchar"),
}
DIALECTS = {"PostgreSQL": _POSTGRES, "SQLite": _SQLITE, "DuckDB": _DUCKDB}


def is_nested(kind: spark.DataType) -> bool:
    """Such a column is written as JSON."""
    return isinstance(kind, spark.ArrayType | spark.MapType | spark.StructType | spark.VariantType)


def sql_type(dialect: str, column: str, kind: spark.DataType) -> str:
    """Of a column that we make."""
    name = DIALECTS[dialect][_kind(column, kind)][0]
    if isinstance(kind, spark.DecimalType) and name != "text":
        return f"{name}({kind.precision},{kind.scale})"
    return name


def fits(dialect: str, column: str, kind: spark.DataType, *, existing: str) -> bool:
    """Whether a column of this type holds every value of ours, and holds it whole."""
    ours = _kind(column, kind)
    found = _affinity(existing) if dialect == "SQLite" else existing.lower()
    if not found:
        return True  # a column of SQLite's without a type takes everything
    name, size = _apart(found)
    if name not in DIALECTS[dialect][ours]:
        return False
    if name in ("numeric", "decimal") and size is not None:
        before, after = _digits(ours, kind)
        return before <= size[0] - size[1] and after <= size[1]
    return True


def _kind(column: str, kind: spark.DataType) -> str:
    match kind:
        case spark.DecimalType():
            return "decimal"
        case spark.StringType() | spark.NullType() | spark.CharType() | spark.VarcharType():
            return "string"
        case spark.DayTimeIntervalType():
            return "day-time interval"
        case spark.TimeType():
            return "time"
    name = "nested" if is_nested(kind) else kind.simpleString()
    if name not in _POSTGRES:
        raise SinkRefused(
            f"column {column!r}: {name} has no type in a database; cast it to another"
        )
    return name


def _apart(name: str) -> tuple[str, tuple[int, int] | None]:
    found = _WITH_SIZE.fullmatch(name)
    if found is None:
        return name, None
    return found[1] + found[4], (int(found[2]), int(found[3] or 0))


def _digits(ours: str, kind: spark.DataType) -> tuple[int, int]:
    if isinstance(kind, spark.DecimalType):
        return kind.precision - kind.scale, kind.scale
    return _DIGITS[ours], 0


def _affinity(declared: str) -> str:
    """SQLite's own rules, in its own order."""
    name = declared.upper()
    if not name:
        return ""
    if "INT" in name:
        return "integer"
    if any(part in name for part in ("CHAR", "CLOB", "TEXT")):
        return "text"
    if "BLOB" in name or name == "ANY":
        return "blob" if name != "ANY" else ""
    return "real" if any(part in name for part in ("REAL", "FLOA", "DOUB")) else "numeric"
