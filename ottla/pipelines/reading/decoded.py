"""What a decoder is, and what it makes of records."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import pyarrow as pa
from pyspark.sql import types as spark

MALFORMED = "malformed"  # the rule that a record breaks whose bytes nobody can read
NOT_NULL_IN_SCHEMA = "not null in schema"


class Fault(NamedTuple):
    """Why a record gives no row."""

    at: int  # its index among the records
    rule: str
    error: str  # one sentence


def not_null(at: int, path: str) -> Fault:
    error = f"{path} is null, and the schema allows no null there"
    return Fault(at, NOT_NULL_IN_SCHEMA, error)


class Decoded(NamedTuple):
    rows: Any  # pa.StructArray, as long as the records; null where there is a fault
    faults: list[Fault]  # in order, one for a record at most


class Decoder(Protocol):
    """Pickled into tasks. Whatever bytes it gets it does not raise but finds faults."""

    schema: spark.StructType

    def decode(self, records: pa.RecordBatch) -> Decoded:
        """Of records with the columns `key`, `value` and `headers`; most look at `value` only."""
        ...


class Encoder(Protocol):
    """Pickled into tasks."""

    def encode(self, rows: Any) -> Any:
        """A `pa.StructArray` of rows as a `pa.Array` of binary; EncodingRefused names a bad row."""
        ...
