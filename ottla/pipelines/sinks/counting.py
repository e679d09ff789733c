"""How many rows an action saw, without acting twice."""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import DataFrame, Observation
from pyspark.sql import functions as F


def counted(frame: DataFrame) -> tuple[DataFrame, Callable[[], int]]:
    """The frame to act on, once, and what tells the number of its rows afterwards."""
    seen = Observation()
    return frame.observe(seen, F.count(F.lit(1)).alias("rows")), lambda: int(seen.get["rows"])
