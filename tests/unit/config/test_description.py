"""With options in every layer, DescribeConfigs answers what the real Kafka answered."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ottla.config.broker_config import BrokerConfig
from ottla.config.description import ConfigEntry
from ottla.config.overrides import Overrides

LAYERS = json.loads((Path(__file__).parent / "kafka_3_9_1_layers.json").read_text(encoding="utf-8"))
# Kafka forgets the static value of a weaker unit once a stronger one is set; what counts is the
# same, so here it is described as it stands in the file.
INTENDED = {"log.retention.hours": "24"}
OUR_OWN = ("ottla.metadata.path", "ottla.http.host", "ottla.http.port")


@pytest.fixture
def overrides() -> Overrides:
    layers = Overrides(BrokerConfig.load(LAYERS["static"]))
    layers.set_all_brokers(LAYERS["all_brokers"])
    layers.set_this_broker(LAYERS["this_broker"])
    layers.set_topic("recorded", LAYERS["topic"])
    return layers


def facts(entry: ConfigEntry) -> dict[str, Any]:
    return {
        "name": entry.name,
        "value": entry.value,
        "read_only": entry.read_only,
        "source": entry.source,
        "sensitive": entry.is_sensitive,
        "type": entry.type,
        "synonyms": [[one.name, one.value, one.source] for one in entry.synonyms],
    }


def by_name(entries: list[ConfigEntry]) -> dict[str, dict[str, Any]]:
    return {entry.name: facts(entry) for entry in entries if entry.name not in OUR_OWN}


def recorded(what: str) -> dict[str, dict[str, Any]]:
    return {entry["name"]: entry for entry in LAYERS["described"][what]}


def test_this_broker(overrides: Overrides) -> None:
    expected = recorded("this_broker")
    for name, value in INTENDED.items():
        expected[name]["value"] = value
    assert by_name(overrides.describe_this_broker()) == expected


def test_all_brokers(overrides: Overrides) -> None:
    assert by_name(overrides.describe_all_brokers()) == recorded("all_brokers")


def test_a_topic_with_options_of_its_own(overrides: Overrides) -> None:
    assert by_name(overrides.describe_topic("recorded")) == recorded("topic")


def test_a_topic_without(overrides: Overrides) -> None:
    assert by_name(overrides.describe_topic("bare")) == recorded("bare_topic")


def test_only_what_is_wanted_is_described(overrides: Overrides) -> None:
    wanted = ["min.insync.replicas", "no.such.option"]
    for entries in (
        overrides.describe_topic("bare", wanted),
        overrides.describe_this_broker(wanted),
        overrides.describe_all_brokers(wanted),
    ):
        assert [entry.name for entry in entries] == ["min.insync.replicas"]


def test_no_secret_is_told(overrides: Overrides) -> None:
    assert "pw" not in str(overrides.describe_this_broker())


def test_what_nobody_set_is_the_default() -> None:
    layers = Overrides(BrokerConfig.load({"log.segment.bytes": "1000"}))
    described = {entry.name: entry for entry in layers.describe_this_broker()}
    assert described["num.partitions"].is_default
    assert not described["log.segment.bytes"].is_default
    assert described["num.partitions"].documentation
