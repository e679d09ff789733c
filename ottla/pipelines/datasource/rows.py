"""Records of a consumer as rows of Spark's connector, in Arrow: the hot path of reading."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from confluent_kafka import Message
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

_COLUMNS = (
    StructField("key", BinaryType()),
    StructField("value", BinaryType()),
    StructField("topic", StringType()),
    StructField("partition", IntegerType()),
    StructField("offset", LongType()),
    StructField("timestamp", TimestampType()),
    StructField("timestampType", IntegerType()),
)
UNREADABLE = "\N{REPLACEMENT CHARACTER}"
HEADERS = ArrayType(
    StructType([StructField("key", StringType()), StructField("value", BinaryType())])
)


def columns(*, include_headers: bool) -> StructType:
    headers = [StructField("headers", HEADERS)] if include_headers else []
    return StructType([*_COLUMNS, *headers])


class Rows:
    """Makes batches of one partition's records."""

    def __init__(self, topic: str, partition: int, *, include_headers: bool) -> None:
        self._topic = pa.scalar(topic)
        self._partition = pa.scalar(partition, pa.int32())
        self._include_headers = include_headers
        # Any: pyspark has no types for it.
        self._schema: Any = to_arrow_schema(
            columns(include_headers=include_headers), timezone="UTC"
        )

    def batch(self, messages: Sequence[Message]) -> pa.RecordBatch:
        count = len(messages)
        # `map` over its methods: no frame of ours per record.
        kinds, times_ms = zip(*map(Message.timestamp, messages), strict=True)
        arrays = [
            pa.array(list(map(Message.key, messages)), pa.binary()),
            pa.array(list(map(Message.value, messages)), pa.binary()),
            pa.repeat(self._topic, count),
            pa.repeat(self._partition, count),
            pa.array(list(map(Message.offset, messages)), pa.int64()),
            pc.multiply(pa.array(times_ms, pa.int64()), 1000).cast(pa.timestamp("us", "UTC")),
            # Java's client counts kinds of timestamps from -1, librdkafka from 0.
            pc.subtract(pa.array(kinds, pa.int32()), pa.scalar(1, pa.int32())),
        ]
        if self._include_headers:
            arrays.append(self._headers(messages))
        return pa.RecordBatch.from_arrays(arrays, schema=self._schema)

    def _headers(self, messages: Sequence[Message]) -> pa.Array:
        """Null where there are none, as the connector has it."""
        kind = self._schema.field("headers").type
        found = _headers(messages)
        if not any(found):
            return pa.nulls(len(found), kind)
        pairs = [pair for each in found for pair in each or ()]
        keys, values = zip(*pairs, strict=True)
        flat = pa.StructArray.from_arrays(
            [pa.array(keys, pa.string()), pa.array(values, pa.binary())],
            fields=list(kind.value_type),
        )
        ends = list(accumulate(len(each or ()) for each in found))
        starts = [end - len(each) if each else None for end, each in zip(ends, found, strict=True)]
        return pa.ListArray.from_arrays([*starts, ends[-1]], flat, type=kind)


def _headers(messages: Sequence[Message]) -> list[Any]:
    """The client cannot show headers of which one has a name that is not UTF-8.

    They are gone then, but the record is not, and what stands there is seen not to be a name. Such
    a message must not be asked again: the second time it answers, with what kills the process.
    """
    found: list[Any] = []
    rest = iter(messages)
    while len(found) < len(messages):
        try:
            found.extend(map(Message.headers, rest))
        except SystemError:
            found.append([(UNREADABLE, None)])
    return found
