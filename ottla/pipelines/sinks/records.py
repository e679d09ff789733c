"""A frame's rows as records of a topic: columns `key`, `value` and perhaps more, ready to be sent.

Raw and Text take the connector's columns as they are; other formats put every column in `value`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import (
    BinaryType,
    DataType,
    IntegerType,
    StringType,
    StructField,
    StructType,
)

from ottla.pipelines.declaration import ALONG, Avro, Csv, Json, Protobuf, Raw, Text, Topic
from ottla.pipelines.reading.decoded import Encoder
from ottla.pipelines.reading.formats import FormatRefused, encoder
from ottla.pipelines.reading.headers import HEADERS
from ottla.pipelines.reading.registry import RegistryAway, RegistryRefused
from ottla.pipelines.schema import quoted_column
from ottla.pipelines.sinks.port import SinkRefused

_ROW = "_ottla_row"
_TEXT = (StringType(), BinaryType())
_PLACES: dict[str, tuple[DataType, ...]] = {
    "key": _TEXT,
    "value": _TEXT,
    "headers": (HEADERS,),
    "topic": (StringType(),),
    "partition": (IntegerType(),),
}


def encoder_of(topic: Topic) -> Encoder | None:
    """For formats that Spark itself does not write. May ask a registry, so ask once."""
    if not isinstance(topic.format, Avro | Protobuf):
        return None
    try:
        return encoder(topic.format, topic=topic.name)
    except (FormatRefused, RegistryAway, RegistryRefused) as cause:
        raise SinkRefused(f"topic {topic.name}: {cause}") from cause


def to_records(frame: DataFrame, topic: Topic, encoder: Encoder | None = None) -> DataFrame:
    """SinkRefused if the columns do not fit the format. The encoder is that of `encoder_of`."""
    if topic.key is not None and topic.key not in frame.columns:
        raise SinkRefused(
            f"topic {topic.name}: its key is the column {topic.key!r}, which the rows do not have. "
            f"They have: {', '.join(frame.columns)}"
        )
    row = F.struct(*(quoted_column(name) for name in frame.columns if name not in ALONG))
    match topic.format:
        case Raw() | Text():
            return _as_they_are(frame, topic)
        case Json():
            value = F.to_json(row)
        case Csv(delimiter=delimiter):
            value = F.to_csv(row, {"sep": delimiter})
        case Avro() | Protobuf():
            assert encoder is not None
            keyed = frame.select(*_along(frame), *_key(frame, topic.key), row.alias(_ROW))
            return _encoded(keyed, encoder)
    return frame.select(
        *_along(frame), *_key(frame, topic.key), value.cast("binary").alias("value")
    )


def _along(frame: DataFrame) -> list[str]:
    """What is no part of a record, but is counted where it arrives."""
    return [name for name in ALONG if name in frame.columns]


def _encoded(rows: DataFrame, encoder: Encoder) -> DataFrame:
    schema = StructType([*rows.schema.fields[:-1], StructField("value", BinaryType())])
    names = schema.names

    def encode(batches: Iterable[Any]) -> Iterator[Any]:
        for batch in batches:
            *others, row = batch.columns
            yield pa.RecordBatch.from_arrays([*others, encoder.encode(row)], names)

    return rows.mapInArrow(encode, schema)


def _as_they_are(frame: DataFrame, topic: Topic) -> DataFrame:
    kinds = {field.name: field.dataType for field in frame.schema if field.name not in ALONG}
    wrong = [
        f"{name} {kind.simpleString()}"
        for name, kind in kinds.items()
        if name != topic.key and not _fits(kind, _PLACES.get(name, ()))
    ]
    if wrong or "value" not in kinds:
        raise SinkRefused(
            f"topic {topic.name}: a record is made of value (string or binary) and, if you like, "
            "key, headers, topic and partition, as Spark's Kafka connector calls them. "
            f"Not of: {', '.join(wrong) or 'rows without value'}. "
            "Name a format such as json() to write any columns"
        )
    keys = _key(frame, topic.key or ("key" if "key" in kinds else None))
    others = [name for name in ("headers", "topic", "partition") if name in kinds]
    value = F.col("value").cast("binary").alias("value")
    return frame.select(*_along(frame), *keys, value, *others)


def _fits(kind: DataType, allowed: tuple[DataType, ...]) -> bool:
    """Whether anything may be null is not asked."""
    return kind.simpleString() in [each.simpleString() for each in allowed]


def _key(frame: DataFrame, name: str | None) -> list[Column]:
    """Text and bytes as they are, anything else as JSON; no column, no keys."""
    if name is None:
        return []
    column = F.col(name)
    if not _fits(frame.schema[name].dataType, _TEXT):
        # Only arrays and structs have JSON of their own: out of the brackets again.
        inside = F.regexp_extract(F.to_json(F.array(column)), r"(?s)^\[(.*)\]$", 1)
        column = F.when(column.isNotNull(), inside)
    return [column.cast("binary").alias("key")]
