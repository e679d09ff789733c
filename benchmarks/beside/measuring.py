"""Runs scenarios on each broker in its turn, and keeps what they found."""

from __future__ import annotations

import argparse
import json
import os
import platform
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from benchmarks.beside import usage
from benchmarks.beside.bench import Bench, empty_folder, started
from benchmarks.beside.rows import Row
from benchmarks.beside.scenarios import Scenario
from benchmarks.beside.stall import longest_stall_ms
from benchmarks.beside.table import Figures, Table
from benchmarks.beside.targets import Target
from benchmarks.drivers.driver import Outcome
from tests.kafka import jars

RESULTS = Path(__file__).parent.parent / "results"
QUICK_SCALE = 0.1
PASSES = 3
Runs = dict[str, list[Outcome]]


def read_options(name: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog=f"python -m benchmarks {name}")
    parser.add_argument("--quick", action="store_true", help="a tenth of the work, once")
    parser.add_argument("--only", default="", metavar="TEXT", help="rows with this in their name")
    parser.add_argument(
        "--passes", type=int, default=PASSES, help="how often each is run; the median counts"
    )
    both = ("kafka", "ottla")
    parser.add_argument("--targets", nargs="+", choices=both, default=both)
    options = parser.parse_args()
    if options.quick:
        options.passes = 1
    return options


def measure_warm(
    target: Target,
    chosen: Sequence[Scenario],
    warm_up: Sequence[Scenario],
    figures: Figures,
    options: argparse.Namespace,
    *,
    memory: Row,
) -> Runs:
    """All on one broker that has done the warm-up before, and at last what memory it took."""
    runs: Runs = {}
    if not chosen:
        return runs
    scale = QUICK_SCALE if options.quick else 1
    with empty_folder() as folder, started(target, folder, scale=scale) as bench:
        for scenario in warm_up:
            scenario.run(bench)
        bench.take_outcomes()
        for scenario in chosen:
            _repeat(scenario, bench, figures, options.passes)
            runs[scenario.name] = bench.take_outcomes()
        note(figures, memory, usage.peak_mb(bench.running.pids))
        if (stall_ms := longest_stall_ms(bench.running.metrics_url)) is not None:
            print(f"longest stall of {target.name}'s loop: {stall_ms:.1f} ms")
    return runs


def _repeat(scenario: Scenario, bench: Bench, figures: Figures, repeats: int) -> None:
    """The median of each row; all runs one after another, so that the last is as warm as any."""
    turns, outcomes = [], []
    for _ in range(repeats):
        turns.append(scenario.run(bench))
        outcomes.append(bench.outcomes[-1])  # of the driver that measured, not of one that filled
    for row, values in zip(scenario.rows, zip(*turns, strict=True), strict=True):
        note(figures, row, median(values))
    client_s = median(each["client_cpu_s"] for each in outcomes)
    broker_s = median(each["broker_cpu_s"] for each in outcomes)
    # Where the client takes a whole core, the broker is not what limits.
    share = median(each["client_cpu_s"] / each["seconds"] for each in outcomes)
    cpu = f"client {client_s:.2f} s, {share:.0%} of a core; broker {broker_s:.2f} s"
    print(f"{'':44} cpu: {cpu}", flush=True)


def note(figures: Figures, row: Row, value: float) -> None:
    figures[row.label] = value
    print(f"{row.label:44} {value:>12,.2f} {row.unit}", flush=True)


def show(table: Table, rows: Sequence[Row]) -> list[Row]:
    """Prints those that were measured, and returns them."""
    measured = [row for row in rows if any(row.label in each for each in table.figures.values())]
    print(table.text(measured))
    return measured


def write_results(
    name: str, table: Table, rows: Sequence[Row], runs: dict[str, Runs], passes: int
) -> None:
    setting = {
        "kafka": jars.VERSION,
        "python": platform.python_version(),
        "machine": platform.machine(),
        "cores": os.cpu_count(),
        "passes": passes,
    }
    RESULTS.mkdir(exist_ok=True)
    text = json.dumps(setting | {"rows": table.as_json(rows), "runs": runs}, indent=1)
    (RESULTS / f"{name}.json").write_text(text + "\n", encoding="utf-8")
