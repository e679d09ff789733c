"""What nodes mean, and what is said of those that are malformed."""

from __future__ import annotations

from types import MappingProxyType

import pytest

from ottla.store.fields import MalformedNode
from ottla.store.port import StoreError
from ottla.store.registration import BrokerRegistration, Endpoint
from ottla.store.znodes import (
    ClusterId,
    Config,
    ConfigChange,
    ConsumerOffset,
    Controller,
    ControllerEpoch,
    Feature,
    PartitionState,
    ProducerIdBlock,
    ReassignPartitions,
    TopicAssignment,
)

TOPIC_ID = bytes(range(16))


def test_an_assignment_has_the_fields_of_its_version() -> None:
    new = TopicAssignment({0: (1, 2)}, TOPIC_ID, adding={0: (2,)})
    assert new.encode() == (
        b'{"partitions":{"0":[1,2]},"topic_id":"AAECAwQFBgcICQoLDA0ODw",'
        b'"adding_replicas":{"0":[2]},"removing_replicas":{},"version":3}'
    )
    assert TopicAssignment.decode(new.encode(), "/brokers/topics/t") == new
    assert TopicAssignment({0: (1,)}, version=2).encode() == (
        b'{"version":2,"partitions":{"0":[1]},"adding_replicas":{},"removing_replicas":{}}'
    )
    assert TopicAssignment({0: (1,)}, version=1).encode() == b'{"version":1,"partitions":{"0":[1]}}'


@pytest.mark.parametrize("version", [1, 2])
def test_an_old_assignment_is_read(version: int) -> None:
    old = TopicAssignment({1: (3,), 0: (4, 5)}, version=version)
    read = TopicAssignment.decode(old.encode(), "/brokers/topics/t")
    assert read == old
    assert list(read.replicas) == [1, 0]


def test_any_mapping_is_encoded() -> None:
    assert Config(MappingProxyType({"a": "b"})).encode() == b'{"version":1,"config":{"a":"b"}}'


def test_characters_are_escaped_as_kafka_does() -> None:
    config = Config({"k": '\x1f\\u001f"\né\U0001f600'})
    raw = '{"version":1,"config":{"k":"\\u001F\\\\u001f\\"\\né\\uD83D\\uDE00"}}'
    assert config.encode() == raw.encode()
    assert Config.decode(raw.encode(), "/config/topics/t") == config


def test_host_and_port_are_those_of_the_first_plaintext_endpoint() -> None:
    inside, outside = Endpoint("IN", "10.0.0.1", 9093), Endpoint("OUT", "::1", 9092)
    protocols = {"IN": "SASL_SSL", "OUT": "PLAINTEXT"}
    registration = BrokerRegistration((inside, outside), protocols, timestamp_ms=5, rack="a")
    assert registration.encode() == (
        b'{"features":{},"listener_security_protocol_map":{"IN":"SASL_SSL","OUT":"PLAINTEXT"},'
        b'"endpoints":["IN://10.0.0.1:9093","OUT://[::1]:9092"],"rack":"a","jmx_port":-1,'
        b'"port":9092,"host":"::1","version":5,"timestamp":"5"}'
    )
    assert BrokerRegistration.decode(registration.encode(), "/brokers/ids/1") == registration


def test_a_registration_without_features_has_version_4() -> None:
    protocols = {"SSL": "SSL"}
    old = BrokerRegistration((Endpoint("SSL", "h", 1),), protocols, 5, rack="a", version=4)
    assert old.encode() == (
        b'{"listener_security_protocol_map":{"SSL":"SSL"},"endpoints":["SSL://h:1"],"rack":"a",'
        b'"jmx_port":-1,"host":null,"timestamp":"5","port":-1,"version":4}'
    )
    assert BrokerRegistration.decode(old.encode(), "/brokers/ids/1") == old


def test_a_change_of_version_1_names_type_and_name() -> None:
    old = b'{"version":1,"entity_type":"topics","entity_name":"orders"}'
    change = ConfigChange.decode(old, "/config/changes/config_change_0000000000")
    assert change == ConfigChange("topics/orders")
    assert change.encode() == b'{"version":2,"entity_path":"topics/orders"}'


def test_a_controller_of_version_1_has_no_kraft_epoch() -> None:
    old = Controller(1, 5, version=1)
    assert old.encode() == b'{"version":1,"brokerid":1,"timestamp":"5"}'
    assert Controller.decode(old.encode()) == old


def test_old_features_have_lowest_levels() -> None:
    raw = b'{"features":{"f":{"min_version_level":1,"max_version_level":2}},"version":1,"status":0}'
    assert Feature.decode(raw).encode() == raw
    assert not Feature.decode(raw).is_enabled


STATE = "/brokers/topics/t/partitions/0/state"
MALFORMED = [
    (PartitionState.decode, b"{", STATE, "no JSON"),
    (PartitionState.decode, b"\xff", STATE, "no JSON"),
    (PartitionState.decode, b"", STATE, "no JSON"),
    (PartitionState.decode, b"[" * 100_000, STATE, "no JSON"),
    (PartitionState.decode, b"[]", STATE, "list instead of an object"),
    (PartitionState.decode, b"null", STATE, "instead of an object"),
    (PartitionState.decode, b"{}", STATE, 'no "leader"'),
    (PartitionState.decode, b'{"leader":"1"}', STATE, 'str instead of int as "leader"'),
    (PartitionState.decode, b'{"leader":true}', STATE, 'bool instead of int as "leader"'),
    (PartitionState.decode, b'{"leader":1,"leader_epoch":1,"isr":1}', STATE, "int instead of list"),
    (ReassignPartitions.decode, b'{"partitions":[1]}', "/admin/reassign_partitions", "of dict"),
    (Config.decode, b'{"version":2,"config":{}}', "/config/topics/t", "version 2, not 1 to 1"),
    (Config.decode, b'{"version":1,"config":{"a":1}}', "/config/topics/t", "int instead of str"),
    (TopicAssignment.decode, b'{"version":3}', "/brokers/topics/t", 'no "partitions"'),
    (TopicAssignment.decode, b'{"partitions":{"a":[1]}}', "/brokers/topics/t", "than numbers"),
    (
        TopicAssignment.decode,
        b'{"partitions":{},"topic_id":"abc"}',
        "/brokers/topics/t",
        "topic id 'abc'",
    ),
    (
        BrokerRegistration.decode,
        b'{"version":5,"endpoints":["here"]}',
        "/brokers/ids/1",
        "endpoint 'here'",
    ),
    (BrokerRegistration.decode, b'{"version":3}', "/brokers/ids/1", "version 3, not 4 to 5"),
    (ProducerIdBlock.decode, b'{"block_start":"x"}', "/latest_producer_id_block", "no number as"),
    (ClusterId.decode, b'{"id":1}', "/cluster/id", 'int instead of str as "id"'),
    (ControllerEpoch.decode, b"one", "/controller_epoch", "no number"),
    (ConsumerOffset.decode, b"\xff", "/consumers/g/offsets/t/0", "no number"),
]


@pytest.mark.parametrize(("decode", "data", "path", "reason"), MALFORMED)
def test_a_malformed_node_is_named(decode: object, data: bytes, path: str, reason: str) -> None:
    assert callable(decode)
    with pytest.raises(MalformedNode) as caught:
        decode(data, path)
    assert isinstance(caught.value, StoreError)
    assert str(caught.value).startswith(f"{path}: ")
    assert reason in str(caught.value)
    assert len(str(caught.value)) < 500
