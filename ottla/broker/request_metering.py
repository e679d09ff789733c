"""Requests in numbers, under Kafka's names; a Fetch also by whether a follower sent it."""

from __future__ import annotations

from collections.abc import Iterator

from ottla.handlers.request_counts import RequestCounts, RequestTimes
from ottla.metrics import Metrics
from ottla.protocol.errors import ErrorCode
from ottla.protocol.registry import API_NAMES

_REQUESTS = "kafka.network:type=RequestMetrics,name="
_FETCH = 1
_NOT_REPEATED = (
    "of the first 16 and then of one in 16, and not of those"
    " that are known by the request before them on their connection"
    " (most of Produce, Heartbeat and OffsetCommit): RequestsPerSec counts these, too"
)


def measure_requests(metrics: Metrics, requests: RequestCounts) -> None:
    for name, version, count in _by_version(requests):
        counter = metrics.counter(f"{_REQUESTS}RequestsPerSec", request=name, version=version)
        counter.count = count
    _count_errors(metrics, requests)
    for name, times in _by_name(requests):
        _show_times(metrics, name, times)


def _by_version(requests: RequestCounts) -> Iterator[tuple[str, str, int]]:
    for (key, version), count in sorted(requests.by_version.items()):
        yield API_NAMES[key], str(version), count
        if key == _FETCH:
            followers = requests.follower_fetches.get(version, 0)
            yield "FetchConsumer", str(version), count - followers
            yield "FetchFollower", str(version), followers


def _count_errors(metrics: Metrics, requests: RequestCounts) -> None:
    """Kafka counts answers without an error, too, as NONE."""
    bean = f"{_REQUESTS}ErrorsPerSec"
    meaning = "each error code of an answer; bug: our own, answered as UNKNOWN_SERVER_ERROR"
    metrics.counter(bean, meaning=meaning, error="bug").count = requests.failures
    for (key, code), count in sorted(requests.errors.items()):
        labels = {"request": API_NAMES[key], "error": ErrorCode(code).name}
        metrics.counter(bean, **labels).count = count


def _by_name(requests: RequestCounts) -> Iterator[tuple[str, RequestTimes]]:
    for key, times in requests.all_times():
        yield API_NAMES[key], times
        if key == _FETCH:
            yield "FetchConsumer", requests.times(_FETCH)
            yield "FetchFollower", requests.times(_FETCH, is_follower=True)


def _show_times(metrics: Metrics, name: str, times: RequestTimes) -> None:
    for bean, histogram, meaning in (
        ("TotalTimeMs", times.total_ms(), _NOT_REPEATED),
        ("LocalTimeMs", times.local_ms(), _NOT_REPEATED),
        (
            "RemoteTimeMs",
            times.remote_ms(),
            f"while a request was parked, or awaited the store; {_NOT_REPEATED}",
        ),
        ("ThrottleTimeMs", times.throttle_ms, "of all requests, while any quota is set"),
        ("RequestBytes", times.size_bytes, _NOT_REPEATED),
    ):
        metrics.show(f"{_REQUESTS}{bean}", histogram, meaning=meaning, request=name)
