"""CSV, one line a record, its fields in the order of the schema. An empty field is null."""

from __future__ import annotations

import csv
from typing import Any

import msgspec
import pyarrow as pa
from pyspark.sql import types as spark

from ottla.pipelines.reading.decoded import Decoded
from ottla.pipelines.reading.rows import (
    DEEP,
    UNREADABLE,
    Unreadable,
    accepted,
    arrow_type,
    fault,
    mender,
    to_arrow,
)


class CsvDecoder:
    def __init__(self, schema: spark.StructType, delimiter: str) -> None:
        for field in schema:
            if isinstance(field.dataType, spark.StructType | spark.ArrayType | spark.MapType):
                kind = field.dataType.simpleString()
                raise Unreadable(f"{field.name}: {kind} cannot be a field of CSV")
        self.schema = schema
        self._delimiter = delimiter
        self._accepted = accepted(schema)
        self._kind = arrow_type(schema)
        self._mend = mender(self._kind)
        self._times = [field.name for field in self._kind if pa.types.is_timestamp(field.type)]

    def __reduce__(self) -> Any:
        return CsvDecoder, (self.schema, self._delimiter)

    def decode(self, records: pa.RecordBatch) -> Decoded:
        rows: list[Any] = []
        faults = []
        for index, value in enumerate(records.column("value").to_pylist()):
            try:
                rows.append(self._row(value))
            except (*UNREADABLE, *DEEP, csv.Error) as cause:
                rows.append(None)
                faults.append(fault(index, value, cause))
        return to_arrow(rows, self._kind, faults)

    def _row(self, value: bytes) -> Any:
        line = next(csv.reader((str(value, "utf-8"),), delimiter=self._delimiter, strict=True), [])
        if len(line) != len(self.schema.names):
            raise ValueError(f"{len(line)} fields, where the schema has {len(self.schema.names)}")
        texts = {name: text or None for name, text in zip(self.schema.names, line, strict=True)}
        for name in self._times:
            text = texts[name] or ""
            if "." in text and ":" not in text:  # msgspec would take it for seconds
                raise ValueError(f"{name}: {text!r:.80} is neither ISO 8601 nor milliseconds")
        row = msgspec.convert(texts, self._accepted, strict=False)  # a text may be a number here
        return row if self._mend is None else self._mend(row)
