"""What the store says outweighs the file; what clients ask is judged first."""

from __future__ import annotations

import pytest

from ottla.config.alterations import Alteration, Operation
from ottla.config.broker_config import BrokerConfig
from ottla.config.log_options import LOG_SEGMENT_BYTES, MESSAGE_MAX_BYTES
from ottla.config.network_options import NUM_IO_THREADS
from ottla.config.overrides import BrokerChanged, Changed, Overrides, TopicChanged
from ottla.config.refusal import INVALID_CONFIG, INVALID_REQUEST, ConfigRefused
from ottla.config.throttle_options import LEADER_REPLICATION_THROTTLED_RATE
from ottla.config.topic import MAX_MESSAGE_BYTES, SEGMENT_BYTES
from ottla.config.units import LONG_MAX


@pytest.fixture
def overrides() -> Overrides:
    return Overrides(BrokerConfig.load({"log.segment.bytes": "1000"}))


def setting(name: str, value: str) -> list[Alteration]:
    return [Alteration(name, Operation.SET, value)]


def test_each_layer_outweighs_the_one_below(overrides: Overrides) -> None:
    seen = [overrides.broker[LOG_SEGMENT_BYTES]]
    overrides.set_all_brokers({"log.segment.bytes": "2000"})
    seen.append(overrides.broker[LOG_SEGMENT_BYTES])
    overrides.set_this_broker({"log.segment.bytes": "3000"})
    seen.append(overrides.topic("orders")[SEGMENT_BYTES])
    overrides.set_topic("orders", {"segment.bytes": "4000"})
    seen.append(overrides.topic("orders")[SEGMENT_BYTES])
    assert seen == [1000, 2000, 3000, 4000]
    overrides.set_topic("orders", {})
    overrides.set_this_broker({})
    assert overrides.topic("orders")[SEGMENT_BYTES] == 2000


def test_a_topics_own_options_stay_while_the_brokers_change(overrides: Overrides) -> None:
    overrides.set_topic("orders", {"segment.bytes": "4000"})
    overrides.set_all_brokers({"log.segment.bytes": "2000", "message.max.bytes": "500"})
    config = overrides.topic("orders")
    assert (config[SEGMENT_BYTES], config[MAX_MESSAGE_BYTES]) == (4000, 500)


def test_topics_without_options_share_one_config(overrides: Overrides) -> None:
    assert overrides.topic("one") is overrides.topic("other")


def test_throttles_exist_only_while_it_runs(overrides: Overrides) -> None:
    assert overrides.broker[LEADER_REPLICATION_THROTTLED_RATE] == LONG_MAX
    overrides.set_this_broker({"leader.replication.throttled.rate": "5"})
    assert overrides.broker[LEADER_REPLICATION_THROTTLED_RATE] == 5


def test_whoever_wants_hears_of_changes(overrides: Overrides) -> None:
    heard: list[Changed] = []
    overrides.on_change(heard.append)
    before = overrides.broker
    overrides.set_all_brokers({"message.max.bytes": "500"})
    overrides.set_topic("orders", {"segment.bytes": "4000"})
    assert heard == [
        BrokerChanged(before, overrides.broker),
        TopicChanged("orders", overrides.topic("orders")),
    ]


def test_stored_options_that_may_not_be_are_ignored_but_not_erased(
    overrides: Overrides, caplog: pytest.LogCaptureFixture
) -> None:
    stored = {"num.partitions": "9", "message.max.bytes": "x", "log.segment.bytes": "2000"}
    overrides.set_this_broker(stored)
    assert overrides.broker[LOG_SEGMENT_BYTES] == 2000
    assert overrides.broker[MESSAGE_MAX_BYTES] == 1_048_588
    assert [record.levelname for record in caplog.records] == ["WARNING", "WARNING"]
    repair = [
        Alteration("num.partitions", Operation.DELETE),
        Alteration("message.max.bytes", Operation.SET, "7"),
    ]
    assert overrides.alter_this_broker(repair) == {
        "log.segment.bytes": "2000",
        "message.max.bytes": "7",
    }


def test_a_stored_secret_stays_what_it_is(overrides: Overrides) -> None:
    stored = {"listener.name.outer.ssl.key.password": "encrypted"}
    overrides.set_this_broker(stored)
    assert overrides.alter_this_broker(setting("num.io.threads", "9")) == stored | {
        "num.io.threads": "9"
    }


def test_stored_options_that_do_not_go_together_change_nothing(
    overrides: Overrides, caplog: pytest.LogCaptureFixture
) -> None:
    before = overrides.broker
    overrides.set_all_brokers({"log.cleaner.dedupe.buffer.size": "5"})
    assert overrides.broker is before
    assert "do not go together" in caplog.text


def test_a_stored_topic_option_that_is_not_allowed_is_ignored(
    overrides: Overrides, caplog: pytest.LogCaptureFixture
) -> None:
    overrides.set_topic("orders", {"segment.bytes": "1", "max.message.bytes": "9"})
    config = overrides.topic("orders")
    assert (config[SEGMENT_BYTES], config[MAX_MESSAGE_BYTES]) == (1000, 9)
    assert "topic orders: a stored option is ignored: segment.bytes: '1'" in caplog.text


def test_an_accepted_change_is_what_to_write(overrides: Overrides) -> None:
    overrides.set_topic("orders", {"segment.bytes": "4000"})
    assert overrides.alter_topic("orders", setting("retention.ms", "5")) == {
        "segment.bytes": "4000",
        "retention.ms": "5",
    }
    assert overrides.replace_topic([("retention.ms", "5")]) == {"retention.ms": "5"}
    assert overrides.topic("orders")[SEGMENT_BYTES] == 4000, "only the store changes anything"


