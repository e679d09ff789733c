"""The Spark that drives the brokers: one for all of them, and what its work took."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import cache
from statistics import median
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from benchmarks.beside import usage
from benchmarks.beside.bench import Bench
from benchmarks.beside.quiet import Asked
from benchmarks.drivers.driver import Outcome
from ottla.pipelines.datasource.source import register
from ottla.pipelines.jars import CONNECTOR, have
from ottla.pipelines.session import session
from ottla.pipelines.sources.batch_size import BATCH_BYTES, MOST

TASKS = 2  # as many as cores of the machine that the figures are from


@cache
def spark() -> SparkSession:
    found = session("benchmark", master=f"local[{TASKS}]", jars=have(CONNECTOR), memory="2g")
    register(found)
    return found


@cache
def records(count: int, size: int) -> DataFrame:
    """Keys and values of this size, kept in memory: to make them is not what is measured."""
    return _kept(0, count, size)


@cache
def batches_of_records(count: int, size: int) -> list[DataFrame]:
    """As many in each as a pipeline takes at once."""
    most = min(MOST, BATCH_BYTES // size)
    return [_kept(first, min(first + most, count), size) for first in range(0, count, most)]


def forget_records() -> None:
    """Memory for others."""
    records.cache_clear()
    batches_of_records.cache_clear()
    spark().catalog.clearCache()


def _kept(first: int, end: int, size: int) -> DataFrame:
    value = f"cast(rpad(cast(id as string), {size}, 'x') as binary) as value"
    ids = spark().range(first, end, numPartitions=TASKS)
    frame = ids.selectExpr("cast(id as string) key", value)
    frame.cache().count()
    return frame


def measured(bench: Bench, work: Callable[[], object], *, count: int, size: int) -> Outcome:
    # Any: the process of Java, which pyspark keeps to itself.
    context: Any = spark().sparkContext
    java = (context._gateway.proc.pid,)
    brokers_before, before = usage.cpu_seconds(bench.running.pids), usage.cpu_seconds(java)
    asked, began = Asked.read(), time.perf_counter()
    work()
    seconds = time.perf_counter() - began
    outcome = {
        "count": count,
        "seconds": round(seconds, 3),
        "mb_per_second": count * size / seconds / 1e6,
        "client_cpu_s": round(usage.cpu_seconds(java) - before, 2),
        "broker_cpu_s": round(usage.cpu_seconds(bench.running.pids) - brokers_before, 2),
        "stolen": round(asked.stolen_until(Asked.read()), 3),
    }
    bench.outcomes.append(outcome)
    return outcome


def ours_over_theirs(turns: Sequence[tuple[Outcome, Outcome]]) -> tuple[float, float]:
    rates = [[each["mb_per_second"] for each in turn] for turn in turns]
    theirs, ours = (median(each) for each in zip(*rates, strict=True))
    return ours, ours / theirs
