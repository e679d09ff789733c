"""Spark on Ottla and on Apache Kafka: its connector on both, and what Ottla brings beside it.

    python -m benchmarks spark [--quick] [--only TEXT] [--targets kafka ottla]

Prints what Ottla reaches and what it must. A whole run writes benchmarks/results/spark.json.
`--quick` is a tenth of the work, once: to see that all runs, not how fast.
"""

from __future__ import annotations

from benchmarks.beside.measuring import measure_warm, read_options, show, write_results
from benchmarks.beside.rows import Row
from benchmarks.beside.spark_delivering import DELIVERY_SCENARIOS
from benchmarks.beside.spark_pipelines import PIPELINE_SCENARIOS
from benchmarks.beside.spark_scenarios import SPARK_SCENARIOS, WARM_UP
from benchmarks.beside.spark_session import spark
from benchmarks.beside.table import Table
from benchmarks.beside.targets import available

MEMORY = Row("memory, under Spark", "MB")


def main() -> None:
    options = read_options("spark")
    scenarios = (*SPARK_SCENARIOS, *DELIVERY_SCENARIOS, *PIPELINE_SCENARIOS)
    chosen = [each for each in scenarios if options.only in each.name]
    table, targets = Table(), available(options.targets)
    try:
        runs = measure_warm(targets, chosen, WARM_UP, table, options, memory=MEMORY)
    finally:
        spark().stop()
    measured = show(table, [*(row for each in chosen for row in each.rows), MEMORY])
    if not options.only and not options.quick:
        write_results("spark", table, measured, runs, options.passes)


if __name__ == "__main__":
    main()
