"""Ottla beside Apache Kafka: the same C drivers on the same topics, each broker in its turn.

    python -m benchmarks broker [--quick] [--only TEXT] [--targets kafka ottla]

Prints what Ottla reaches and what it must. A whole run writes benchmarks/results/broker.json and,
with both, docs/broker-*.png. `--quick` is a tenth of the work, once, without the many partitions:
to see that all runs, not how fast.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
from pathlib import Path
from statistics import median

from benchmarks.beside import life, plots, usage
from benchmarks.beside.bench import Bench, empty_folder, started
from benchmarks.beside.rows import Row
from benchmarks.beside.scenarios import SCENARIOS, WARM_UP, Scenario
from benchmarks.beside.stall import longest_stall_ms
from benchmarks.beside.table import Figures, Table
from benchmarks.beside.targets import Target, available
from benchmarks.drivers.driver import Outcome
from tests.kafka import jars

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "broker.json"
PLOTS = HERE.parent / "docs"
QUICK_SCALE = 0.1
PASSES = 3


def main() -> None:
    options = _options()
    chosen = [each for each in SCENARIOS if options.only in each.name]
    lives = [row for row in life.ROWS if options.only in row.label]
    rows = [*(row for scenario in chosen for row in scenario.rows), *lives]
    table = Table()
    runs: dict[str, dict[str, list[Outcome]]] = {}
    for target in available(options.targets):
        print(f"-- {target.name}", flush=True)
        figures = table.figures.setdefault(target.name, {})
        passes = 1 if options.quick else options.passes
        runs[target.name] = _measure_warm(target, chosen, figures, passes, quick=options.quick)
        if lives:
            _measure_lives(target, figures, passes, quick=options.quick)
    measured = [row for row in rows if any(row.label in each for each in table.figures.values())]
    print(table.text(measured))
    if options.only or options.quick:
        return
    lines = table.as_json(measured)
    results = _setting() | {"passes": options.passes} | {"rows": lines, "runs": runs}
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    if len(table.figures) == 2:
        plots.draw(lines, PLOTS)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks broker")
    parser.add_argument("--quick", action="store_true", help="a tenth of the work, once")
    parser.add_argument("--only", default="", metavar="TEXT", help="rows with this in their name")
    parser.add_argument(
        "--passes", type=int, default=PASSES, help="how often each is run; the median counts"
    )
    both = ("kafka", "ottla")
    parser.add_argument("--targets", nargs="+", choices=both, default=both)
    return parser.parse_args()


def _measure_warm(
    target: Target, chosen: list[Scenario], figures: Figures, passes: int, *, quick: bool
) -> dict[str, list[Outcome]]:
    runs: dict[str, list[Outcome]] = {}
    if not chosen:
        return runs
    scale = QUICK_SCALE if quick else 1
    with empty_folder() as folder, started(target, folder, scale=scale) as bench:
        for scenario in WARM_UP:
            scenario.run(bench)
        bench.take_outcomes()
        for scenario in chosen:
            _repeat(scenario, bench, figures, passes)
            runs[scenario.name] = bench.take_outcomes()
        figures[life.LOADED.label] = usage.peak_mb(bench.running.pids)
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
        _note(figures, row, median(values))
    client_s = median(each["client_cpu_s"] for each in outcomes)
    broker_s = median(each["broker_cpu_s"] for each in outcomes)
    # Where the client takes a whole core, the broker is not what limits.
    share = median(each["client_cpu_s"] / each["seconds"] for each in outcomes)
    cpu = f"client {client_s:.2f} s, {share:.0%} of a core; broker {broker_s:.2f} s"
    print(f"{'':44} cpu: {cpu}", flush=True)


def _measure_lives(target: Target, figures: Figures, passes: int, *, quick: bool) -> None:
    starts = [life.start_and_idle(target) for _ in range(passes)]
    found = {label: median(each[label] for each in starts) for label in starts[0]}
    if not quick:
        found |= life.thousand_partitions(target) | life.ten_thousand_partitions(target)
    for row in life.ROWS:
        if row.label in found:
            _note(figures, row, found[row.label])


def _note(figures: Figures, row: Row, value: float) -> None:
    figures[row.label] = value
    print(f"{row.label:44} {value:>12,.2f} {row.unit}", flush=True)


def _setting() -> dict[str, object]:
    return {
        "kafka": jars.VERSION,
        "python": platform.python_version(),
        "machine": platform.machine(),
        "cores": os.cpu_count(),
    }


if __name__ == "__main__":
    main()
