"""Starting, being idle, having many partitions: what is measured with a broker of its own."""

from __future__ import annotations

import threading
import time
from pathlib import Path

from benchmarks.beside import usage
from benchmarks.beside.bench import Bench, empty_folder, started
from benchmarks.beside.rows import Row, at_most, below
from benchmarks.beside.targets import Target

STARTED = Row("start to first answer", "s", below(0.4))
IDLE = Row("memory, idle", "MB", below(60))
LOADED = Row("memory, loaded", "MB", below(150))
CREATED = Row("1,000 partitions created", "s", at_most(1))
CREATED_MEMORY = Row("1,000 partitions, memory", "MB", at_most(1))
MANY_STARTED = Row("10,000 partitions, start until all led", "s", below(10))
MANY_MEMORY = Row("10,000 partitions, memory", "MB", below(400))
ROWS = (STARTED, IDLE, LOADED, CREATED, CREATED_MEMORY, MANY_STARTED, MANY_MEMORY)

SETTLING_S = 3
TOPIC_PARTITIONS = 1_000
MANY_TOPICS = 10


def start_and_idle(target: Target) -> dict[str, float]:
    """On an empty folder."""
    with empty_folder() as folder, started(target, folder, scale=1) as bench:
        _settle()
        pids = bench.running.pids
        return {STARTED.label: bench.running.start_s, IDLE.label: usage.resident_mb(pids)}


def thousand_partitions(target: Target) -> dict[str, float]:
    with empty_folder() as folder, started(target, folder, scale=1) as bench:
        begin = time.perf_counter()
        bench.admin.create_topic("wide", TOPIC_PARTITIONS)
        took_s = time.perf_counter() - begin
        _settle()
        return {CREATED.label: took_s, CREATED_MEMORY.label: _resident(bench)}


def ten_thousand_partitions(target: Target) -> dict[str, float]:
    """A second life on the folder where ten topics of a thousand partitions were created."""
    names = [f"wide-{number}" for number in range(MANY_TOPICS)]
    with empty_folder() as folder:
        with started(target, folder, scale=1) as bench:
            for name in names:
                bench.admin.create_topic(name, TOPIC_PARTITIONS)
        return _second_life(target, folder, names)


def _second_life(target: Target, folder: Path, names: list[str]) -> dict[str, float]:
    with started(target, folder, scale=1) as bench:
        begin = time.perf_counter()
        for name in names:
            bench.admin.wait_until_led(name, TOPIC_PARTITIONS)
        took_s = bench.running.start_s + time.perf_counter() - begin
        _settle()
        return {MANY_STARTED.label: took_s, MANY_MEMORY.label: _resident(bench)}


def _resident(bench: Bench) -> float:
    return usage.resident_mb(bench.running.pids)


def _settle() -> None:
    """What a broker still does after its first answer counts as well."""
    threading.Event().wait(SETTLING_S)
