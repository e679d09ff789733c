"""Sensors: who counts together, what a change of limits does to them, and when they are dropped."""

from __future__ import annotations

import pytest

from ottla.protocol.errors import ErrorCode, KafkaError
from ottla.security.quota_entities import ClientEntity
from ottla.security.quotas import (
    ClientQuotas,
    MutationQuota,
    Quotas,
    Sensor,
    Windows,
    parse,
    percent,
)

HOUR_MS = 3_600_000


def of(quotas: ClientQuotas, client_id: str, *, user: str = "alice", now_ms: int = 0) -> Sensor:
    sensor = quotas.sensor(user, client_id, now_ms)
    assert sensor is not None
    return sensor


def test_who_has_no_limit_has_no_sensor_and_no_rest() -> None:
    quotas = ClientQuotas(Windows())
    assert quotas.sensor("alice", "reader", 0) is None
    assert quotas.record(None, 1e9, 0) == 0
    assert quotas.most_in_windows(None) == float("inf")


def test_all_clients_of_a_user_share_its_limit() -> None:
    quotas = ClientQuotas(Windows())
    quotas.set(ClientEntity("alice"), 100)
    assert of(quotas, "a") is of(quotas, "b")
    assert quotas.sensor("bob", "a", 0) is None
    assert quotas.record(of(quotas, "a"), 1000, 0) == 0
    assert quotas.record(of(quotas, "b"), 1000, 0) == 10_000
    assert quotas.most_in_windows(of(quotas, "a")) == 1000


def test_each_client_id_has_the_default_for_itself() -> None:
    quotas = ClientQuotas(Windows())
    quotas.set(ClientEntity(client="<default>"), 100)
    assert of(quotas, "a") is not of(quotas, "b")
    assert of(quotas, "a") is of(quotas, "a", user="bob")


def test_a_new_limit_finds_what_was_used_before() -> None:
    quotas = ClientQuotas(Windows())
    quotas.set(ClientEntity("alice"), 1000)
    assert quotas.record(of(quotas, "a"), 5000, 0) == 0
    quotas.set(ClientEntity("alice"), 100)
    assert quotas.record(of(quotas, "a"), 0, 0) == 40_000
    quotas.set(ClientEntity("alice"), None)
    assert quotas.sensor("alice", "a", 0) is None
    assert list(quotas.sensors()) == []


def test_a_more_special_limit_counts_anew() -> None:
    quotas = ClientQuotas(Windows())
    quotas.set(ClientEntity("alice"), 100)
    quotas.record(of(quotas, "a"), 5000, 0)
    quotas.set(ClientEntity("alice", "a"), 100)
    assert quotas.record(of(quotas, "a"), 100, 0) == 0
    assert quotas.record(of(quotas, "b"), 0, 0) > 0


def test_the_time_of_requests_is_throttled_a_window_at_most() -> None:
    quotas = Quotas(Windows(11, 2000))
    quotas.stored("users", "alice", {"request_percentage": "10"})
    assert quotas.request.record(of(quotas.request, "a"), percent(30 * 10**9), 0) == 2000


def test_throttled_clients_are_counted() -> None:
    quotas = ClientQuotas(Windows())
    quotas.set(ClientEntity("alice"), 100)
    sensor = of(quotas, "a")
    for rest_ms in (10, 30):
        quotas.throttled(sensor, rest_ms, 0)
    assert (sensor.throttled_count, sensor.throttled_ms) == (2, 40)
    assert sensor.throttle_time.measure(0) == 20


def test_who_is_silent_for_an_hour_is_forgotten() -> None:
    quotas = ClientQuotas(Windows())
    quotas.set(ClientEntity(client="<default>"), 100)
    old = of(quotas, "old")
    of(quotas, "new", now_ms=HOUR_MS + 1)
    assert of(quotas, "old", now_ms=HOUR_MS + 2) is not old


def test_what_is_remembered_of_client_ids_has_a_limit() -> None:
    quotas = ClientQuotas(Windows())
    quotas.set(ClientEntity("alice"), 100)
    for number in range(10_001):
        quotas.sensor("bob", str(number), 0)
    assert len(quotas._found) < 10_001


def test_quotas_of_every_kind_come_from_one_node() -> None:
    quotas = Quotas()
    were_set = [quotas.are_set]
    quotas.stored("users", "alice", {"producer_byte_rate": "5", "SCRAM-SHA-256": "salt=…"})
    quotas.stored("clients", "a", {"request_percentage": "12.5", "consumer_byte_rate": "nonsense"})
    were_set.append(quotas.are_set)
    assert of(quotas.produce, "a").bound == 5
    assert of(quotas.request, "a").bound == 12.5
    assert not quotas.fetch.bounds
    quotas.stored("users", "alice", {})
    quotas.stored("clients", "a", {})
    assert [*were_set, quotas.are_set] == [False, True, False]


@pytest.mark.parametrize("text", ["", "x", "NaN", "Infinity", None])
def test_what_is_no_number_is_no_limit(text: str | None) -> None:
    assert parse(text) is None


def mutations(*, is_strict: bool) -> MutationQuota:
    quotas = ClientQuotas(Windows())
    quotas.set(ClientEntity("alice"), 1)
    return MutationQuota(of(quotas, "a"), is_strict=is_strict)


def test_a_strict_quota_refuses_once_it_is_overdrawn() -> None:
    quota = mutations(is_strict=True)
    quota.spend(13, 0)
    with pytest.raises(KafkaError) as refused:
        quota.spend(1, 0)
    assert refused.value.code is ErrorCode.THROTTLING_QUOTA_EXCEEDED
    assert quota.throttle_ms(0) == 2000
    quota.spend(1, 2000)


def test_a_lenient_quota_only_throttles() -> None:
    quota = mutations(is_strict=False)
    quota.spend(11, 0)
    assert quota.throttle_ms(0) == 0
    quota.spend(2, 0)
    assert quota.throttle_ms(0) == 2000


def test_the_rest_shrinks_while_the_request_waits() -> None:
    quota = mutations(is_strict=False)
    quota.spend(13, 0)
    assert [quota.throttle_ms(now_ms) for now_ms in (500, 1999, 5000)] == [1500, 1, 0]
