"""Reading topics without end, in batches whose offsets Spark keeps in its checkpoint."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxRows,
    ReadMinRows,
    SupportsTriggerAvailableNow,
)

from ottla.pipelines.datasource.offsets import Offsets, by_place, by_topic
from ottla.pipelines.datasource.options import ReadOptions
from ottla.pipelines.datasource.planning import GONE, Loss, admit, ranges, shrunken, split
from ottla.pipelines.datasource.positions import Positions
from ottla.pipelines.datasource.reading import read
from ottla.timing.clock import Stopwatch

Stored = dict[str, Any]  # offsets, as they stand in the checkpoint


class StreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    def __init__(self, options: ReadOptions) -> None:
        self._options = options
        self._latest: Offsets | None = None
        self._target: Offsets | None = None  # to read no further, if only what is there now counts
        self._since_batch: Stopwatch | None = None

    @cached_property
    def _positions(self) -> Positions:
        """Made on first use: a reader travels to the executors."""
        return Positions(self._options)

    def initialOffset(self) -> Stored:
        return dict(by_topic(self._positions.start(self._positions.all_places())))

    def getDefaultReadLimit(self) -> ReadLimit:
        if self._options.most_offsets is not None:
            return ReadMaxRows(self._options.most_offsets)
        if self._options.least_offsets is not None:
            return ReadMinRows(self._options.least_offsets)
        return ReadAllAvailable()

    def prepareForTriggerAvailableNow(self) -> None:
        self._target = self._positions.ends(self._positions.places())

    def latestOffset(self, start: Stored, limit: ReadLimit) -> Stored:
        begin = by_place(start)
        ends = self._ends(begin)
        backlog = sum(max(0, end - begin.get(place, 0)) for place, end in ends.items())
        if not isinstance(limit, ReadAllAvailable):
            if self._is_too_early(backlog):
                return start
            if self._options.most_offsets is not None:
                ends = admit(begin, ends, self._options.most_offsets)
        return dict(by_topic(ends))

    def _ends(self, begin: Offsets) -> Offsets:
        """Of the partitions there are now: new ones join, and what is gone is lost."""
        places = self._positions.places()
        gone = [Loss(*at, begin[at], None, GONE) for at in sorted(begin) if at not in places]
        self._latest = ends = self._positions.ends(places)
        self._positions.lose([*gone, *shrunken(begin, ends)])
        if self._target is None:
            return ends
        return {
            place: max(begin.get(place, 0), min(end, self._target[place]))
            for place, end in ends.items()
            if place in self._target
        }

    def _is_too_early(self, backlog: int) -> bool:
        """Few records wait until they are many, or for so long that they need not be."""
        least = self._options.least_offsets
        if least is None or self._target is not None:
            return False
        since = self._since_batch
        if since and backlog < least and since.elapsed_s() * 1000 < self._options.longest_wait_ms:
            return True
        self._since_batch = Stopwatch()
        return False

    def reportLatestOffset(self) -> Stored | None:
        return None if self._latest is None else dict(by_topic(self._latest))

    def partitions(self, start: Stored, end: Stored) -> Sequence[InputPartition]:
        wanted = ranges(by_place(start), by_place(end))
        if not wanted:
            return []
        pieces = split(
            self._positions.still_there(wanted, self._positions.places()),
            least_partitions=self._options.least_partitions,
            most_records=self._options.most_records,
        )
        return [InputPartition(piece) for piece in pieces]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        return read(partition.value, self._options)
