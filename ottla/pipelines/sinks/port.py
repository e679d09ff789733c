"""What the runner asks of a sink, and what it tells it of a batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from pyspark.sql import DataFrame

from ottla.pipelines.repair.letter import BareLetter
from ottla.pipelines.sinks.rows import arrow_batches

Place = tuple[str, int]  # topic and partition


class Guarantee(StrEnum):
    EXACTLY_ONCE = "exactly once"
    AT_LEAST_ONCE = "at least once"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Batch:
    """Spark repeats a batch that it does not know to be done, with the same id and offsets."""

    id: int
    offsets: Mapping[Place, int]  # where the next batch begins; empty if no source is a topic
    # Complete once the frame has been acted on, and not before. They go where `Sink.takes_offsets`
    # says: into the sink's own transaction, or into one of the runner's after it.
    dead_letters: Callable[[], Sequence[BareLetter]]
    # For a sink that `sees_rows`: those of a frame, in Arrow, counted on their way.
    rows: Callable[[DataFrame], Iterator[Any]] = arrow_batches


class Sink(Protocol):
    """One pipeline's, for one run. How it knows a repeated batch is its own business."""

    guarantee: Guarantee
    takes_offsets: bool  # it commits the group's offsets and the dead letters with its rows
    # Rows pass it on the driver, by `Batch.rows`: it keeps the columns `ALONG` until then.
    sees_rows: bool

    def open(self) -> None:
        """Connect, fence whoever ran before, make what is missing. SinkRefused with a sentence."""
        ...

    def last_batch(self) -> int:
        """The newest that it holds whole; -1: none, or writing one again does no harm."""
        ...

    def write(self, frame: DataFrame, batch: Batch) -> int:
        """Acts on the frame. When it returns the rows last; how many they are."""
        ...

    def close(self) -> None: ...


class SinkRefused(Exception):
    """It cannot be written to; the message says where and why."""
