"""A broker's properties become one checked configuration, or one error with every mistake."""

from __future__ import annotations

import pytest

from ottla.config.broker_config import BrokerConfig
from ottla.config.general_options import BROKER_ID, NODE_ID
from ottla.config.listeners import SecurityProtocol
from ottla.config.log_options import LOG_FLUSH_INTERVAL_MS, LOG_RETENTION_MS, LOG_ROLL_MS
from ottla.config.option import ConfigError
from ottla.config.ottla_options import OTTLA_METADATA_PATH
from ottla.config.replication_options import NUM_REPLICA_ALTER_LOG_DIRS_THREADS
from ottla.config.sasl_options import SASL_JAAS_CONFIG
from ottla.config.security_options import SSL_KEYSTORE_LOCATION
from ottla.config.units import HOUR_MS, LONG_MAX, MINUTE_MS


def load(**properties: str) -> BrokerConfig:
    return BrokerConfig.load({name.replace("_", "."): text for name, text in properties.items()})


def mistakes(properties: dict[str, str]) -> tuple[str, ...]:
    with pytest.raises(ConfigError) as caught:
        BrokerConfig.load(properties)
    return caught.value.mistakes


def test_without_properties_everything_has_its_default() -> None:
    config = BrokerConfig.load({})
    assert [str(endpoint) for endpoint in config.listeners] == ["PLAINTEXT://:9092"]
    assert config.advertised_listeners == config.listeners
    assert config.inter_broker_protocol is SecurityProtocol.PLAINTEXT
    assert config.log_dirs == ("/tmp/kafka-logs",)
    assert config.warnings == ()


def test_the_finest_unit_of_retention_counts() -> None:
    assert load()[LOG_RETENTION_MS] == 168 * HOUR_MS
    assert load(log_retention_hours="2")[LOG_RETENTION_MS] == 2 * HOUR_MS
    assert load(log_retention_hours="2", log_retention_minutes="3")[LOG_RETENTION_MS] == (
        3 * MINUTE_MS
    )
    assert load(log_retention_minutes="3", log_retention_ms="4")[LOG_RETENTION_MS] == 4
    assert load(log_retention_hours="-1")[LOG_RETENTION_MS] == -1
    assert load(log_roll_hours="1")[LOG_ROLL_MS] == HOUR_MS
    assert load()[LOG_FLUSH_INTERVAL_MS] == LONG_MAX


def test_defaults_follow_the_log_directories() -> None:
    config = load(log_dirs="/a, /b")
    assert config.log_dirs == ("/a", "/b")
    assert config[NUM_REPLICA_ALTER_LOG_DIRS_THREADS] == 2
    assert config[OTTLA_METADATA_PATH] == "/a/ottla-metadata.db"


@pytest.mark.parametrize("name", ["broker.id", "node.id"])
def test_either_name_of_the_brokers_number_sets_both(name: str) -> None:
    config = BrokerConfig.load({name: "7"})
    assert (config[BROKER_ID], config[NODE_ID]) == (7, 7)


def test_all_mistakes_are_told_at_once() -> None:
    found = mistakes({"log.segment.bytes": "3", "num.partitions": "x", "broker.id": "5000"})
    assert [mistake.partition(":")[0] for mistake in found] == [
        "log.segment.bytes",
        "num.partitions",
        "broker.id",
    ]


