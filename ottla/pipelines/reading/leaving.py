"""Counts the rows that a pipeline's function made, by where they came from.

A row carries that along in two numbers instead of its `_origin`. Where rows pass the driver anyway
they are counted there; elsewhere in a stage of their own, which costs more than the numbers do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.functions import arrow_udf

from ottla.pipelines.declaration import ALONG, KEY_CRC, ORIGIN, PLACE, TOPIC
from ottla.pipelines.reading.counting import PARTITION_BITS, Slots, count_passed
from ottla.pipelines.reading.side import OUT, Chunk, Outlet, Side
from ottla.pipelines.reading.tally import MINUTE_MS, Tally

_iterating: Any = arrow_udf  # it knows what is iterated by the hints; its own types do not
_MINUTE_S = MINUTE_MS // 1000


class Leaving:
    """Of one query."""

    def __init__(self, side: Side, *, topic: str | None) -> None:
        """`topic`: the only one that rows come from, which then need not say it."""
        self._side = side
        self._topic = topic

    def packed(self, frame: DataFrame) -> DataFrame:
        """With what is counted instead of its `_origin`, if that is left."""
        if ORIGIN not in frame.columns:
            return frame
        seconds = F.coalesce(F.unix_seconds(f"{ORIGIN}.timestamp"), F.lit(0))
        minute = F.floor(seconds / _MINUTE_S).cast("long")
        place = F.shiftleft(minute, PARTITION_BITS).bitwiseOR(F.col(f"{ORIGIN}.partition"))
        counted = {PLACE: place, KEY_CRC: F.col(f"{ORIGIN}.key_crc")}
        if self._topic is None:
            counted[TOPIC] = F.col(f"{ORIGIN}.topic")
        return frame.withColumns(counted).drop(ORIGIN)

    def in_tasks(self, packed: DataFrame) -> DataFrame:
        """The rows as they are to be written, counted by whoever acts on them."""
        if PLACE not in packed.columns:
            return packed
        counting = _iterating(_counter(self._side.outlet(OUT), self._topic), "boolean")
        columns = [name for name in ALONG if name in packed.columns]
        return packed.where(counting.asNondeterministic()(*columns)).drop(*columns)

    def on_driver(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The same for rows that have come this far."""
        chunk = Chunk()
        for rows in batches:
            along = [name for name in ALONG if name in rows.schema.names]
            if along:
                _count(chunk.tally, self._topic, rows.select(along).columns)
            yield rows.drop_columns(along)
        self._side.tell(OUT, chunk)


def _counter(outlet: Outlet, topic: str | None) -> Any:
    def count_rows(batches: Iterator[tuple[pa.Array, ...]]) -> Iterator[pa.Array]:
        chunk = Chunk()
        for columns in batches:
            _count(chunk.tally, topic, columns)
            yield pa.repeat(True, len(columns[0]))
        outlet.tell(chunk)

    return count_rows


def _count(tally: Tally, topic: str | None, columns: Sequence[Any]) -> None:
    """Rows of an outer join may have come from nowhere; those are not counted."""
    if columns[0].null_count:
        columns = [column.filter(columns[0].is_valid()) for column in columns]
    place, key_crc, *topics = columns
    slots = Slots(topic=topic or topics[0], place=place.to_numpy(), key_crc=key_crc.to_numpy())
    count_passed(tally, slots.count())
