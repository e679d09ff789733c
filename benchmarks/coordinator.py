"""Ottla's group coordinator beside Apache Kafka's: groups, commits, and a log of offsets to load.

    python -m benchmarks coordinator [--quick] [--only TEXT] [--targets kafka ottla]

Prints what Ottla reaches and what it must. A whole run writes benchmarks/results/coordinator.json.
`--quick` is a tenth of the work, once: to see that all runs, not how fast.
"""

from __future__ import annotations

from argparse import Namespace

from benchmarks.beside import offsets_log
from benchmarks.beside.group_scenarios import GROUP_SCENARIOS, WARM_UP
from benchmarks.beside.measuring import (
    QUICK_SCALE,
    measure_warm,
    note,
    read_options,
    show,
    write_results,
)
from benchmarks.beside.rows import Row
from benchmarks.beside.scenarios import Scenario
from benchmarks.beside.table import Figures, Table
from benchmarks.beside.targets import Target, available

MEMORY = Row("memory, coordinating", "MB")


def main() -> None:
    options = read_options("coordinator")
    chosen = [each for each in GROUP_SCENARIOS if options.only in each.name]
    table, targets = Table(), available(options.targets)
    runs = measure_warm(targets, chosen, WARM_UP, table, options, memory=MEMORY)
    for target in targets:
        _measure_log(target, table.figures.setdefault(target.name, {}), options)
    rows = show(table, [*_rows(chosen), MEMORY, *offsets_log.ROWS])
    if not options.only and not options.quick:
        write_results("coordinator", table, rows, runs, options.passes)


def _rows(chosen: list[Scenario]) -> list[Row]:
    return [row for scenario in chosen for row in scenario.rows]


def _measure_log(target: Target, figures: Figures, options: Namespace) -> None:
    scale, found = QUICK_SCALE if options.quick else 1, Figures()
    for log in offsets_log.LOGS:
        if options.only in log.label:
            found |= offsets_log.load(target, log, options.passes, scale=scale)
    if options.only in offsets_log.NAMED.label:
        found |= offsets_log.fetch(target, scale=scale)
    for row in offsets_log.ROWS:
        if row.label in found:
            note(figures, row, found[row.label], of=f"{target.name}: ")


if __name__ == "__main__":
    main()
