"""What changed between two shapes of rows, and whether whoever took the old can take the new.

A sink takes new fields, and wider ones: int as long or double, float as double, a decimal with more
digits. It does not take null where it was promised none, nor a field gone that it was promised.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from typing import NamedTuple

from pyspark.sql import types as spark

# Each loses nothing when it is turned into one of those after it.
_WIDER: dict[type[spark.DataType], tuple[type[spark.DataType], ...]] = {
    spark.ByteType: (spark.ShortType, spark.IntegerType, spark.LongType, spark.DoubleType),
    spark.ShortType: (spark.IntegerType, spark.LongType, spark.DoubleType),
    spark.IntegerType: (spark.LongType, spark.DoubleType),
    spark.FloatType: (spark.DoubleType,),
    spark.DateType: (spark.TimestampNTZType,),
}


class Change(NamedTuple):
    path: str  # place.city; [] is an element, {} a value of a map
    what: str  # "int became string"
    is_breaking: bool
    is_wider: bool = False  # goes on only with whoever can widen, too
    is_gone: bool = False


def changes(
    old: spark.StructType, new: spark.StructType, *, optional: Container[str] = ()
) -> list[Change]:
    """`optional`: paths of fields for which there is something else if they are gone."""
    return [
        change._replace(is_breaking=False) if change.is_gone and change.path in optional else change
        for change in _fields(old, new, path="")
    ]


def diff(found: Iterable[Change]) -> str:
    """A line for each change, the breaking ones marked."""
    return "\n".join(
        f"{'!' if change.is_breaking else ' '} {change.path}: {change.what}" for change in found
    )


def _fields(old: spark.StructType, new: spark.StructType, *, path: str) -> Iterator[Change]:
    before = {field.name: field for field in old}
    after = {field.name: field for field in new}
    for name, field in before.items():
        if name in after:
            yield from _field(field, after[name], path=f"{path}{name}")
        elif field.nullable:
            yield Change(
                f"{path}{name}", f"{_said(field)} is gone, and reads as null", False, is_gone=True
            )
        else:
            yield Change(f"{path}{name}", f"{_said(field)} is gone", True, is_gone=True)
    for name, field in after.items():
        if name not in before:
            yield Change(f"{path}{name}", f"{_said(field)} is new", False)


def _field(old: spark.StructField, new: spark.StructField, *, path: str) -> Iterator[Change]:
    yield from _nullable(old.nullable, new.nullable, path)
    yield from _kind(old.dataType, new.dataType, path=path)


def _nullable(was: bool, is_now: bool, path: str) -> Iterator[Change]:
    if is_now and not was:
        yield Change(path, "may be null now", True)
    elif was and not is_now:
        yield Change(path, "is never null now", False)


def _kind(old: spark.DataType, new: spark.DataType, *, path: str) -> Iterator[Change]:
    match old, new:
        case spark.StructType(), spark.StructType():
            yield from _fields(old, new, path=f"{path}.")
        case spark.ArrayType(), spark.ArrayType():
            yield from _nullable(old.containsNull, new.containsNull, f"{path}[]")
            yield from _kind(old.elementType, new.elementType, path=f"{path}[]")
        case spark.MapType(), spark.MapType():
            yield from _kind(old.keyType, new.keyType, path=f"{path}{{key}}")
            yield from _nullable(old.valueContainsNull, new.valueContainsNull, f"{path}{{}}")
            yield from _kind(old.valueType, new.valueType, path=f"{path}{{}}")
        case _ if old != new:
            became = f"{old.simpleString()} became {new.simpleString()}"
            if _widens(old, new):
                yield Change(path, f"{became}, which is wider", False, is_wider=True)
            elif _widens(new, old):
                yield Change(path, f"{became}, which fits", False)
            else:
                yield Change(path, became, True)


def _widens(old: spark.DataType, new: spark.DataType) -> bool:
    if isinstance(old, spark.DecimalType) and isinstance(new, spark.DecimalType):
        whole = new.precision - new.scale >= old.precision - old.scale
        return whole and new.scale >= old.scale
    return isinstance(new, _WIDER.get(type(old), ()))


def _said(field: spark.StructField) -> str:
    kind = field.dataType.simpleString()
    return f"{kind}, may be null," if field.nullable else kind
