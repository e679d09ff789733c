"""Rows as Python has them, dicts, and as Arrow has them; and what a decoder may accept for each.

Times are ISO 8601 (without a zone: UTC) or whole epoch milliseconds, Kafka's own unit. Decimals are
numbers or strings, since many programs cannot write them as numbers without loss. Binary is base64.
A string is no number, nor a number a string. A field that is not there is null; what the schema
does not name is skipped.
"""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Annotated, Any, TypedDict

import msgspec
import pyarrow as pa
from pyspark.sql import types as spark
from pyspark.sql.pandas.types import to_arrow_type

from ottla.pipelines.reading.decoded import MALFORMED, Decoded, Fault

Row = dict[str, Any]
Mender = Callable[[Any], Any]

# What msgspec, fastavro, protobuf and Arrow raise at bytes that are not what they should be.
UNREADABLE = (ValueError, TypeError, LookupError, ArithmeticError, EOFError, MemoryError)
DEEP = (RecursionError,)
_SAID_BETTER: dict[type[BaseException], str] = {
    RecursionError: "the value is nested too deeply",
    EOFError: "the value ends too early",
    IndexError: "the value ends too early, or has a branch that its schema lacks",
    MemoryError: "the value says that it is larger than memory",
}
LONGEST_SENTENCE = 300

_INT64 = 2**63
_FLOAT32 = 3.4028235677973366e38  # the next number above rounds to infinity
_WIDTHS: dict[type[spark.DataType], int] = {
    spark.ByteType: 2**7,
    spark.ShortType: 2**15,
    spark.IntegerType: 2**31,
    spark.LongType: _INT64,
}
_PLAIN: dict[type[spark.DataType], Any] = {
    spark.BooleanType: bool,
    spark.FloatType: Annotated[float, msgspec.Meta(ge=-_FLOAT32, le=_FLOAT32)],
    spark.DoubleType: float,
    spark.StringType: str,
    spark.BinaryType: bytes,
    spark.DateType: datetime.date,
    spark.DecimalType: decimal.Decimal,
    spark.NullType: None,
}
_MILLISECONDS = Annotated[int, msgspec.Meta(ge=-(_INT64 // 1000), le=_INT64 // 1000 - 1)]
_typed_dict: Any = TypedDict  # made while running, which mypy cannot follow


class Unreadable(Exception):
    """A schema that no row can be read by; the message names the field and what is wrong."""


class EncodingRefused(Exception):
    """A row that cannot be written as its format wants; the message names it and says why."""


def arrow_type(schema: spark.StructType) -> Any:
    return to_arrow_type(schema, timezone="UTC")


def accepted(schema: spark.StructType, *, path: str = "") -> Any:
    """What msgspec shall make of a row: checked and converted in C, with the place of a mistake.

    Everything may be null here: whether it should, the contract says for every format alike.
    """
    fields = {
        field.name: _accepted(field.dataType, f"{path}{field.name}") | None for field in schema
    }
    return _typed_dict("Row", fields, total=False)


def _accepted(kind: spark.DataType, path: str) -> Any:
    if (width := _WIDTHS.get(type(kind))) is not None:
        return Annotated[int, msgspec.Meta(ge=-width, le=width - 1)]
    if isinstance(kind, spark.TimestampType | spark.TimestampNTZType):
        return datetime.datetime | _MILLISECONDS
    if isinstance(kind, spark.StructType):
        return accepted(kind, path=f"{path}.")
    if isinstance(kind, spark.ArrayType):
        return list[_accepted(kind.elementType, f"{path}[]") | None]  # type: ignore[misc]
    if isinstance(kind, spark.MapType):
        key, value = _accepted(kind.keyType, path), _accepted(kind.valueType, path)
        return dict[key, value | None]  # type: ignore[valid-type]
    for plain, accepts in _PLAIN.items():
        if isinstance(kind, plain):
            return accepts
    raise Unreadable(f"{path}: {kind.simpleString()} cannot be read from text")


def mender(kind: Any) -> Mender | None:
    """Turns epoch milliseconds into the microseconds that Arrow holds; None: nothing to do."""
    if pa.types.is_timestamp(kind):
        return lambda value: value * 1000 if type(value) is int else value
    if pa.types.is_struct(kind):
        menders = [(field.name, mend) for field in kind if (mend := mender(field.type))]
        return mend_fields(menders) if menders else None
    if pa.types.is_map(kind):
        return mend_entries(mender(kind.item_type))
    if pa.types.is_list(kind):
        return mend_items(mender(kind.value_type))
    return None


def mend_fields(menders: Sequence[tuple[str, Mender]]) -> Mender:
    def mend_row(row: Row) -> Row:
        for name, mend in menders:
            value = row.get(name)
            if value is not None:
                row[name] = mend(value)
        return row

    return mend_row


def mend_items(mend: Mender | None) -> Mender | None:
    if mend is None:
        return None
    return lambda items: [None if item is None else mend(item) for item in items]


def mend_entries(mend: Mender | None) -> Mender | None:
    if mend is None:
        return None
    return lambda entries: {
        key: None if value is None else mend(value) for key, value in entries.items()
    }


def to_arrow(rows: Sequence[Row | None], kind: Any, faults: Iterable[Fault]) -> Decoded:
    """Arrow refuses all rows for the sake of one, such as a decimal that is too long."""
    found = list(faults)
    try:
        return Decoded(pa.array(rows, type=kind), found)
    except UNREADABLE:
        parts = list(_sieved(rows, kind, 0, found))
        return Decoded(pa.concat_arrays(parts), sorted(found))


def _sieved(rows: Sequence[Row | None], kind: Any, start: int, faults: list[Fault]) -> Any:
    step = max(1, len(rows) // 16)
    for at in range(0, len(rows), step):
        part = rows[at : at + step]
        try:
            yield pa.array(part, type=kind)
        except UNREADABLE as cause:
            if step > 1:
                yield from _sieved(part, kind, start + at, faults)
            else:
                faults.append(Fault(start + at, MALFORMED, _place(part[0], kind) + sentence(cause)))
                yield pa.nulls(1, type=kind)


def _place(row: Row | None, kind: Any) -> str:
    """Arrow does not say which field it could not take."""
    for field in kind:
        try:
            pa.array([(row or {}).get(field.name)], type=field.type)
        except UNREADABLE:
            return f"{field.name}: "
    return ""


def sentence(cause: BaseException) -> str:
    return _reworded(str(cause) or type(cause).__name__)


@lru_cache  # a flood of bad records mostly has one mistake
def _reworded(text: str) -> str:
    """msgspec says: Expected `str | null`, got `int` - at `$.user_id`."""
    what, _, place = text.replace(" | null", "").partition(" - at `$")
    place = place.rstrip("`").lstrip(".")
    said = f"{place}: {what[:1].lower()}{what[1:]}" if place else what
    return said.replace("`", "'")[:LONGEST_SENTENCE]


def fault(at: int, value: bytes | None, cause: BaseException) -> Fault:
    if value is None:
        return Fault(at, MALFORMED, "the record has no value; it is a tombstone")
    return Fault(at, MALFORMED, _SAID_BETTER.get(type(cause)) or sentence(cause))
