"""The table of the benchmark beside Kafka judges by the right side of each limit."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.beside import plots
from benchmarks.beside.quiet import Asked
from benchmarks.beside.rows import Must, Row, above, at_least, at_most, below
from benchmarks.beside.scenarios import SCENARIOS
from benchmarks.beside.stall import find_stall_ms, find_stalls, longest_between_ms
from benchmarks.beside.table import Table
from ottla.metrics import Histogram, Metrics


@pytest.mark.parametrize(
    ("must", "ottla", "kafka", "is_met"),
    [
        (at_least(2), 200.0, 100.0, True),
        (at_least(2), 199.0, 100.0, False),
        (at_most(1), 100.0, 100.0, True),
        (at_most(1), 101.0, 100.0, False),
        (at_most(1), 101.0, None, None),
        (below(60), 60.0, 330.0, True),
        (below(60), 61.0, None, False),
        (above(0.95), 0.9, 0.5, False),
    ],
)
def test_a_limit_is_a_multiple_or_a_value(
    must: Must, ottla: float, kafka: float | None, is_met: bool | None
) -> None:
    assert must.is_met(ottla=ottla, kafka=kafka) is is_met


def test_the_table_says_where_ottla_falls_short() -> None:
    table = Table({"Kafka": {"fetch": 1000, "start": 2.1}, "Ottla": {"fetch": 900, "start": 0.2}})
    rows = [Row("fetch", "MB/s", at_least(1)), Row("start", "s", below(0.4)), Row("other", "us")]
    fetch, start, other = table.text(rows).splitlines()[1:]
    assert fetch.split() == ["fetch", "1,000", "900", "MB/s", "0.90", ">=", "1x", "SHORT"]
    assert start.split() == ["start", "2.1", "0.2", "s", "0.10", "<=", "0.4", "ok"]
    assert other.split() == ["other", "-", "-", "us", "-"]


def test_what_lies_within_the_noise_of_a_run_is_left_open() -> None:
    table = Table({"Kafka": {"a": 100, "b": 100}, "Ottla": {"a": 99, "b": 99}})
    table.ratios = {"a": [0.97, 0.99, 1.02], "b": [0.98, 0.99, 0.995]}
    rows = [Row(name, "MB/s", at_least(1)) for name in ("a", "b")]
    _, a, b = table.text(rows).splitlines()
    assert a.split()[4:] == ["0.99", "0.97-1.02", ">=", "1x", "OPEN"]
    assert b.split()[-1] == "SHORT"
    assert [table.is_undecided(row) for row in rows] == [True, False]
    table.figures["Ottla"]["a"] = 101  # met, but by no more than the noise
    assert table.is_undecided(rows[0])


def test_the_longest_stall_of_a_run_is_that_of_the_last_bucket_that_grew() -> None:
    metrics, stalls = Metrics(), Histogram((1.0, 10.0))
    metrics.show("ottla:type=EventLoop,name=StallMs", stalls)
    for stall_ms in (0.5, 5.0, 50.0):
        stalls.observe(stall_ms)
    before = find_stalls(metrics.render().decode())
    for stall_ms in (0.5, 0.5, 7.0):
        stalls.observe(stall_ms)
    after = find_stalls(metrics.render().decode())
    assert after == {1.0: 3, 10.0: 5, float("inf"): 6}
    assert longest_between_ms(before, after) == 10
    assert longest_between_ms({}, after) == float("inf")


def test_a_table_comes_back_from_its_lines() -> None:
    table = Table({"Kafka": {"a": 1}, "Ottla": {"a": 3, "b": 4}}, {"a": [2.5, 3.5], "b": []})
    rows = [Row("a", "MB/s", at_least(1)), Row("b", "s", below(9))]
    assert Table.of(table.as_json(rows)) == table


def test_what_the_host_took_is_a_share_of_what_was_asked_for() -> None:
    before = Asked.read("cpu  100 5 50 9000 30 1 4 40 0 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n")
    after = Asked.read("cpu  140 5 80 9900 30 1 14 60 0 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n")
    assert before.stolen_until(after) == 0.2  # 20 of 100; being idle is not asking
    assert after.stolen_until(after) == 0


def test_every_row_has_a_name_of_its_own() -> None:
    labels = [row.label for scenario in SCENARIOS for row in scenario.rows]
    assert len(dict.fromkeys(labels)) == len(labels)


def test_the_longest_stall_is_found_among_other_metrics() -> None:
    text = "# TYPE x gauge\nx_total 3.0\nottla_EventLoop_LongestStallMs 12.5\ny 1\n"
    assert find_stall_ms(text) == 12.5
    assert find_stall_ms("x_total 3.0\n") is None


def test_both_figures_are_drawn(tmp_path: Path) -> None:
    table = Table({"Kafka": {"a": 1, "b": 2}, "Ottla": {"a": 3, "b": 1}})
    plots.draw(table.as_json([Row("a", "MB/s"), Row("b", "us")]), tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "broker-latency.png",
        "broker-ratios.png",
    ]
