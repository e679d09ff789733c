"""Listeners are read as Kafka reads them."""

from __future__ import annotations

import pytest

from ottla.config.listeners import (
    Endpoint,
    SecurityProtocol,
    parse_listeners,
    parse_protocol_map,
    shared_ports,
)
from ottla.config.option import ConfigError

PROTOCOLS = parse_protocol_map("PLAINTEXT:PLAINTEXT, external:SASL_SSL")


def parse(text: str) -> tuple[Endpoint, ...]:
    return parse_listeners(text, PROTOCOLS, option="listeners")


def test_a_list_of_listeners() -> None:
    assert parse("PLAINTEXT://localhost:9092, external://:9093") == (
        Endpoint("PLAINTEXT", SecurityProtocol.PLAINTEXT, "localhost", 9092),
        Endpoint("EXTERNAL", SecurityProtocol.SASL_SSL, "", 9093),
    )


def test_an_ipv6_address_stands_in_brackets() -> None:
    (endpoint,) = parse("PLAINTEXT://[::1]:9092")
    assert endpoint.host == "::1"
    assert str(endpoint) == "PLAINTEXT://[::1]:9092"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("localhost:9092", "expected NAME://host:port"),
        ("PLAINTEXT://localhost", "expected NAME://host:port"),
        ("PLAINTEXT://localhost:99999", "expected NAME://host:port"),
        ("INNER://:1", "add INNER:PLAINTEXT, or another, to listener.security.protocol.map"),
        ("PLAINTEXT://a:1,plaintext://b:2", "PLAINTEXT stands there twice"),
    ],
)
def test_a_listener_that_cannot_be(text: str, complaint: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse(text)
    assert complaint in str(caught.value)


@pytest.mark.parametrize("text", ["A", "A:TLS", ":SSL", "A:SSL,a:PLAINTEXT"])
def test_a_protocol_map_that_cannot_be(text: str) -> None:
    with pytest.raises(ConfigError, match=r"listener\.security\.protocol\.map"):
        parse_protocol_map(text)


def test_two_listeners_do_not_share_a_port() -> None:
    (mistake,) = shared_ports(parse("PLAINTEXT://a:9092,EXTERNAL://b:9092"))
    assert mistake.endswith("share port 9092; each needs its own")


def test_both_families_of_one_machine_may_share_a_port() -> None:
    assert shared_ports(parse("PLAINTEXT://127.0.0.1:9092,EXTERNAL://[::1]:9092")) == []


def test_port_0_is_free_for_everyone() -> None:
    assert shared_ports(parse("PLAINTEXT://a:0,EXTERNAL://a:0")) == []
