"""A test's own broker: real clients use it, meet faults in it, and it never outlives the tests."""

from __future__ import annotations

import asyncio
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest
from confluent_kafka import Consumer, KafkaError, Message, Producer, TopicPartition

from ottla.protocol.errors import KafkaError as Refusal
from ottla.testing.broker import Broker, BrokerFailed

_STARTS_ONE_AND_WAITS = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in a shell's background
import sys
from ottla.testing.broker import Broker
broker = Broker().start()
print(broker.pid, flush=True)
sys.stdin.read()
"""


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    with Broker({"auto.create.topics.enable": False}) as broker:
        yield broker


@pytest.fixture
def topic(broker: Broker, request: pytest.FixtureRequest) -> Iterator[str]:
    yield broker.create_topic(request.node.name)
    broker.calm()


def send(broker: Broker, topic: str, **settings: object) -> Message:
    """One record, and what became of it."""
    reports: list[tuple[KafkaError | None, Message]] = []
    producer = Producer({"bootstrap.servers": broker.bootstrap, **settings})
    producer.produce(topic, b"hello", on_delivery=lambda *report: reports.append(report))
    assert producer.flush(30) == 0
    ((error, message),) = reports
    if error is not None:
        raise AssertionError(error.name())
    return message


def read(broker: Broker, topic: str) -> Message:
    consumer = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": "readers"})
    try:
        consumer.assign([TopicPartition(topic, 0, 0)])
        message = consumer.poll(30)
        assert message is not None
        return message
    finally:
        consumer.close()


def test_what_is_sent_can_be_read(broker: Broker, topic: str) -> None:
    assert send(broker, topic).offset() == 0
    assert read(broker, topic).value() == b"hello"


def test_a_topic_has_the_partitions_and_configs_that_were_asked_for(broker: Broker) -> None:
    broker.create_topic("wide", partitions=5, configs={"max.message.bytes": 100})
    metadata = Producer({"bootstrap.servers": broker.bootstrap}).list_topics("wide", 30)
    assert len(metadata.topics["wide"].partitions) == 5
    with pytest.raises(Refusal, match="max\\.message\\.bytes"):
        broker.create_topic("narrow", configs={"max.message.bytes": "few"})
    with pytest.raises(Refusal, match="TOPIC_ALREADY_EXISTS"):
        broker.create_topic("wide")


def test_a_deleted_topic_goes_and_may_be_deleted_twice(broker: Broker, topic: str) -> None:
    producer = Producer({"bootstrap.servers": broker.bootstrap})
    assert topic in producer.list_topics(timeout=30).topics
    broker.delete_topic(topic)
    broker.delete_topic(topic)
    while topic in producer.list_topics(timeout=30).topics:
        pass  # nobody waited for it to be gone


def test_a_client_tries_again_after_a_passing_error(broker: Broker, topic: str) -> None:
    broker.faults.fail("Produce", "NOT_LEADER_OR_FOLLOWER", count=2)
    assert send(broker, topic, **{"retry.backoff.ms": 1}).offset() == 0
    assert broker.faults.waiting() == {}


def test_a_client_gives_up_at_a_lasting_error(broker: Broker, topic: str) -> None:
    broker.faults.fail("Produce", "TOPIC_AUTHORIZATION_FAILED")
    with pytest.raises(AssertionError, match="TOPIC_AUTHORIZATION_FAILED"):
        send(broker, topic)


def test_a_client_comes_back_after_a_dropped_connection(broker: Broker, topic: str) -> None:
    broker.faults.drop("Produce")
    assert send(broker, topic, **{"retry.backoff.ms": 1, "reconnect.backoff.ms": 0}).offset() == 0
    assert broker.faults.waiting() == {}


def test_a_client_runs_into_its_own_timeout(broker: Broker, topic: str) -> None:
    broker.faults.delay("Produce", 60_000)
    with pytest.raises(AssertionError, match="_MSG_TIMED_OUT"):
        send(broker, topic, **{"message.timeout.ms": 500})


def test_faults_are_forgotten_when_they_are_cleared(broker: Broker, topic: str) -> None:
    broker.faults.drop("Produce", count=1000)
    broker.faults.clear()
    assert send(broker, topic, retries=0).offset() == 0


def test_a_mistaken_fault_is_refused_in_words(broker: Broker) -> None:
    with pytest.raises(ValueError, match="did you mean Produce"):
        broker.faults.drop("produce")
    with pytest.raises(ValueError, match="did you mean NOT_LEADER_OR_FOLLOWER"):
        broker.faults.fail("Produce", "NOT_LEADER")


def test_timestamps_of_the_broker_follow_its_clock(broker: Broker) -> None:
    topic = broker.create_topic("stamped", configs={"message.timestamp.type": "LogAppendTime"})
    broker.skew_clock(-86_400_000_000)
    try:
        _, then = send(broker, topic).timestamp()
    finally:
        broker.calm()
    send(broker, topic)
    assert read(broker, topic).timestamp()[1] == then
    _, now = send(broker, topic).timestamp()
    assert now - then >= 86_400_000_000


def test_it_is_usable_with_async_with() -> None:
    async def use() -> str:
        async with Broker() as broker:
            return broker.create_topic("from-inside-a-loop")

    assert asyncio.run(use()) == "from-inside-a-loop"


def test_a_broker_that_cannot_start_says_why() -> None:
    with pytest.raises(BrokerFailed, match=r"(?s)ended.*num\.partitions.*'many'"):
        Broker({"num.partitions": "many"}).start()


def test_a_broker_that_takes_too_long_is_killed() -> None:
    with pytest.raises(BrokerFailed, match="not ready within 0 s"):
        Broker(start_limit_s=0).start()


def test_a_stopped_broker_is_gone() -> None:
    broker = Broker().start()
    broker.stop()
    with pytest.raises(ProcessLookupError):
        os.kill(int(broker.pid), 0)
    broker.stop()


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT])
def test_a_broker_ends_with_the_process_that_started_it(end: signal.Signals) -> None:
    command = [sys.executable, "-c", _STARTS_ONE_AND_WAITS]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL) as parent:
        assert parent.stdout is not None
        watched = os.pidfd_open(int(parent.stdout.readline()))
        try:
            parent.send_signal(end)
            ended, _, _ = select.select([watched], [], [], 30)
            assert ended, "the broker runs on"
        finally:
            os.close(watched)
