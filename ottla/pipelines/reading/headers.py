"""Headers on their way into a task: as JSON, and their values in base64.

Spark takes microseconds to hand over a list, even one that is null; a text that is null is free.
"""

from __future__ import annotations

import base64
import json
from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from ottla.pipelines.repair.letter import Headers

HEADERS = spark.ArrayType(
    spark.StructType(
        [
            spark.StructField("key", spark.StringType()),
            spark.StructField("value", spark.BinaryType()),
        ]
    )
)


def packed(headers: Column) -> Column:
    return F.when(headers.isNotNull(), F.to_json(headers))


def unpacked(texts: Any) -> list[Headers | None]:
    """Of a column of them. A header without a value has None."""
    if texts.null_count == len(texts):
        return [None] * len(texts)
    return [None if text is None else _headers(text) for text in texts.to_pylist()]


def _headers(text: str) -> Headers:
    return tuple((each["key"], _value(each.get("value"))) for each in json.loads(text))


def _value(text: str | None) -> bytes | None:
    return None if text is None else base64.b64decode(text)
