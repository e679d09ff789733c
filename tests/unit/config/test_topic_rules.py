"""A topic's options: known, allowed, and in keeping with each other and the broker."""

from __future__ import annotations

import pytest

from ottla.config.broker_config import BrokerConfig
from ottla.config.option import Config
from ottla.config.refusal import INVALID_CONFIG, ConfigRefused
from ottla.config.topic import CLEANUP_POLICY, MIN_INSYNC_REPLICAS, RETENTION_MS, SEGMENT_MS
from ottla.config.topic_rules import check_topic_properties, timestamp_limits_ms
from ottla.config.units import LONG_MAX

DIFFERENCE = "message.timestamp.difference.max.ms"
BEFORE = "message.timestamp.before.max.ms"


def check(properties: dict[str, str | None], **broker: str) -> Config:
    settings = {name.replace("_", "."): text for name, text in broker.items()}
    return check_topic_properties(properties, BrokerConfig.load(settings))


def test_a_topics_own_value_outweighs_the_brokers() -> None:
    config = check({"retention.ms": "5"}, log_retention_hours="1", min_insync_replicas="2")
    assert (config[RETENTION_MS], config[MIN_INSYNC_REPLICAS]) == (5, 2)
    assert config.is_set(RETENTION_MS)
    assert not config.is_set(MIN_INSYNC_REPLICAS)


def test_a_brokers_unit_is_converted() -> None:
    config = check({}, log_retention_minutes="2", log_roll_hours="3")
    assert (config[RETENTION_MS], config[SEGMENT_MS]) == (120_000, 3 * 3_600_000)


def test_every_negative_retention_is_for_ever() -> None:
    assert check({}, log_retention_ms="-7")[RETENTION_MS] == -1


def test_a_policy_may_be_both_or_none() -> None:
    assert check({"cleanup.policy": "compact, delete"})[CLEANUP_POLICY] == ("compact", "delete")
    assert check({"cleanup.policy": ""})[CLEANUP_POLICY] == ()


@pytest.mark.parametrize(
    ("properties", "reason"),
    [
        ({"no.such": "1"}, "no.such is not an option of topics"),
        ({"log.segment.bytes": "1"}, "did you mean segment.bytes?"),
        ({"retention.m": "1"}, "did you mean retention.ms?"),
        ({"retention.ms": None}, "no value given for retention.ms"),
        ({"retention.ms": "-2"}, "retention.ms: '-2' is not allowed; expected at least -1"),
        ({"segment.bytes": "13"}, "expected at least 14"),
        ({"min.insync.replicas": "0"}, "expected at least 1"),
        ({"cleanup.policy": "shred"}, "expected one of compact, delete"),
        ({"compression.type": "none"}, "expected one of uncompressed, zstd"),
        ({"compression.gzip.level": "0"}, "expected 1 to 9, or -1"),
        ({"message.timestamp.type": "createtime"}, "expected one of CreateTime, LogAppendTime"),
        ({"message.format.version": "0.7"}, "expected a version of Kafka's"),
        ({"leader.replication.throttled.replicas": "0:x"}, "expected *, or partition:broker"),
        ({"leader.replication.throttled.replicas": "none"}, "expected *, or partition:broker"),
        (
            {"min.compaction.lag.ms": "10", "max.compaction.lag.ms": "5"},
            "min.compaction.lag.ms: 10 is not allowed; expected at most max.compaction.lag.ms (5)",
        ),
        ({"remote.storage.enable": "true"}, "remote.log.storage.system.enable is false"),
        ({"remote.log.copy.disable": "true"}, "allowed in KRaft clusters only"),
    ],
)
def test_what_is_refused(properties: dict[str, str | None], reason: str) -> None:
    with pytest.raises(ConfigRefused) as caught:
        check(properties)
    assert reason in caught.value.reason
    assert caught.value.code == INVALID_CONFIG


@pytest.mark.parametrize("replicas", ["*", "", "0:1", "0:1, 2:3"])
def test_throttled_replicas_are_pairs_or_all(replicas: str) -> None:
    check({"follower.replication.throttled.replicas": replicas})


@pytest.mark.parametrize(
    ("properties", "limits"),
    [
        ({}, (LONG_MAX, LONG_MAX)),
        ({DIFFERENCE: "5"}, (5, 5)),
        ({DIFFERENCE: "5", BEFORE: "3"}, (3, 5)),
    ],
)
def test_the_old_timestamp_limit_counts_where_the_new_is_open(
    properties: dict[str, str | None], limits: tuple[int, int]
) -> None:
    assert timestamp_limits_ms(check(properties)) == limits
