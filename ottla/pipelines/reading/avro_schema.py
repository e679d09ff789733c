"""What rows an Avro schema describes, and how its values become those of Arrow.

fastavro is given the schema without the logical types that are mere numbers: turning these into
objects and back would cost as much as all the rest.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, NamedTuple

from pyspark.sql import types as spark

from ottla.pipelines.reading.rows import (
    Mender,
    Unreadable,
    mend_entries,
    mend_fields,
    mend_items,
)

VALUE = "value"  # the column of a schema that is no record
MOST_DIGITS = 38

_PRIMITIVES: dict[str, tuple[spark.DataType, type]] = {
    "null": (spark.NullType(), type(None)),
    "boolean": (spark.BooleanType(), bool),
    "int": (spark.IntegerType(), int),
    "long": (spark.LongType(), int),
    "float": (spark.FloatType(), float),
    "double": (spark.DoubleType(), float),
    "bytes": (spark.BinaryType(), bytes),
    "string": (spark.StringType(), str),
}
_NUMBERS: dict[tuple[str, str], tuple[spark.DataType, Mender | None]] = {
    ("int", "date"): (spark.DateType(), None),
    ("long", "timestamp-millis"): (spark.TimestampType(), lambda ms: ms * 1000),
    ("long", "timestamp-micros"): (spark.TimestampType(), None),
    ("long", "timestamp-nanos"): (spark.TimestampType(), lambda ns: ns // 1000),
    ("long", "local-timestamp-millis"): (spark.TimestampNTZType(), lambda ms: ms * 1000),
    ("long", "local-timestamp-micros"): (spark.TimestampNTZType(), None),
    ("long", "local-timestamp-nanos"): (spark.TimestampNTZType(), lambda ns: ns // 1000),
}
_WIDEST: dict[tuple[str, ...], str] = {("int", "long"): "long", ("float", "double"): "double"}


class Shape(NamedTuple):
    kind: spark.DataType
    python: type  # what fastavro makes of it
    nullable: bool = False
    mend: Mender | None = None
    is_empty: bool = False  # takes no bytes


class RowShape(NamedTuple):
    schema: spark.StructType
    mend: Mender | None
    defaults: frozenset[str]  # paths of fields that a writer may leave out
    logical: Mapping[str, str]  # the logical types of numbers, by path


def row_shape(schema: Any, references: Mapping[str, Any] | None = None) -> RowShape:
    """Of a schema as JSON has it; a value that is no record becomes a row of one column."""
    walk = _Walk()
    for reference in (references or {}).values():
        walk.shape(reference, path="")
    shape = walk.shape(schema, path="")
    if isinstance(shape.kind, spark.StructType) and shape.python is dict and not shape.nullable:
        return RowShape(shape.kind, shape.mend, frozenset(walk.defaults), walk.logical)
    inner = shape.mend or (lambda value: value)
    field = spark.StructField(VALUE, shape.kind, shape.nullable)
    return RowShape(
        spark.StructType([field]),
        lambda value: {VALUE: None if value is None else inner(value)},
        frozenset(),
        walk.logical,
    )


def without_numbers(schema: Any) -> Any:
    """The same, but dates and times are the numbers that they are sent as."""
    if isinstance(schema, list):
        return [without_numbers(branch) for branch in schema]
    if not isinstance(schema, dict):
        return schema
    plain = {key: without_numbers(value) for key, value in schema.items() if key != "default"}
    if "default" in schema:
        plain["default"] = schema["default"]
    if plain.get("logicalType") != "decimal" or plain.get("precision", 0) > MOST_DIGITS:
        plain.pop("logicalType", None)
    return plain


def with_nulls(schema: Any) -> Any:
    """For reading what others wrote: a field that may be null is null if they do not have it."""
    if isinstance(schema, list):
        return [with_nulls(branch) for branch in schema]
    if not isinstance(schema, dict):
        return schema
    plain = {key: with_nulls(value) for key, value in schema.items() if key != "default"}
    if "default" in schema:
        plain["default"] = schema["default"]
    elif "name" in schema and isinstance(schema.get("type"), list) and "null" in schema["type"]:
        plain["default"] = None
    return plain


class _Walk:
    def __init__(self) -> None:
        self._names: dict[str, Shape | None] = {}  # None: it is being described right now
        self.defaults: list[str] = []
        self.logical: dict[str, str] = {}

    def shape(self, schema: Any, *, path: str, namespace: str = "") -> Shape:
        if isinstance(schema, list):
            return self._union(schema, path=path, namespace=namespace)
        if isinstance(schema, str):
            return self._named(schema, path=path, namespace=namespace)
        kind = schema["type"]
        match kind:
            case "record" | "error" | "enum" | "fixed":
                return self._definition(schema, path=path, namespace=namespace)
            case "array":
                return self._array(schema, path=path, namespace=namespace)
            case "map":
                value = self.shape(schema["values"], path=f"{path}{{}}", namespace=namespace)
                entries = spark.MapType(spark.StringType(), value.kind, value.nullable)
                return Shape(entries, dict, mend=mend_entries(value.mend))
            case str() if kind in _PRIMITIVES:
                if (kind, schema.get("logicalType")) in _NUMBERS:
                    self.logical[path] = schema["logicalType"]
                return _primitive(schema)
        return self.shape(kind, path=path, namespace=namespace)

    def _named(self, name: str, *, path: str, namespace: str) -> Shape:
        if name in _PRIMITIVES:
            return _primitive({"type": name})
        for full in (name, f"{namespace}.{name}"):
            if full in self._names:
                found = self._names[full]
                if found is None:
                    raise Unreadable(f"{path}: {full} holds itself, which no column can")
                return found
        raise Unreadable(f"{path}: there is no type {name!r}")

    def _definition(self, schema: Any, *, path: str, namespace: str) -> Shape:
        name = schema["name"]
        inner = name.rpartition(".")[0] or schema.get("namespace", namespace)
        full = name if "." in name or not inner else f"{inner}.{name}"
        self._names[full] = None
        if schema["type"] == "enum":
            shape = Shape(spark.StringType(), str)
        elif schema["type"] == "fixed":
            shape = _primitive(schema)._replace(is_empty=schema["size"] == 0)
        else:
            shape = self._record(schema, path=path, namespace=inner)
        self._names[full] = shape
        return shape

    def _record(self, schema: Any, *, path: str, namespace: str) -> Shape:
        prefix = f"{path}." if path else ""
        self.defaults += [f"{prefix}{it['name']}" for it in schema["fields"] if "default" in it]
        shapes = {
            field["name"]: self.shape(
                field["type"], path=f"{prefix}{field['name']}", namespace=namespace
            )
            for field in schema["fields"]
        }
        fields = [spark.StructField(name, it.kind, it.nullable) for name, it in shapes.items()]
        menders = [(name, it.mend) for name, it in shapes.items() if it.mend is not None]
        is_empty = all(it.is_empty for it in shapes.values())
        mend = mend_fields(menders) if menders else None
        return Shape(spark.StructType(fields), dict, mend=mend, is_empty=is_empty)

    def _array(self, schema: Any, *, path: str, namespace: str) -> Shape:
        item = self.shape(schema["items"], path=f"{path}[]", namespace=namespace)
        if item.is_empty:
            # Of ten bytes that say so there could be as many as memory can hold.
            raise Unreadable(f"{path}: items that take no bytes cannot be read with a limit")
        kind = spark.ArrayType(item.kind, item.nullable)
        return Shape(kind, list, mend=mend_items(item.mend))

    def _union(self, schema: list[Any], *, path: str, namespace: str) -> Shape:
        nullable = "null" in schema
        branches = [branch for branch in schema if branch != "null"]
        names = tuple(sorted(branch for branch in branches if isinstance(branch, str)))
        if len(names) == len(branches) and (widest := _WIDEST.get(names)):
            branches = [widest]
        if not branches:
            return _primitive({"type": "null"})
        shapes = [self.shape(branch, path=path, namespace=namespace) for branch in branches]
        if len(shapes) == 1:
            return shapes[0]._replace(nullable=nullable, is_empty=False)
        return _members(shapes, path)._replace(nullable=nullable)


def _primitive(schema: Any) -> Shape:
    name = "bytes" if schema["type"] == "fixed" else schema["type"]
    kind, python = _PRIMITIVES[name]
    logical = schema.get("logicalType", "")
    if logical == "decimal" and name == "bytes" and schema["precision"] <= MOST_DIGITS:
        return Shape(spark.DecimalType(schema["precision"], schema.get("scale", 0)), Decimal)
    number, mend = _NUMBERS.get((name, logical), (kind, None))
    return Shape(number, python, nullable=name == "null", mend=mend, is_empty=name == "null")


def _members(shapes: list[Shape], path: str) -> Shape:
    """A union of several: a structure with one member for each, as Spark has it elsewhere."""
    pythons = [shape.python for shape in shapes]
    if len(dict.fromkeys(pythons)) < len(pythons):
        kinds = ", ".join(shape.kind.simpleString() for shape in shapes)
        raise Unreadable(f"{path}: a union of {kinds}: some cannot be told apart when read")
    fields = [spark.StructField(f"member{index}", shape.kind) for index, shape in enumerate(shapes)]
    by_type: dict[type, tuple[str, Mender | None]] = {
        shape.python: (field.name, shape.mend) for field, shape in zip(fields, shapes, strict=True)
    }
    return Shape(spark.StructType(fields), object, mend=_choose_member(by_type))


def _choose_member(by_type: dict[type, tuple[str, Mender | None]]) -> Callable[[Any], Any]:
    def choose(value: Any) -> dict[str, Any]:
        name, mend = by_type[type(value)]
        return {name: value if mend is None else mend(value)}

    return choose


def loaded(text: bytes | str) -> Any:
    """A primitive may be written without quotes, as some registries do."""
    plain = text.decode() if isinstance(text, bytes) else text
    return plain.strip() if plain.strip() in _PRIMITIVES else json.loads(plain)
