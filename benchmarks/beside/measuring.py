"""Runs scenarios on the brokers in turns, and keeps what they found."""

from __future__ import annotations

import argparse
import json
import os
import platform
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import NamedTuple

from benchmarks.beside import usage
from benchmarks.beside.bench import Bench, empty_folder, started
from benchmarks.beside.quiet import ATTEMPTS, BEARABLE, wait_until_quiet
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


def read_options(name: str, *, knows_again: bool = False) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog=f"python -m benchmarks {name}")
    parser.add_argument("--quick", action="store_true", help="a tenth of the work, once")
    parser.add_argument("--only", default="", metavar="TEXT", help="rows with this in their name")
    parser.add_argument(
        "--passes", type=int, default=PASSES, help="how often each is run; the median counts"
    )
    if knows_again:
        parser.add_argument(
            "--again",
            action="store_true",
            help="what the last run left undecided, or the host disturbed, or with --only "
            "just those rows; the rest is kept",
        )
    both = ("kafka", "ottla")
    parser.add_argument("--targets", nargs="+", choices=both, default=both)
    options = parser.parse_args()
    is_less = options.quick or set(options.targets) != set(both)
    if knows_again and options.again and is_less:
        parser.error("--again mends a whole run: not with --quick or --targets")
    if options.quick:
        options.passes = 1
    return options


def measure_warm(
    targets: Sequence[Target],
    chosen: Sequence[Scenario],
    warm_up: Sequence[Scenario],
    table: Table,
    options: argparse.Namespace,
    *,
    memory: Row | None = None,
) -> dict[str, Runs]:
    """All on brokers that have done the warm-up before, and at last what memory they took.

    They take turns at each scenario: what else the machine does changes from minute to minute, and
    must not be one broker's bad luck. Whose turn it is not is idle.
    """
    runs: dict[str, Runs] = {target.name: {} for target in targets}
    if not chosen:
        return runs
    with ExitStack() as stack:
        benches = {each.name: _warm(each, warm_up, options, stack) for each in targets}
        for scenario in chosen:
            taken = _take_turns(scenario, benches, options.passes)
            for name, turns in taken.items():
                _note_turns(f"{name}: ", table.figures.setdefault(name, {}), scenario, turns)
                runs[name][scenario.name] = benches[name].take_outcomes()
            table.ratios |= _ratios(scenario, taken)
        for name, bench in benches.items():
            if memory is not None:
                note(table.figures[name], memory, usage.peak_mb(bench.running.pids), of=f"{name}: ")
            if (stall_ms := longest_stall_ms(bench.running.metrics_url)) is not None:
                print(f"longest stall of {name}'s loop: {stall_ms:.1f} ms")
    return runs


def _warm(
    target: Target, warm_up: Sequence[Scenario], options: argparse.Namespace, stack: ExitStack
) -> Bench:
    scale = QUICK_SCALE if options.quick else 1
    folder = stack.enter_context(empty_folder())
    bench = stack.enter_context(started(target, folder, scale=scale))
    for scenario in warm_up:
        scenario.run(bench)
    bench.take_outcomes()
    return bench


class Turn(NamedTuple):
    figures: tuple[float, ...]
    outcome: Outcome  # of the driver that measured, not of one that filled


def _take_turns(
    scenario: Scenario, benches: Mapping[str, Bench], passes: int
) -> dict[str, list[Turn]]:
    turns: dict[str, list[Turn]] = {name: [] for name in benches}
    for number in range(passes):
        for name in sorted(benches, reverse=number % 2 == 1):  # nobody is always the first
            turns[name].append(_take_turn(scenario, benches[name]))
    return turns


def _take_turn(scenario: Scenario, bench: Bench) -> Turn:
    """Of several attempts the one that the host disturbed least; mostly the first is quiet."""
    earlier, attempts = bench.take_outcomes(), []
    for _ in range(ATTEMPTS):
        if not bench.is_quick:
            wait_until_quiet()
        attempts.append((scenario.run(bench), bench.take_outcomes()))
        if bench.is_quick or _stolen(attempts[-1][1]) <= BEARABLE:
            break
    figures, outcomes = min(attempts, key=lambda attempt: _stolen(attempt[1]))
    bench.outcomes = earlier + outcomes
    return Turn(figures, outcomes[-1])


def _stolen(outcomes: Sequence[Outcome]) -> float:
    return max(each["stolen"] for each in outcomes)


def _ratios(scenario: Scenario, taken: Mapping[str, Sequence[Turn]]) -> dict[str, list[float]]:
    """By the row, what Ottla reached of Kafka's figure in each pass."""
    pairs = list(zip(taken.get("Ottla", ()), taken.get("Kafka", ()), strict=False))
    return {
        row.label: [ottla.figures[number] / kafka.figures[number] for ottla, kafka in pairs]
        for number, row in enumerate(scenario.rows)
    }


def _note_turns(of: str, figures: Figures, scenario: Scenario, turns: Sequence[Turn]) -> None:
    """The median of each row."""
    columns = zip(*(turn.figures for turn in turns), strict=True)
    for row, values in zip(scenario.rows, columns, strict=True):
        note(figures, row, median(values), of=of)
    outcomes = [turn.outcome for turn in turns]
    client_s = median(each["client_cpu_s"] for each in outcomes)
    broker_s = median(each["broker_cpu_s"] for each in outcomes)
    # Where the client takes a whole core, the broker is not what limits.
    share = median(each["client_cpu_s"] / each["seconds"] for each in outcomes)
    cpu = f"client {client_s:.2f} s, {share:.0%} of a core; broker {broker_s:.2f} s"
    taken = f"; the host took {_stolen(outcomes):.0%}" if _stolen(outcomes) > BEARABLE else ""
    print(f"{'':44} cpu: {cpu}{_stalls(outcomes)}{taken}", flush=True)


def _stalls(outcomes: Sequence[Outcome]) -> str:
    longest = [each["longest_stall_ms"] for each in outcomes if "longest_stall_ms" in each]
    return f"; the loop stood still for at most {max(longest):g} ms" if longest else ""


def note(figures: Figures, row: Row, value: float, *, of: str) -> None:
    figures[row.label] = value
    print(f"{of + row.label:52} {value:>12,.2f} {row.unit}", flush=True)


def show(table: Table, rows: Sequence[Row]) -> list[Row]:
    """Prints those that were measured, and returns them."""
    measured = [row for row in rows if any(row.label in each for each in table.figures.values())]
    print(table.text(measured))
    return measured


def read_results(name: str) -> tuple[Table, dict[str, Runs]]:
    """Of the last whole run."""
    found = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    return Table.of(found["rows"]), found["runs"]


def was_disturbed(scenario: Scenario, runs: Mapping[str, Runs]) -> bool:
    outcomes = [each for run in runs.values() for each in run.get(scenario.name, ())]
    return bool(outcomes) and _stolen(outcomes) > BEARABLE


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
