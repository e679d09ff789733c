"""Messages of Protobuf as rows, and rows as messages.

An enum is its name; a Timestamp is a timestamp; a wrapper is what it wraps, or null; a Struct is
its JSON; uint64 is a decimal, as Spark has no number for it. A field without presence is never
null.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from decimal import Decimal
from typing import Any, NamedTuple

from google.protobuf import json_format
from google.protobuf.descriptor import FieldDescriptor
from pyspark.sql import types as spark

from ottla.pipelines.reading.rows import Row, Unreadable

_LONG = spark.LongType()
_UNSIGNED = spark.DecimalType(20, 0)
_SCALARS: dict[int, spark.DataType] = {
    FieldDescriptor.TYPE_DOUBLE: spark.DoubleType(),
    FieldDescriptor.TYPE_FLOAT: spark.FloatType(),
    FieldDescriptor.TYPE_INT32: spark.IntegerType(),
    FieldDescriptor.TYPE_SINT32: spark.IntegerType(),
    FieldDescriptor.TYPE_SFIXED32: spark.IntegerType(),
    FieldDescriptor.TYPE_UINT32: _LONG,
    FieldDescriptor.TYPE_FIXED32: _LONG,
    FieldDescriptor.TYPE_INT64: _LONG,
    FieldDescriptor.TYPE_SINT64: _LONG,
    FieldDescriptor.TYPE_SFIXED64: _LONG,
    FieldDescriptor.TYPE_UINT64: _UNSIGNED,
    FieldDescriptor.TYPE_FIXED64: _UNSIGNED,
    FieldDescriptor.TYPE_BOOL: spark.BooleanType(),
    FieldDescriptor.TYPE_STRING: spark.StringType(),
    FieldDescriptor.TYPE_BYTES: spark.BinaryType(),
}
_GOOGLE = "google.protobuf."
_AS_JSON = (f"{_GOOGLE}Struct", f"{_GOOGLE}Value", f"{_GOOGLE}ListValue")
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)

Get = Callable[[Any], Any]
Fill = Callable[[Any, Any], None]  # a message and the value that it shall have


class Value(NamedTuple):
    """One that stands alone, in a list or in a map."""

    kind: spark.DataType
    get: Get
    put: Get  # what protobuf takes for it; of a message: nothing, it is filled
    fill: Fill | None = None


class MessageRows(NamedTuple):
    schema: spark.StructType
    get: Callable[[Any], Row]
    fill: Callable[[Any, Row], None]


def message_rows(descriptor: Any, *, path: str = "", within: tuple[str, ...] = ()) -> MessageRows:
    if descriptor.full_name in within:
        raise Unreadable(f"{path}: {descriptor.full_name} holds itself, which no column can")
    within = (*within, descriptor.full_name)
    fields = [_field(field, path=path, within=within) for field in descriptor.fields]
    getters = [(field.name, get) for (field, get, _) in fields]
    fillers = [(field.name, fill) for (field, _, fill) in fields]

    def fill_all(message: Any, row: Row) -> None:
        for name, fill in fillers:
            value = row.get(name)
            if value is not None:
                fill(message, value)

    return MessageRows(
        spark.StructType([field for field, _, _ in fields]),
        lambda message: {name: get(message) for name, get in getters},
        fill_all,
    )


def _field(
    field: Any, *, path: str, within: tuple[str, ...]
) -> tuple[spark.StructField, Get, Fill]:
    place = f"{path}.{field.name}" if path else field.name
    name = field.name
    if field.message_type is not None and field.message_type.GetOptions().map_entry:
        return _map(field, path=place, within=within)
    value = _value(field, path=place, within=within)
    get = value.get
    if field.is_repeated:
        array = spark.ArrayType(value.kind, containsNull=False)
        return (
            spark.StructField(name, array, nullable=False),
            lambda message: [get(item) for item in getattr(message, name)],
            _fill_list(name, value),
        )
    fill = _fill_one(name, value)
    if field.has_presence:
        # What is required and not there is null, too: the contract will see it.
        return (
            spark.StructField(name, value.kind, nullable=not field.is_required),
            lambda message: get(getattr(message, name)) if message.HasField(name) else None,
            fill,
        )
    kind = spark.StructField(name, value.kind, nullable=False)
    return kind, lambda message: get(getattr(message, name)), fill


def _map(field: Any, *, path: str, within: tuple[str, ...]) -> tuple[spark.StructField, Get, Fill]:
    entry = field.message_type.fields_by_name
    key = _value(entry["key"], path=path, within=within)
    value = _value(entry["value"], path=f"{path}{{}}", within=within)
    name, get_key, get_value = field.name, key.get, value.get

    def fill(message: Any, entries: dict[Any, Any]) -> None:
        target = getattr(message, name)
        for each, item in entries.items():
            if value.fill is None:
                target[key.put(each)] = value.put(item)
            else:
                value.fill(target[key.put(each)], item)

    kind = spark.MapType(key.kind, value.kind, valueContainsNull=False)
    return (
        spark.StructField(name, kind, nullable=False),
        lambda message: {
            get_key(each): get_value(item) for each, item in getattr(message, name).items()
        },
        fill,
    )


def _fill_one(name: str, value: Value) -> Fill:
    if (fill := value.fill) is None:
        return lambda message, given: setattr(message, name, value.put(given))

    def fill_message(message: Any, given: Any) -> None:
        target = getattr(message, name)
        target.SetInParent()  # it is there, though all in it may be as by default
        fill(target, given)

    return fill_message


def _fill_list(name: str, value: Value) -> Fill:
    def fill_list(message: Any, given: list[Any]) -> None:
        target = getattr(message, name)
        for item in given:
            if value.fill is None:
                target.append(value.put(item))
            else:
                value.fill(target.add(), item)

    return fill_list


def _value(field: Any, *, path: str, within: tuple[str, ...]) -> Value:
    if field.enum_type is not None:
        return _enum(field.enum_type)
    if field.message_type is not None:
        return _message(field.message_type, path=path, within=within)
    kind = _SCALARS[field.type]
    return Value(kind, Decimal if kind is _UNSIGNED else _same, int if kind is _UNSIGNED else _same)


def _same(value: Any) -> Any:
    return value


def _enum(enum: Any) -> Value:
    names = {number: it.name for number, it in enum.values_by_number.items()}
    numbers: dict[str, int] = {it.name: it.number for it in enum.values}

    def put(name: str) -> int:
        if name not in numbers:
            raise ValueError(f"{name!r} is no value of {enum.full_name}")
        return numbers[name]

    # A newer writer may know more of them; the number is better than nothing.
    return Value(spark.StringType(), lambda number: names.get(number) or str(number), put)


def _message(descriptor: Any, *, path: str, within: tuple[str, ...]) -> Value:
    name = descriptor.full_name
    if name == f"{_GOOGLE}Timestamp":
        return Value(
            spark.TimestampType(),
            lambda time: time.seconds * 1_000_000 + time.nanos // 1000,
            _same,
            _fill_time,
        )
    if name in _AS_JSON:
        return Value(
            spark.StringType(),
            lambda message: json_format.MessageToJson(message, indent=None),
            _same,
            lambda message, text: json_format.Parse(text, message),
        )
    if descriptor.file.name == "google/protobuf/wrappers.proto":
        inner = _value(descriptor.fields_by_name["value"], path=path, within=within)
        get, put = inner.get, inner.put
        return Value(
            inner.kind,
            lambda message: get(message.value),
            _same,
            lambda message, value: setattr(message, "value", put(value)),
        )
    rows = message_rows(descriptor, path=path, within=within)
    return Value(rows.schema, rows.get, _same, rows.fill)


def _fill_time(message: Any, time: datetime.datetime) -> None:
    since = time - _EPOCH
    message.seconds = since.days * 86_400 + since.seconds
    message.nanos = since.microseconds * 1000
