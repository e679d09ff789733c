"""Reading topics as a table that has an end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, Filter, InputPartition

from ottla.pipelines.datasource.offsets import Offsets, Place
from ottla.pipelines.datasource.options import PerPlace, ReadOptions
from ottla.pipelines.datasource.planning import Range, beyond, ranges, shrunken, split
from ottla.pipelines.datasource.positions import Positions
from ottla.pipelines.datasource.pruning import Conditions
from ottla.pipelines.datasource.reading import read


class BatchReader(DataSourceReader):
    def __init__(self, options: ReadOptions) -> None:
        self._options = options
        self.conditions = Conditions()
        # Spark refuses a reader that has its own unless pruning is switched on in the session;
        # ours is of use if it is, and must do without if it is not.
        self.pushFilters = _Pruning(self)  # type: ignore[method-assign]

    @cached_property
    def _positions(self) -> Positions:
        """Made on first use: the reader itself travels to the executors."""
        return Positions(self._options)

    def partitions(self) -> Sequence[InputPartition]:
        places = self._positions.all_places()
        wanted = self._pruned(self._wanted(places), places)
        pieces = split(
            self._positions.still_there(wanted, places),
            least_partitions=self._options.least_partitions,
            most_records=self._options.most_records,
        )
        return [InputPartition(piece) for piece in pieces]

    def _wanted(self, places: Sequence[Place]) -> list[Range]:
        start, end = self._positions.start(places), self._positions.end(places)
        if isinstance(self._options.start, PerPlace) or isinstance(self._options.end, PerPlace):
            end = self._existing(start, end)
        return ranges(start, end)

    def _existing(self, start: Offsets, end: Offsets) -> Offsets:
        ends = self._positions.ends(end)
        self._positions.lose([*shrunken(start, ends), *beyond(end, ends)])
        return {place: min(offset, ends[place]) for place, offset in end.items()}

    def _pruned(self, wanted: Sequence[Range], places: Sequence[Place]) -> list[Range]:
        left = [each for each in wanted if self.conditions.allow(each[:2])]
        if (since_ms := self.conditions.since_ms()) is not None:
            since = self._positions.since(since_ms, places)
            left = [each._replace(start=max(each.start, since[each[:2]])) for each in left]
        left = [Range(*each[:2], *self.conditions.offsets(*each[2:])) for each in left]
        return [each for each in left if each.size > 0]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        # Spark makes a partition of nothing where there is none.
        return iter(()) if partition.value is None else read(partition.value, self._options)


class _Pruning:
    """Called as `pushFilters`, and to whoever looks, the one that readers have anyway."""

    def __init__(self, reader: BatchReader) -> None:
        self.__func__ = DataSourceReader.pushFilters
        self._reader = reader

    def __call__(self, filters: list[Filter]) -> Iterable[Filter]:
        self._reader.conditions = Conditions(tuple(filters))
        return filters
