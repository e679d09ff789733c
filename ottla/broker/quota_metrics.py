"""What quotas have counted: for metrics under Kafka's names, and for people who ask."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ottla.metrics import Metrics
from ottla.security.quota_changes import entity_at
from ottla.security.quota_entities import DEFAULT, ClientEntity
from ottla.security.quotas import Sensor

if TYPE_CHECKING:
    from ottla.broker.broker import Broker

_RATES = {
    "producer_byte_rate": ("Produce", "byte-rate"),
    "consumer_byte_rate": ("Fetch", "byte-rate"),
    "request_percentage": ("Request", "request-time"),
    "controller_mutation_rate": ("ControllerMutation", "mutation-rate"),
}


def measure_quotas(metrics: Metrics, broker: Broker) -> None:
    quotas, now_ms = broker.quotas.quotas, broker.timer.now_ms()
    for key, (kind, rate) in _RATES.items():
        for sensor in quotas.by_key()[key].sensors():
            user, client = sensor.sharers
            labels = {"user": user, "client-id": client}
            bean = f"kafka.server:type={kind},name="
            metrics.gauge(bean + rate, _value(sensor.rate.measure(now_ms)), **labels)
            throttle_time = sensor.throttle_time.measure(now_ms)
            metrics.gauge(f"{bean}throttle-time", _value(throttle_time), **labels)
            if kind == "ControllerMutation":
                tokens = sensor.bucket.measure(sensor.bound, now_ms)
                metrics.gauge(f"{bean}tokens", _value(tokens), **labels)
    if quotas.request.bounds:
        exempt = quotas.exempt.measure(now_ms)
        metrics.gauge("kafka.server:type=Request,name=exempt-request-time", _value(exempt))
    for name, labels, value in broker.quotas.connections.rates(now_ms):
        metrics.gauge(
            f"kafka.server:type=socket-server-metrics,name={name}", _value(value), **labels
        )


def _value(number: float) -> Callable[[], float]:
    return lambda: number


def describe_quotas(broker: Broker) -> list[dict[str, object]]:
    """For `/debug/quotas`: who shares a limit, how fast they are, how often they had to rest."""
    now_ms = broker.timer.now_ms()
    return [
        _describe(key, sensor, now_ms)
        for key, quotas in broker.quotas.quotas.by_key().items()
        for sensor in quotas.sensors()
    ]


def _describe(key: str, sensor: Sensor, now_ms: int) -> dict[str, object]:
    return {
        "key": key,
        "entity": _named(sensor.sharers),
        "set_for": _named(sensor.source),
        "limit": sensor.bound,
        "rate": sensor.rate.measure(now_ms),
        "throttled_count": sensor.throttled_count,
        "throttled_ms": sensor.throttled_ms,
        "throttle_time_ms": sensor.throttle_time.measure(now_ms),
    }


def _named(entity: ClientEntity) -> dict[str, str]:
    """By type, as in requests; `<default>` for the default."""
    path = f"users/{entity.user}" if entity.user else f"clients/{entity.client}"
    if entity.user and entity.client:
        path = f"{path}/clients/{entity.client}"
    found = entity_at(path)
    assert found is not None
    return {kind: DEFAULT if name is None else name for kind, name in found.items()}
