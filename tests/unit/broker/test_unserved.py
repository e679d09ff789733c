"""What cannot be had yet is said at start."""

from __future__ import annotations

import pytest

from ottla.broker.unserved import refuse_unserved, unserved_warnings
from ottla.config.broker import ALL_BROKER_OPTIONS
from ottla.config.broker_config import BrokerConfig
from ottla.config.option import ConfigError

PLAIN = {"broker.id": "0", "listeners": "PLAINTEXT://127.0.0.1:0", "log.dirs": "data"}


def test_a_plain_broker_is_served_without_a_word() -> None:
    config = BrokerConfig.load(PLAIN)
    refuse_unserved(config)
    assert unserved_warnings(config) == []


def test_security_that_is_not_there_stops_the_start_all_at_once() -> None:
    listeners = "PLAINTEXT://127.0.0.1:0,SSL://127.0.0.1:0"
    asked = {"listeners": listeners, "authorizer.class.name": "kafka.security.AclAuthorizer"}
    with pytest.raises(ConfigError) as refused:
        refuse_unserved(BrokerConfig.load(PLAIN | asked))
    listener, authorizer = refused.value.mistakes
    assert "SSL://127.0.0.1:0" in listener
    assert "AclAuthorizer" in authorizer


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("queued.max.requests", "100"),
        ("num.io.threads", "16"),
        ("num.network.threads", "6"),
        ("num.recovery.threads.per.data.dir", "4"),
        ("background.threads", "4"),
        ("log.cleaner.threads", "2"),
        ("log.cleaner.io.buffer.size", "1000000"),
        ("log.cleaner.io.buffer.load.factor", "0.5"),
        ("alter.log.dirs.replication.quota.window.num", "3"),
        ("alter.log.dirs.replication.quota.window.size.seconds", "3"),
    ],
)
def test_an_option_without_effect_is_told_of_if_it_was_changed(name: str, value: str) -> None:
    (warning,) = unserved_warnings(BrokerConfig.load(PLAIN | {name: value}))
    assert warning.startswith(f"{name} has no effect here: ")
    default = ALL_BROKER_OPTIONS[name].default_text
    assert default is not None
    assert unserved_warnings(BrokerConfig.load(PLAIN | {name: default})) == []


def test_a_listener_of_the_controllers_own_is_told_to_have_no_effect() -> None:
    listeners = {
        "listeners": "PLAINTEXT://127.0.0.1:0,CONTROL://127.0.0.1:0",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROL:PLAINTEXT",
        "control.plane.listener.name": "CONTROL",
    }
    (warning,) = unserved_warnings(BrokerConfig.load(PLAIN | listeners))
    assert warning.startswith("control.plane.listener.name has no effect here: ")


def test_a_zookeeper_that_is_not_used_is_told_of() -> None:
    config = BrokerConfig.load(PLAIN | {"zookeeper.connect": "localhost:2181"})
    (warning,) = unserved_warnings(config)
    assert "zookeeper.connect" in warning
