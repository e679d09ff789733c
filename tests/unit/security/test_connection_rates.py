"""New connections: which wait, which are refused, and whose limit it is."""

from __future__ import annotations

from ottla.security.connection_rates import UNLIMITED, ConnectionRates
from ottla.security.quotas import Windows


def rates(broker: float = UNLIMITED, **listeners: float) -> ConnectionRates:
    made = ConnectionRates(Windows())
    made.limit(broker, listeners, protected="INTERNAL")
    return made


def test_without_limits_nobody_waits() -> None:
    made = rates()
    assert {made.delay_ms("A", 0) for _ in range(100)} == {0}
    assert {made.refusal_ms("10.0.0.1", 0) for _ in range(100)} == {0}


def test_all_listeners_share_the_brokers_limit_but_the_one_between_brokers() -> None:
    made = rates(1)
    assert [made.delay_ms("AB"[n % 2], 0) for n in range(11)] == [0] * 10 + [1000]
    assert made.delay_ms("INTERNAL", 0) == 0


def test_a_listener_has_its_own_limit() -> None:
    made = rates(A=1)
    assert [made.delay_ms("A", 0) for _ in range(11)] == [0] * 10 + [1000]
    assert made.delay_ms("B", 0) == 0


def test_a_refused_connection_is_not_counted() -> None:
    made = rates()
    made.stored("10.0.0.1", {"connection_creation_rate": "1"})
    assert [made.refusal_ms("10.0.0.1", 0) for _ in range(12)] == [0] * 10 + [1000] * 2
    assert made.refusal_ms("10.0.0.1", 11_000) == 0
    assert made.refusal_ms("10.0.0.2", 0) == 0


def test_an_address_may_have_less_than_the_default_or_more() -> None:
    made = rates()
    made.stored("<default>", {"connection_creation_rate": "0"})
    made.stored("10.0.0.1", {"connection_creation_rate": "100"})
    assert made.refusal_ms("10.0.0.1", 0) == 0
    assert made.refusal_ms("10.0.0.2", 0) == 1000
    made.stored("<default>", {})
    assert made.refusal_ms("10.0.0.2", 0) == 0


def test_what_is_measured_has_kafkas_names() -> None:
    made = rates(1)
    made.stored("10.0.0.1", {"connection_creation_rate": "1"})
    for _ in range(11):
        made.delay_ms("A", 0)
    made.refusal_ms("10.0.0.1", 0)
    assert {(name, *labels.items()): value for name, labels, value in made.rates(0)} == {
        ("broker-connection-accept-rate",): 1.1,
        ("connection-accept-rate", ("listener", "A")): 1.1,
        ("connection-accept-throttle-time", ("listener", "A")): 1000,
        ("connection-accept-rate", ("ip", "10.0.0.1")): 0.1,
        ("connection-accept-throttle-time", ("ip", "10.0.0.1")): 0,
    }
