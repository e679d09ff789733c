"""Where a row of a file or a table came from, in the words of a record's place in a topic."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from ottla.pipelines.declaration import ORIGIN
from ottla.pipelines.reading.origin import ORIGIN_SCHEMA


def origin(*, topic: Column, offset: Column, timestamp: Column) -> Column:
    """Neither files nor tables have partitions or keys."""
    values = {
        "topic": topic,
        "partition": F.lit(0),
        "offset": offset,
        "timestamp": timestamp,
        "key": F.lit(None),
        "key_crc": F.lit(0),
    }
    typed = [values[each.name].cast(each.dataType).alias(each.name) for each in ORIGIN_SCHEMA]
    return F.struct(*typed).alias(ORIGIN)
