"""Each client's own administration: topics made, found, changed and deleted."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from tests.clients.client import CONFIGS, PARTITIONS, TOPICS, Sent
from tests.clients.conftest import Clients, make_topic
from tests.clients.roster import able

_TRIES, _PAUSE_S = 100, 0.1


def soon(condition: Callable[[], bool]) -> bool:
    """A client may learn late, from its own cache, what the broker has long done."""
    return any(condition() or threading.Event().wait(_PAUSE_S) for _ in range(_TRIES))


@pytest.mark.parametrize("name", able(TOPICS))
def test_a_topic_is_created_and_deleted(name: str, clients: Clients) -> None:
    client = clients[name]
    topic = f"created-by-{name}"
    client.create_topic(topic, partitions=3, configs={"cleanup.policy": "compact"})
    assert soon(lambda: topic in client.topics())
    assert client.partition_count(topic) == 3
    client.produce(topic, [Sent(b"v", b"k", partition=2)])
    client.delete_topic(topic)
    assert soon(lambda: topic not in client.topics())


@pytest.mark.parametrize("name", able(TOPICS))
def test_a_topic_is_not_created_twice(name: str, clients: Clients) -> None:
    topic = make_topic(clients.bootstrap)
    # Each client has its own kind of refusal; aiokafka gives the bare code.
    with pytest.raises(Exception, match=r"(?i)exist|\b36\b"):
        clients[name].create_topic(topic, partitions=1, configs={})


@pytest.mark.parametrize("name", able(CONFIGS))
def test_a_topic_s_configuration_is_read_and_changed(name: str, clients: Clients) -> None:
    topic = make_topic(clients.bootstrap, configs={"segment.bytes": "2000000"})
    client = clients[name]
    before = client.configs(topic)
    assert before["segment.bytes"] == "2000000"
    assert before["cleanup.policy"] == "delete"
    client.set_config(topic, "max.message.bytes", "123456")
    assert soon(lambda: client.configs(topic)["max.message.bytes"] == "123456")


@pytest.mark.parametrize("name", able(PARTITIONS))
def test_a_topic_grows(name: str, clients: Clients) -> None:
    topic = make_topic(clients.bootstrap, partitions=2)
    client = clients[name]
    client.add_partitions(topic, count=5)
    assert soon(lambda: client.partition_count(topic) == 5)
    offsets = client.produce(topic, [Sent(b"v", b"k", partition=4)])
    assert offsets == [0]
