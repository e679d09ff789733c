"""From topic to topic within milliseconds, at least once: Spark's Real-Time Mode.

Spark 4.2 runs only its own code in it: columns, filters, `from_json`, `explode`. What needs Python
or state it refuses (UDFs, `mapInArrow`, aggregations, deduplication), and there is no moment after
a batch at which anything else could be written. So rows are read by `native_rows`, and there are
neither dead letters nor a ledger.
"""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.types import StringType, StructField, StructType

from ottla.pipelines.declaration import Csv, Format, Json, Otherwise, Raw, Text, Topic
from ottla.pipelines.sinks.parallel import addressed, write_options
from ottla.pipelines.sinks.port import SinkRefused
from ottla.pipelines.sinks.records import to_records

_MALFORMED = "_ottla_malformed"
_ROW = "_ottla_row"


def native_rows(stream: DataFrame, format: Format, *, malformed: Otherwise) -> DataFrame:
    """The connector's columns decoded by Spark itself; a malformed one stops it or is left out."""
    value = F.col("value").cast("string")
    is_strict = malformed is Otherwise.STOP
    match format:
        case Raw():
            return stream.select("key", "value", "headers")
        case Text():
            return stream.select(F.col("key").cast("string"), value.alias("value"))
        case Json(schema=StructType() as schema):
            parsed = F.from_json(value, _marked(schema), _options(is_strict))
        case Csv(schema=StructType() as schema, delimiter=delimiter):
            options = {**_options(is_strict), "sep": delimiter}
            parsed = F.from_csv(value, _marked(schema).simpleString(), options)
        case _:
            raise SinkRefused("in real time only raw, text, JSON and CSV records can be read")
    rows = stream.select(parsed.alias(_ROW)).where(f"{_ROW} is not null").select(f"{_ROW}.*")
    return rows.where(f"{_MALFORMED} is null").drop(_MALFORMED)


def _marked(schema: StructType) -> StructType:
    """With a column that holds the text of what could not be read."""
    return StructType([*schema.fields, StructField(_MALFORMED, StringType())])


def _options(is_strict: bool) -> dict[str, str]:
    mode = "FAILFAST" if is_strict else "PERMISSIVE"
    return {"mode": mode, "columnNameOfCorruptRecord": _MALFORMED}


def start_realtime(
    frame: DataFrame,
    topic: Topic,
    *,
    bootstrap: str,
    checkpoint: str,
    name: str,
    every: str = "1 minute",
) -> StreamingQuery:
    """`every` is how often progress is kept: what came since is written again after a crash."""
    if not isinstance(topic.format, Raw | Text | Json | Csv):
        raise SinkRefused(
            f"topic {topic.name}: in real time only raw, text, JSON and CSV records can be written"
        )
    records = addressed(to_records(frame, topic), topic)
    options = write_options(topic, bootstrap=bootstrap)
    writer = records.writeStream.format("kafka").options(**options).queryName(name)
    writer = writer.option("checkpointLocation", checkpoint).outputMode("update")
    untyped: Any = writer  # its types do not know of real time yet
    query: StreamingQuery = untyped.trigger(realTime=every).start()
    return query
