"""Records as the connector hands them over, in Arrow."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

MINUTE = 28_333_334
_US = 60_000_000


def records(
    values: Sequence[bytes | None],
    *,
    topic: str = "views",
    partition: int = 0,
    minutes: Sequence[int] | None = None,
    keys: Sequence[bytes | None] | None = None,
) -> pa.RecordBatch:
    count = len(values)
    names = keys or [b"k%d" % index for index in range(count)]
    times = [minute * _US for minute in minutes or [MINUTE] * count]
    columns: dict[str, Any] = {
        "key": pa.array(names, type=pa.binary()),
        "value": pa.array(values, type=pa.binary()),
        "topic": pa.array([topic] * count, type=pa.string()),
        "partition": pa.array([partition] * count, type=pa.int32()),
        "offset": pa.array(range(count), type=pa.int64()),
        "timestamp": pa.array(times, type=pa.timestamp("us", tz="UTC")),
        "headers": pa.array(['[{"key":"h","value":"eA=="}]'] * count, type=pa.string()),
        "key_crc": pa.array([zlib.crc32(key or b"") for key in names], type=pa.int64()),
    }
    return pa.record_batch(columns)
