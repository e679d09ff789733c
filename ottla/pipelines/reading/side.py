"""What stages tell the driver beside their rows: counts and dead letters, by one accumulator.

A task tells it once, at its end, under its stage and partition: what a task says that ran twice
replaces what it said before, and nothing is counted twice.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from operator import itemgetter

from pyspark import TaskContext
from pyspark.accumulators import Accumulator, AccumulatorParam
from pyspark.sql import SparkSession

from ottla.pipelines.reading.origin import Letters
from ottla.pipelines.reading.tally import Tally
from ottla.pipelines.repair.letter import BareLetter

READ = "read."  # begins the names of reading stages
OUT = "out"  # the stage that counts the rows of the pipeline's function

Task = tuple[str, int]  # stage and partition
_DRIVER = -1  # instead of a partition


@dataclass(slots=True)
class Chunk:
    """What one task has to tell."""

    tally: Tally = field(default_factory=Tally)
    dead_letters: list[Letters] = field(default_factory=list)


Found = dict[Task, Chunk]


class _Newest(AccumulatorParam[Found]):
    def zero(self, value: Found) -> Found:
        return {}

    def addInPlace(self, value1: Found, value2: Found) -> Found:
        value1.update(value2)
        return value1


class Side:
    """The driver's end. One for a query, cleared between its batches."""

    def __init__(self, spark: SparkSession) -> None:
        self._found = spark.sparkContext.accumulator({}, _Newest())

    def outlet(self, stage: str) -> Outlet:
        return Outlet(self._found, stage)

    def tell(self, stage: str, chunk: Chunk) -> None:
        """What the driver itself has seen."""
        self._found.add({(stage, _DRIVER): chunk})

    def clear(self) -> None:
        """When a batch is done, not when it begins: of a plan with a shuffle Spark runs the first
        stages before it hands the batch over."""
        self._found.value = {}

    def tally(self, stage_prefix: str) -> Tally:
        """Of the batch, by all stages whose names begin so; complete once it was acted on."""
        total = Tally()
        for (stage, _), chunk in self._found.value.items():
            if stage.startswith(stage_prefix):
                total.merge(chunk.tally)
        return total

    def dead_letters(self) -> list[BareLetter]:
        """By topic, partition and offset."""
        found = [letters for chunk in self._found.value.values() for letters in chunk.dead_letters]
        letters = [letter for some in found for letter in some.opened()]
        return sorted(letters, key=itemgetter(0, 1, 2))


class Outlet:
    """A stage's end, pickled into its tasks."""

    def __init__(self, found: Accumulator[Found], stage: str) -> None:
        self._found = found
        self._stage = stage

    def tell(self, chunk: Chunk) -> None:
        task = TaskContext.get()
        assert task is not None, "only a task has something to tell"
        self._found.add({(self._stage, task.partitionId()): chunk})
