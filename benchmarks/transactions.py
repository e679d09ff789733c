"""Ottla's transactions beside Apache Kafka's: commits, reading what is committed, a log to load.

    python -m benchmarks transactions [--quick] [--only TEXT] [--targets kafka ottla]

Prints what Ottla reaches and what it must. A whole run writes benchmarks/results/transactions.json.
`--quick` is a tenth of the work, once: to see that all runs, not how fast.
"""

from __future__ import annotations

from benchmarks.beside import transactions_log
from benchmarks.beside.measuring import (
    QUICK_SCALE,
    Runs,
    measure_warm,
    note,
    read_options,
    show,
    write_results,
)
from benchmarks.beside.rows import Row
from benchmarks.beside.table import Table
from benchmarks.beside.targets import available
from benchmarks.beside.transaction_scenarios import TRANSACTION_SCENARIOS, WARM_UP

MEMORY = Row("memory, transactions", "MB")


def main() -> None:
    options = read_options("transactions")
    chosen = [each for each in TRANSACTION_SCENARIOS if options.only in each.name]
    scale = QUICK_SCALE if options.quick else 1
    table = Table()
    runs: dict[str, Runs] = {}
    for target in available(options.targets):
        print(f"-- {target.name}", flush=True)
        figures = table.figures.setdefault(target.name, {})
        runs[target.name] = measure_warm(target, chosen, WARM_UP, figures, options, memory=MEMORY)
        if options.only in transactions_log.LABEL:
            found = transactions_log.load(target, options.passes, scale=scale)
            for row in transactions_log.ROWS:
                note(figures, row, found[row.label])
    rows = [row for scenario in chosen for row in scenario.rows]
    measured = show(table, [*rows, MEMORY, *transactions_log.ROWS])
    if not options.only and not options.quick:
        write_results("transactions", table, measured, runs, options.passes)


if __name__ == "__main__":
    main()
