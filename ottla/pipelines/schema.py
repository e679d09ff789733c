"""What a row looks like, said by a dataclass or by names of types, as Spark's `StructType`.

Nothing here needs a running Spark.
"""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import re
import types
import typing
from collections.abc import Iterable, Mapping
from typing import Any

from pyspark.sql import types as spark

Shape = type | spark.StructType | Mapping[str, str]

_PLAIN: dict[object, spark.DataType] = {
    bool: spark.BooleanType(),
    int: spark.LongType(),
    float: spark.DoubleType(),
    str: spark.StringType(),
    bytes: spark.BinaryType(),
    datetime.date: spark.DateType(),
    datetime.datetime: spark.TimestampType(),
    decimal.Decimal: spark.DecimalType(38, 18),
}
_NAMED: dict[str, spark.DataType] = {
    "boolean": spark.BooleanType(),
    "int": spark.IntegerType(),
    "long": spark.LongType(),
    "bigint": spark.LongType(),
    "float": spark.FloatType(),
    "double": spark.DoubleType(),
    "string": spark.StringType(),
    "binary": spark.BinaryType(),
    "date": spark.DateType(),
    "timestamp": spark.TimestampType(),
}
_NULL = " or null"
_DECIMAL = re.compile(r"decimal\((\d+),\s*(\d+)\)")


class BadShape(Exception):
    """A field whose type nobody can read; the message names both."""


def structure(shape: Shape) -> spark.StructType:
    """`PageView`, a dataclass; `{"user_id": "string or null"}`; or Spark's own."""
    if isinstance(shape, spark.StructType):
        return shape
    if isinstance(shape, Mapping):
        return spark.StructType([_named_field(*item) for item in shape.items()])
    if not dataclasses.is_dataclass(shape):
        raise BadShape(f"{shape!r} is neither a dataclass, a StructType nor names with types")
    hints = typing.get_type_hints(shape)
    return spark.StructType(
        [_hinted_field(field.name, hints[field.name]) for field in dataclasses.fields(shape)]
    )


def _named_field(name: str, text: str) -> spark.StructField:
    kind = text.strip()
    return spark.StructField(name, _named(name, kind.removesuffix(_NULL)), kind.endswith(_NULL))


def _named(field: str, text: str) -> spark.DataType:
    text = text.strip()
    if plain := _NAMED.get(text):
        return plain
    if number := _DECIMAL.fullmatch(text):
        return spark.DecimalType(int(number[1]), int(number[2]))
    if text.startswith("array<") and text.endswith(">"):
        return spark.ArrayType(_named(field, text[6:-1]))
    if text.startswith("map<string,") and text.endswith(">"):
        return spark.MapType(spark.StringType(), _named(field, text[11:-1]))
    known = ", ".join([*_NAMED, "decimal(p,s)", "array<T>", "map<string,T>"])
    raise BadShape(
        f"field {field!r}: {text!r} is no type. There are: {known}; each may be followed by{_NULL}"
    )


def _hinted_field(name: str, hint: Any) -> spark.StructField:
    allowed = _alternatives(hint)
    kinds = [kind for kind in allowed if kind is not types.NoneType]
    if len(kinds) != 1:
        raise BadShape(f"field {name!r}: {hint} is more than one type")
    return spark.StructField(name, _hinted(name, kinds[0]), types.NoneType in allowed)


def _alternatives(hint: Any) -> Iterable[Any]:
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return typing.get_args(hint)
    return (hint,)


def _hinted(name: str, hint: Any) -> spark.DataType:
    if isinstance(hint, typing.Hashable) and (plain := _PLAIN.get(hint)):
        return plain
    if dataclasses.is_dataclass(hint):
        assert isinstance(hint, type)
        return structure(hint)
    match typing.get_origin(hint), typing.get_args(hint):
        case (typing_list, (element,)) if typing_list is list:
            item = _hinted_field(name, element)
            return spark.ArrayType(item.dataType, item.nullable)
        case (typing_dict, (key, value)) if typing_dict is dict and key is str:
            entry = _hinted_field(name, value)
            return spark.MapType(spark.StringType(), entry.dataType, entry.nullable)
    known = ", ".join(kind.__name__ for kind in _PLAIN if isinstance(kind, type))
    raise BadShape(f"field {name!r}: {hint} is no type of a column. There are: {known}, list, dict")


def quoted_column(name: str) -> str:
    """As Spark wants it of a name that may have dots in it."""
    return "`" + name.replace("`", "``") + "`"