@pytest.mark.parametrize(
    ("properties", "complaint"),
    [
        ({"broker.id": "-2"}, "broker.id: -2 is not allowed; expected -1 for a new number"),
        ({"broker.id.generation.enable": "false"}, "broker.id: -1 is not allowed; expected 0"),
        ({"broker.id": "1", "node.id": "2"}, "node.id: 2 is not broker.id (1); set one"),
        ({"process.roles": "broker"}, "process.roles: 'broker' is for KRaft clusters"),
        ({"log.dirs": " , "}, "log.dirs: ',' is empty"),
        ({"log.retention.minutes": "0"}, "log.retention.minutes: '0' is not allowed"),
        ({"log.roll.ms": "0"}, "log.roll.ms: '0' is not allowed; expected at least 1"),
        ({"log.cleaner.threads": "128"}, "log.cleaner.dedupe.buffer.size: 134217728 is not"),
        ({"log.message.format.version": "4.0"}, "log.message.format.version: '4.0' is not"),
        ({"inter.broker.protocol.version": "0.10.2"}, "3.0-IV1 is newer than"),
        ({"replica.socket.timeout.ms": "499"}, "replica.fetch.wait.max.ms: 500 is not allowed"),
        ({"offsets.commit.required.acks": "4"}, "offsets.commit.required.acks: 4 is not allowed"),
        ({"offsets.commit.required.acks": "-2"}, "offsets.commit.required.acks: -2 is not"),
        ({"queued.max.request.bytes": "5"}, "socket.request.max.bytes: 104857600 is not allowed"),
        ({"max.connections.per.ip": "0"}, "max.connections.per.ip: 0 lets nobody in"),
        ({"connections.max.idle.ms": "50"}, "connection.failed.authentication.delay.ms: 100 is"),
        ({"group.coordinator.rebalance.protocols": "consumer"}, "classic is missing"),
        ({"listeners": ""}, "listeners: '' is empty"),
        ({"listeners": "PLAINTEXT://:1,SSL://:1"}, "share port 1"),
        ({"listeners": "OUTER://:1"}, "no security protocol for OUTER"),
        ({"listeners": "SSL://:1"}, "security.inter.broker.protocol: PLAINTEXT is not an adv"),
        ({"advertised.listeners": "PLAINTEXT://0.0.0.0:1"}, "nobody can connect to"),
        ({"advertised.listeners": "PLAINTEXT://a:1,SSL://a:2"}, "SSL://a:2 is not among listeners"),
        ({"control.plane.listener.name": "INNER"}, "INNER is not among PLAINTEXT"),
        ({"control.plane.listener.name": "PLAINTEXT"}, "PLAINTEXT is the listener between brokers"),
        ({"inter.broker.listener.name": "INNER"}, "inter.broker.listener.name: INNER is not an"),
        (
            {
                "inter.broker.listener.name": "PLAINTEXT",
                "security.inter.broker.protocol": "PLAINTEXT",
            },
            "are both set (PLAINTEXT, PLAINTEXT); set one",
        ),
        (
            {
                "listeners": "SASL_SSL://:1",
                "security.inter.broker.protocol": "SASL_SSL",
                "sasl.enabled.mechanisms": "PLAIN",
            },
            "GSSAPI is not among sasl.enabled.mechanisms (PLAIN)",
        ),
        ({"listener.name.outer.max.connections": "x"}, "listener.name.outer.max.connections: 'x'"),
    ],
)
def test_what_does_not_go_together_is_refused(properties: dict[str, str], complaint: str) -> None:
    (mistake,) = mistakes(properties)
    assert complaint in mistake


def test_advertised_listeners_may_be_fewer() -> None:
    config = load(
        listeners="PLAINTEXT://:1,SSL://:2", advertised_listeners="PLAINTEXT://example.org:3"
    )
    assert [str(endpoint) for endpoint in config.advertised_listeners] == [
        "PLAINTEXT://example.org:3"
    ]


def test_an_unknown_name_is_warned_of_with_the_nearest_known() -> None:
    config = load(log_segment_byte="5", rsm_config_bucket="b", quite_another="x")
    assert config.warnings == (
        "log.segment.byte is not an option; did you mean log.segment.bytes?",
        "quite.another is not an option",
    )


def test_a_listener_and_its_mechanism_have_options_of_their_own() -> None:
    config = BrokerConfig.load(
        {
            "ssl.keystore.location": "everyones",
            "listener.name.outer.ssl.keystore.location": "outers",
            "listener.name.outer.plain.sasl.jaas.config": "plain's",
            "listener.name.outer.sasl.jaas.config": "outer's",
        }
    )
    assert config.warnings == ()
    assert config[SSL_KEYSTORE_LOCATION] == "everyones"
    assert config.of_listener("OUTER")[SSL_KEYSTORE_LOCATION] == "outers"
    assert config.of_listener("INNER")[SSL_KEYSTORE_LOCATION] == "everyones"
    of_plain = config.of_listener("OUTER", mechanism="plain")[SASL_JAAS_CONFIG]
    of_scram = config.of_listener("OUTER", mechanism="scram-sha-256")[SASL_JAAS_CONFIG]
    assert of_plain is not None
    assert of_scram is not None
    assert (of_plain.value, of_scram.value) == ("plain's", "outer's")
