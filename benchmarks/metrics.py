"""What counting costs a request, and a scrape the loop."""

from __future__ import annotations

from timeit import repeat

from ottla.metrics import TIMES_MS, Counter, Histogram, Metrics

UPDATES = 100_000
GAUGES = 10_000
HISTOGRAM_TARGET_US = 0.3


def count(counter: Counter) -> None:
    for _ in range(UPDATES):
        counter.count += 1


def observe(histogram: Histogram) -> None:
    for _ in range(UPDATES):
        histogram.observe(3.3)


def main() -> None:
    cost_us = min(repeat(lambda: count(Counter()), number=1, repeat=9)) / UPDATES * 1e6
    print(f"{'a counter':>20} {cost_us:>6.3f} us")
    cost_us = min(repeat(lambda: observe(Histogram(TIMES_MS)), number=1, repeat=9)) / UPDATES * 1e6
    verdict = "met" if cost_us <= HISTOGRAM_TARGET_US else "MISSED"
    print(f"{'a histogram':>20} {cost_us:>6.3f} us  at most {HISTOGRAM_TARGET_US:g}: {verdict}")
    metrics = Metrics()
    for number in range(GAUGES):
        metrics.gauge("kafka.log:type=Log,name=Size", lambda: 1, partition=str(number))
    cost_s = min(repeat(metrics.render, number=1, repeat=3))
    print(f"{'a scrape':>20} {cost_s * 1000:>6.1f} ms for {GAUGES:,} gauges")


if __name__ == "__main__":
    main()
