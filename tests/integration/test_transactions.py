"""Transactions of an ordinary client: what is read, what is not, and each record exactly once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from confluent_kafka import (
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    Producer,
    TopicPartition,
)

from ottla.testing.broker import Broker

PATIENCE_S = 30
RECORDS, A_TRANSACTION = 300, 20


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    with Broker({"group.initial.rebalance.delay.ms": 0}) as broker:
        yield broker


def transactional(broker: Broker, name: str) -> Producer:
    producer = Producer(
        {
            "bootstrap.servers": broker.bootstrap,
            "transactional.id": name,
            "linger.ms": 0,
            "log_level": 0,
        }
    )
    producer.init_transactions(PATIENCE_S)
    return producer


def consumer(broker: Broker, group: str, isolation: str = "read_committed") -> Consumer:
    return Consumer(
        {
            "bootstrap.servers": broker.bootstrap,
            "group.id": group,
            "isolation.level": isolation,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "log_level": 0,
        }
    )


def next_records(reader: Consumer, most: int) -> list[Message]:
    """Until there are so many, or the end of the one partition is reached."""
    found: list[Message] = []
    while len(found) < most:
        message = reader.poll(PATIENCE_S)
        assert message is not None, f"after {len(found)} records nothing came"
        error = message.error()
        if error is None:
            found.append(message)
        elif error.code() == KafkaError._PARTITION_EOF:
            break
        else:
            raise KafkaException(error)
    return found


def values(broker: Broker, topic: str, isolation: str = "read_committed") -> list[bytes | None]:
    reader = consumer(broker, f"of-{topic}", isolation)
    reader.assign([TopicPartition(topic, 0, 0)])
    found = [message.value() for message in next_records(reader, 1_000_000)]
    reader.close()
    return found


def test_what_is_committed_is_read_and_what_is_aborted_is_not(broker: Broker) -> None:
    topic = broker.create_topic("committed")
    producer = transactional(broker, "committing")
    for number in range(10):
        producer.begin_transaction()
        for part in range(3):
            producer.produce(topic, b"%d/%d" % (number, part), partition=0)
        if number % 3:
            producer.commit_transaction(PATIENCE_S)
        else:
            producer.flush(PATIENCE_S)  # so that there is something to abort
            producer.abort_transaction(PATIENCE_S)
    whole = [b"%d/%d" % (number, part) for number in range(10) for part in range(3)]
    assert values(broker, topic, "read_uncommitted") == whole
    assert values(broker, topic) == [each for each in whole if int(each[:1]) % 3]


def test_an_open_transaction_hides_itself_and_what_comes_after_it(broker: Broker) -> None:
    topic = broker.create_topic("open")
    slow, quick = transactional(broker, "slow"), transactional(broker, "quick")
    for producer, value in ((slow, b"slow"), (quick, b"quick")):
        producer.begin_transaction()
        producer.produce(topic, value, partition=0)
        producer.flush(PATIENCE_S)
    quick.commit_transaction(PATIENCE_S)
    assert values(broker, topic) == []
    slow.commit_transaction(PATIENCE_S)
    assert values(broker, topic) == [b"slow", b"quick"]


def test_whoever_comes_later_with_the_same_id_fences_the_one_before(broker: Broker) -> None:
    topic = broker.create_topic("fenced")
    zombie = transactional(broker, "fenced")
    zombie.begin_transaction()
    zombie.produce(topic, b"zombie", partition=0)
    zombie.flush(PATIENCE_S)
    successor = transactional(broker, "fenced")
    successor.begin_transaction()
    successor.produce(topic, b"successor", partition=0)
    successor.commit_transaction(PATIENCE_S)
    with pytest.raises(KafkaException) as refusal:
        zombie.commit_transaction(PATIENCE_S)
    assert refusal.value.args[0].code() == KafkaError._FENCED
    assert values(broker, topic) == [b"successor"]


def copy_once(broker: Broker, source: str, target: str, *, aborts_every: int) -> None:
    """Reads, writes and says how far it has read, in transactions of which some are given up."""
    reader, producer = consumer(broker, "copying"), transactional(broker, "copying")
    reader.subscribe([source])
    turn = 0
    while records := next_records(reader, A_TRANSACTION):
        turn += 1
        producer.begin_transaction()
        for record in records:
            producer.produce(target, record.value(), partition=0)
        positions = reader.position(reader.assignment())
        producer.send_offsets_to_transaction(
            positions, reader.consumer_group_metadata(), PATIENCE_S
        )
        if turn % aborts_every:
            producer.commit_transaction(PATIENCE_S)
            continue
        producer.flush(PATIENCE_S)  # what is not sent yet would only be dropped
        producer.abort_transaction(PATIENCE_S)
        for partition in reader.committed(reader.assignment(), PATIENCE_S):
            reader.seek(partition)
    reader.close()


def test_a_loop_that_aborts_now_and_then_copies_each_record_exactly_once(broker: Broker) -> None:
    source, target = broker.create_topic("source"), broker.create_topic("target")
    plain = Producer({"bootstrap.servers": broker.bootstrap, "log_level": 0})
    wanted = [b"%d" % number for number in range(RECORDS)]
    for value in wanted:
        plain.produce(source, value, partition=0)
    assert plain.flush(PATIENCE_S) == 0
    copy_once(broker, source, target, aborts_every=3)
    assert values(broker, target) == wanted
    assert len(values(broker, target, "read_uncommitted")) > RECORDS
    [committed] = consumer(broker, "copying").committed([TopicPartition(source, 0)], PATIENCE_S)
    assert committed.offset == RECORDS
