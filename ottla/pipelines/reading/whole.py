"""Records that are taken whole: as bytes, as text, or as rows that somebody else has read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import types as spark

from ottla.pipelines.reading.decoded import MALFORMED, Decoded, Fault, not_null
from ottla.pipelines.reading.headers import HEADERS, unpacked
from ottla.pipelines.reading.rows import arrow_type

ROW = "row"  # the column that holds the rows of a RowDecoder
CORRUPT = "_corrupt"  # of files: the line that could not be read whole; null if it could


class RawDecoder:
    schema = spark.StructType(
        [
            spark.StructField("key", spark.BinaryType()),
            spark.StructField("value", spark.BinaryType()),
            spark.StructField("headers", HEADERS),
        ]
    )

    def decode(self, records: pa.RecordBatch) -> Decoded:
        kind = arrow_type(self.schema)
        key, value, headers = kind
        columns = [
            records.column("key").cast(key.type),
            records.column("value").cast(value.type),
            pa.array(_structures(records.column("headers")), type=headers.type),
        ]
        return Decoded(pa.StructArray.from_arrays(columns, fields=list(kind)), [])


class TextDecoder:
    schema = spark.StructType(
        [
            spark.StructField("key", spark.StringType()),
            spark.StructField("value", spark.StringType()),
        ]
    )

    def decode(self, records: pa.RecordBatch) -> Decoded:
        faults: dict[int, Fault] = {}
        columns = [_text(records.column(name), name, faults) for name in ("key", "value")]
        rows = pa.StructArray.from_arrays(
            columns,
            fields=list(arrow_type(self.schema)),
            mask=pa.array([index in faults for index in range(len(records))]) if faults else None,
        )
        return Decoded(rows, sorted(faults.values()))


class RowDecoder:
    """Rows of files and tables. Spark takes all their columns for nullable; the schema may not."""

    def __init__(self, schema: spark.StructType) -> None:
        self.schema = schema

    def decode(self, records: pa.RecordBatch) -> Decoded:
        rows = records.column(ROW)
        faults: dict[int, Fault] = {}
        if CORRUPT in records.schema.names:
            bad = pc.is_valid(records.column(CORRUPT)).to_numpy(zero_copy_only=False)
            for index in np.flatnonzero(bad).tolist():
                faults[index] = Fault(index, MALFORMED, "the line is not what the schema says")
        for field in self.schema:
            if not field.nullable:
                missing = pc.is_null(rows.field(field.name)).to_numpy(zero_copy_only=False)
                for index in np.flatnonzero(missing).tolist():
                    faults.setdefault(index, not_null(index, field.name))
        return Decoded(rows, sorted(faults.values()))


def _structures(texts: Any) -> list[Any]:
    return [
        None if headers is None else [{"key": key, "value": value} for key, value in headers]
        for headers in unpacked(texts)
    ]


def _text(column: Any, name: str, faults: dict[int, Fault]) -> Any:
    try:
        return pc.cast(column, pa.string())
    except pa.ArrowInvalid:
        texts: list[str | None] = []
        for index, value in enumerate(column.to_pylist()):
            try:
                texts.append(None if value is None else value.decode())
            except UnicodeDecodeError as cause:
                texts.append(None)
                faults.setdefault(index, Fault(index, MALFORMED, f"the {name} is no text: {cause}"))
        return pa.array(texts, type=pa.string())