def test_a_change_starts_from_what_the_store_has_now(overrides: Overrides) -> None:
    overrides.set_topic("orders", {"segment.bytes": "4000"})
    newer = {"flush.ms": "9"}
    change = setting("retention.ms", "5")
    assert overrides.alter_topic("orders", change, newer) == newer | {"retention.ms": "5"}
    threads = setting("num.io.threads", "9")
    for ask in (overrides.alter_all_brokers, overrides.alter_this_broker):
        assert ask(threads, {"log.flush.interval.ms": "7"}) == {
            "log.flush.interval.ms": "7",
            "num.io.threads": "9",
        }


def test_a_refused_topic_change_is_an_invalid_config(overrides: Overrides) -> None:
    with pytest.raises(ConfigRefused, match=r"segment\.bytes") as caught:
        overrides.alter_topic("orders", setting("segment.bytes", "1"))
    assert caught.value.code == INVALID_CONFIG


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("num.partitions", "2", "cannot be changed while the broker runs: num.partitions"),
        ("log.retention.hours", "2", "cannot be changed while the broker runs"),
        ("ssl.keystore.location", "/x", "for one listener only"),
        ("log.segment.bytes", "x", "log.segment.bytes: 'x' is not allowed"),
        ("log.segment.bytes", "3", "expected at least 14"),
        ("leader.replication.throttled.rate", "-1", "expected at least 0"),
        ("listener.name.plaintext.max.connections", "x", "max.connections: 'x' is not allowed"),
        ("log.cleaner.dedupe.buffer.size", "5", "expected more than 1 MiB"),
        ("num.io.threads", "17", "num.io.threads: 17 is not allowed; from 8 it can go to 4 to 16"),
        ("num.io.threads", "3", "num.io.threads: 3 is not allowed"),
        ("num.replica.fetchers", "0", "from 1 it can go to 1 to 2"),
        ("log.cleaner.threads", "3", "from 1 it can go to 1 to 2"),
        ("background.threads", "4", "from 10 it can go to 5 to 20"),
    ],
)
def test_a_refused_broker_change_is_an_invalid_request(
    overrides: Overrides, name: str, value: str, reason: str
) -> None:
    for ask in (overrides.alter_all_brokers, overrides.alter_this_broker):
        with pytest.raises(ConfigRefused) as caught:
            ask(setting(name, value))
        assert reason in caught.value.reason
        assert caught.value.code == INVALID_REQUEST


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("listener.name.outer.ssl.keystore.location", "/x"),
        ("sasl.enabled.mechanisms", "PLAIN"),
    ],
)
def test_what_is_one_brokers_cannot_be_every_brokers(
    overrides: Overrides, name: str, value: str
) -> None:
    assert overrides.alter_this_broker(setting(name, value)) == {name: value}
    with pytest.raises(ConfigRefused, match="name the broker") as caught:
        overrides.alter_all_brokers(setting(name, value))
    assert caught.value.code == INVALID_REQUEST


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("listeners", "PLAINTEXT://:1"),
        ("advertised.listeners", "PLAINTEXT://elsewhere:1"),
        ("listener.security.protocol.map", "PLAINTEXT:PLAINTEXT"),
    ],
)
def test_listeners_change_with_a_restart_only(
    overrides: Overrides, name: str, value: str, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(ConfigRefused) as caught:
        overrides.alter_this_broker(setting(name, value))
    assert caught.value.code == INVALID_CONFIG
    assert caught.value.reason == (
        "listeners do not change while the broker runs: set them in server.properties and start "
        f"it again: {name}"
    )
    before = overrides.broker
    overrides.set_this_broker({name: value})
    assert overrides.broker.listeners == before.listeners
    assert overrides.broker.advertised_listeners == before.advertised_listeners
    assert f"the stored option {name} is ignored" in caplog.text
    # What an older release has stored does not stand in the way of other changes.
    assert overrides.alter_this_broker(setting("num.io.threads", "9"))
    assert overrides.alter_this_broker([Alteration(name, Operation.DELETE)]) == {}


def test_names_that_nobody_knows_pass_as_in_kafka(overrides: Overrides) -> None:
    assert overrides.replace_all_brokers([("my.plugin", "1")]) == {"my.plugin": "1"}


def test_a_replacement_unsets_the_rest(overrides: Overrides) -> None:
    overrides.set_this_broker({"log.segment.bytes": "2000"})
    assert overrides.replace_this_broker([("num.io.threads", "9")]) == {"num.io.threads": "9"}


def test_secrets_are_not_stored(overrides: Overrides) -> None:
    with pytest.raises(ConfigRefused, match=r"set them in server\.properties") as caught:
        overrides.alter_this_broker(setting("listener.name.outer.ssl.key.password", "hunter2"))
    assert caught.value.code == INVALID_CONFIG
    assert "hunter2" not in caught.value.reason


def test_threads_step_from_what_runs_now(overrides: Overrides) -> None:
    overrides.set_this_broker({"num.io.threads": "16"})
    assert overrides.alter_this_broker(setting("num.io.threads", "32"))
    assert overrides.broker[NUM_IO_THREADS] == 16
    # What one broker has of its own is not touched by a change for all.
    assert overrides.alter_all_brokers(setting("num.io.threads", "100"))
