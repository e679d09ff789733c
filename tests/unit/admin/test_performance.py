"""Numbers of a measurement, in the very lines that Kafka's tools print."""

from __future__ import annotations

from ottla.admin.performance import MIB, Reading, SendStatistics, payloads, total_line


def test_payloads_differ_are_letters_and_the_same_in_every_run() -> None:
    made = payloads(20)
    assert made == payloads(20)
    assert {len(each) for each in made} == {20}
    assert len({*made}) == len(made)
    assert all(each.isalpha() and each.isupper() for each in made)


def test_the_line_in_the_end_is_that_of_kafkas_tool() -> None:
    statistics = SendStatistics(MIB // 100)
    for latency_ms in range(1, 1001):
        statistics.add(float(latency_ms))
    assert total_line(statistics.total(4.0)) == (
        "1000 records sent, 250.000000 records/sec (2.50 MB/sec), 500.50 ms avg latency, "
        "1000.00 ms max latency, 501 ms 50th, 951 ms 95th, 991 ms 99th, 1000 ms 99.9th."
    )


def test_nothing_sent_is_told_without_a_division_by_nothing() -> None:
    assert total_line(SendStatistics(100).total(1.0)).startswith("0 records sent, 0.000000 rec")


def test_a_window_tells_only_its_own_and_only_when_it_is_over() -> None:
    statistics = SendStatistics(MIB)
    statistics.add(10.0)
    assert statistics.window(4.9) is None
    assert statistics.window(5.0) == (
        "1 records sent, 0.2 records/sec (0.20 MB/sec), 10.0 ms avg latency, 10.0 ms max latency."
    )
    assert statistics.window(10.0) is None
    statistics.add(30.0)
    statistics.add(50.0)
    assert statistics.window(15.0) == (
        "2 records sent, 0.2 records/sec (0.20 MB/sec), 40.0 ms avg latency, 50.0 ms max latency."
    )


def test_the_time_without_partitions_is_not_counted_as_fetching() -> None:
    whole = Reading(size_bytes=3 * MIB, records=300, elapsed_ms=1500, rebalance_ms=500)
    assert whole.cells() == [
        "3.0000", "2.0000", "300", "200.0000", "500", "1000", "3.0000", "300.0000",
    ]  # fmt: skip
    first = Reading(size_bytes=MIB, records=100, elapsed_ms=1000, rebalance_ms=500)
    assert whole.since(first) == Reading(2 * MIB, 200, 500, 0)


def test_a_reading_of_no_time_divides_by_none() -> None:
    assert Reading().to_json()["fetch.MB.sec"] == 0.0
