"""A frame's rows on the driver, as they come from the tasks: never all of a batch at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from pyspark.errors.exceptions.captured import unwrap_spark_exception
from pyspark.sql import DataFrame
from pyspark.sql.pandas.serializers import ArrowCollectSerializer
from pyspark.util import _load_from_socket

_UNTYPED: Any = ArrowCollectSerializer


def arrow_batches(frame: DataFrame) -> Iterator[Any]:
    """What `toArrow` does, without waiting for the last row before it gives the first.

    Rows of one task stay in their order; tasks come in the order in which they end.
    """
    inner: Any = frame
    port, secret, server = inner._jdf.collectAsArrowToPython()
    has_ended = False
    try:
        with _load_from_socket((port, secret), _UNTYPED()) as batches:
            for batch in batches:
                if isinstance(batch, pa.RecordBatch):  # at last comes a list of their order
                    yield batch
        has_ended = True
    except GeneratorExit:
        has_ended = True  # nobody wants the rest; Spark notices at its next row
        raise
    finally:
        if not has_ended:
            with unwrap_spark_exception():
                server.getResult()  # raises what went wrong in Spark, in its own words
    with unwrap_spark_exception():
        server.getResult()
