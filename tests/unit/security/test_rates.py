"""Rates and buckets, number for number as Kafka 3.9.1's own classes gave them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ottla.security.rates import SampledAverage, SampledRate, TokenBucket

# Each line: 40 events of random values and pauses, as Rate, Avg and TokenBucket measured them.
RECORDED = [
    json.loads(line)
    for line in (Path(__file__).parent / "kafka_rates.jsonl").read_text().splitlines()
]


@pytest.mark.parametrize("run", RECORDED, ids=range(len(RECORDED)))
def test_every_number_is_kafkas(run: dict[str, Any]) -> None:
    windows = {"samples": run["samples"], "window_ms": run["window_ms"]}
    rate, average = SampledRate(**windows), SampledAverage(**windows)
    bucket, bound = TokenBucket(**windows), run["bound"]
    for now_ms, value, per_second, span_ms, throttle_ms, tokens, mean in run["events"]:
        rate.record(value, now_ms)
        average.record(value, now_ms)
        bucket.take(value, bound, now_ms)
        assert rate.measure(now_ms) == pytest.approx(per_second)
        assert rate.span_ms(now_ms) == span_ms
        assert rate.excess_ms(bound, now_ms) == throttle_ms
        assert bucket.measure(bound, now_ms) == pytest.approx(tokens)
        assert average.measure(now_ms) == pytest.approx(mean)


def test_nothing_recorded_is_no_rate() -> None:
    assert SampledRate(samples=11, window_ms=1000).measure(5) == 0
    assert SampledAverage(samples=2, window_ms=1000).measure(5) == 0


def test_what_is_long_ago_counts_no_more() -> None:
    rate = SampledRate(samples=3, window_ms=1000)
    rate.record(600, 0)
    assert rate.measure(2999) > 0
    assert rate.measure(3000) == 0


def test_a_limit_of_nothing_rests_as_long_as_it_is_remembered() -> None:
    rate, bucket = SampledRate(samples=11, window_ms=1000), TokenBucket(samples=5, window_ms=2000)
    assert rate.excess_ms(0, 0) == 0
    rate.record(1, 0)
    assert rate.excess_ms(0, 0) == 11_000
    bucket.take(1, 0, 0)
    assert bucket.excess_ms(0, 0) == 10_000


def test_a_bucket_is_full_at_first_and_may_be_overdrawn_once() -> None:
    bucket = TokenBucket(samples=10, window_ms=1000)
    assert bucket.measure(5, 123) == 50
    bucket.take(60, 5, 123)
    assert (bucket.measure(5, 123), bucket.excess_ms(5, 123)) == (-10, 2000)
    assert bucket.excess_ms(5, 2123) == 0
