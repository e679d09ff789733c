"""Ottla beside Apache Kafka: the same C drivers on the same topics, the brokers in turns.

    python -m benchmarks broker [--quick] [--only TEXT] [--again] [--targets kafka ottla]

Prints what Ottla reaches and what it must. A whole run writes benchmarks/results/broker.json and,
with both, docs/broker-*.png. `--quick` is a tenth of the work, once, without the many partitions:
to see that all runs, not how fast. `--again` makes those runs anew that the host disturbed, or
whose passes did not agree on the limit; with `--only` just those that are named, after a change.
"""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from statistics import median

from benchmarks.beside import life, plots
from benchmarks.beside.measuring import (
    Runs,
    measure_warm,
    note,
    read_options,
    read_results,
    show,
    was_disturbed,
    write_results,
)
from benchmarks.beside.quiet import wait_until_quiet
from benchmarks.beside.rows import Row
from benchmarks.beside.scenarios import SCENARIOS, WARM_UP
from benchmarks.beside.table import Figures, Table
from benchmarks.beside.targets import Target, available

PLOTS = Path(__file__).parent.parent / "docs"


def main() -> None:
    options = read_options("broker", knows_again=True)
    if options.again:
        _measure_again(options)
        return
    chosen = [each for each in SCENARIOS if options.only in each.name]
    lives = [row for row in life.ROWS if options.only in row.label]
    table, targets = Table(), available(options.targets)
    runs = measure_warm(targets, chosen, WARM_UP, table, options, memory=life.LOADED)
    for target in targets if lives else ():
        figures = table.figures.setdefault(target.name, {})
        _measure_lives(target, figures, options.passes, quick=options.quick)
    rows = show(table, [*(row for scenario in chosen for row in scenario.rows), *lives])
    if options.only or options.quick:
        return
    _keep(table, rows, runs, options.passes)


def _measure_again(options: Namespace) -> None:
    table, runs = read_results("broker")
    rows = [*(row for each in SCENARIOS for row in each.rows), *life.ROWS]
    if options.only:
        chosen = [each for each in SCENARIOS if options.only in each.name]
        if not chosen:
            raise SystemExit(f"no scenario has {options.only!r} in its name: nothing was measured")
    else:
        chosen = [
            each
            for each in SCENARIOS
            if was_disturbed(each, runs) or any(map(table.is_undecided, each.rows))
        ]
    anew = measure_warm(available(options.targets), chosen, WARM_UP, table, options)
    rows = show(table, rows)
    _keep(table, rows, {name: runs[name] | anew[name] for name in anew}, options.passes)


def _keep(table: Table, rows: list[Row], runs: dict[str, Runs], passes: int) -> None:
    write_results("broker", table, rows, runs, passes)
    if len(table.figures) == 2:
        plots.draw(table.as_json(rows), PLOTS)


def _measure_lives(target: Target, figures: Figures, passes: int, *, quick: bool) -> None:
    if not quick:
        wait_until_quiet()
    starts = [life.start_and_idle(target) for _ in range(passes)]
    found = {label: median(each[label] for each in starts) for label in starts[0]}
    if not quick:
        found |= life.thousand_partitions(target) | life.ten_thousand_partitions(target)
    for row in life.ROWS:
        if row.label in found:
            note(figures, row, found[row.label], of=f"{target.name}: ")


if __name__ == "__main__":
    main()
