"""Quotas on a broker of our own: set by the command, felt by librdkafka, and shown."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any
from urllib.request import urlopen

import pytest
from confluent_kafka import Consumer, Producer, ThrottleEvent, TopicPartition
from typer.testing import CliRunner

from ottla.cli.app import app

_PATIENCE_S = 60


@pytest.fixture(scope="module")
def broker() -> Iterator[dict[str, str]]:
    command = [sys.executable, "-m", "ottla", "up", "--ephemeral", "--port", "0", "--json"]
    command += ["--set", "quota.window.num=3"]  # so that nobody rests for long
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as broker:
        try:
            assert broker.stdout is not None
            yield json.loads(broker.stdout.readline())
        finally:
            broker.terminate()
            broker.wait(_PATIENCE_S)


def run(broker: dict[str, str], *arguments: str, code: int = 0) -> str:
    environment = {"OTTLA_BOOTSTRAP": broker["bootstrap"]}
    result = CliRunner().invoke(app, ["quotas", *arguments], env=environment, prog_name="ottla")
    assert result.exit_code == code, result.output
    return result.stdout if code == 0 else result.stderr


def told(broker: dict[str, str], *arguments: str) -> Any:
    return json.loads(run(broker, *arguments, "--json"))


def test_quotas_are_set_listed_and_removed(broker: dict[str, str]) -> None:
    assert "No quotas are set" in run(broker, "list")
    run(broker, "set", "producer_byte_rate=1e9", "request_percentage=250", "--user", "alice")
    run(broker, "set", "producer_byte_rate=2e9", "--default-user", "--client-id", "reader")
    run(broker, "set", "connection_creation_rate=7000", "--default-ip")
    found = [(each["user"], each["key"], each["value"]) for each in told(broker, "list")]
    assert found == [
        ("<default>", "producer_byte_rate", 2e9),
        ("alice", "producer_byte_rate", 1e9),
        ("alice", "request_percentage", 250.0),
        (None, "connection_creation_rate", 7000.0),
    ]
    table = run(broker, "list").splitlines()
    assert table[0].split() == ["user", "client", "id", "ip", "value", "quota"]
    assert table[2].split() == ["alice", "-", "-", "1e+09", "producer_byte_rate"]
    (held,) = told(broker, "list", "--user", "bob", "--client-id", "reader")
    assert (held["user"], held["client_id"]) == ("<default>", "reader")
    run(broker, "remove", "--user", "alice")
    run(broker, "remove", "producer_byte_rate", "--default-user", "--client-id", "reader")
    run(broker, "remove", "--default-ip")
    assert told(broker, "list") == []


def test_what_cannot_be_is_told(broker: dict[str, str]) -> None:
    assert "no quota" in run(broker, "set", "nonsense=1", "--user", "a", code=2)
    assert "KEY=NUMBER" in run(broker, "set", "producer_byte_rate=x", "--user", "a", code=2)
    assert "say whose" in run(broker, "set", "producer_byte_rate=1", code=2)
    assert "not both" in run(broker, "remove", "--user", "a", "--default-user", code=2)
    assert "of its own" in run(broker, "list", "--user", "a", "--ip", "::1", code=2)
    assert "whole number" in run(broker, "set", "producer_byte_rate=1.5", "--user", "a", code=1)
    run(broker, "set", "producer_byte_rate=1", "--user", "a", "--validate-only")
    assert told(broker, "list") == []


def test_a_producer_over_its_quota_hears_how_long_it_has_to_rest(broker: dict[str, str]) -> None:
    run(broker, "set", "producer_byte_rate=100000", "--client-id", "fast")
    events: list[ThrottleEvent] = []
    producer = Producer(
        {
            "bootstrap.servers": broker["bootstrap"],
            "client.id": "fast",
            "throttle_cb": events.append,
            "linger.ms": 0,
        }
    )
    for _ in range(3):
        producer.produce("throttled", bytes(110_000))
        assert producer.flush(_PATIENCE_S) == 0
    producer.poll(0)
    assert events
    assert all(event.throttle_time > 0 for event in events)
    (held,) = told(broker, "list", "--url", broker["http"])
    (use,) = held["use"]
    assert use["throttled_count"] >= 1
    assert use["throttled_ms"] > 0
    assert use["entity"] == {"client-id": "fast"}
    assert "rested ms" in run(broker, "list", "--url", broker["http"])
    with urlopen(f"{broker['http']}/metrics") as answer:
        text = answer.read().decode()
    assert 'kafka_server_Produce_byte_rate{client_id="fast",user=""}' in text
    assert 'kafka_server_Produce_throttle_time{client_id="fast",user=""}' in text
    assert "kafka_server_socket_server_metrics_broker_connection_accept_rate" in text
    run(broker, "remove", "--client-id", "fast")


def test_a_consumer_over_its_quota_reads_everything_all_the_same(broker: dict[str, str]) -> None:
    producer = Producer({"bootstrap.servers": broker["bootstrap"], "client.id": "writer"})
    for number in range(20):
        producer.produce("slow", b"%06d" % number + bytes(20_000))
        # A batch each: one that is larger than two seconds' worth would never be read.
        assert producer.flush(_PATIENCE_S) == 0
    run(broker, "set", "consumer_byte_rate=100000", "--client-id", "slow")
    events: list[ThrottleEvent] = []
    settings: dict[str, Any] = {
        "bootstrap.servers": broker["bootstrap"],
        "client.id": "slow",
        "group.id": "none",
        "throttle_cb": events.append,
        "auto.offset.reset": "earliest",
        "enable.auto.commit": False,
        "fetch.message.max.bytes": 50_000,
    }
    consumer = Consumer(settings)
    try:
        consumer.assign([TopicPartition("slow", 0, 0)])
        read = [consumer.poll(_PATIENCE_S) for _ in range(20)]
    finally:
        consumer.close()
    assert [int((each.value() or b"")[:6]) for each in read if each] == list(range(20))
    assert events
    run(broker, "remove", "--client-id", "slow")
