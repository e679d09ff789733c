"""What cannot be had yet is said at start."""

from __future__ import annotations

import pytest

from ottla.broker.unserved import refuse_unserved, unserved_warnings
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


def test_a_zookeeper_that_is_not_used_is_told_of() -> None:
    config = BrokerConfig.load(PLAIN | {"zookeeper.connect": "localhost:2181"})
    (warning,) = unserved_warnings(config)
    assert "zookeeper.connect" in warning
