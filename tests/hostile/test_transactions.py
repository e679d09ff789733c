"""kill -9 in the middle of transactions: each is whole or absent, and none hangs."""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from confluent_kafka import Consumer, KafkaError, TopicPartition

from ottla.protocol.apis.list_transactions import ListTransactionsRequest, ListTransactionsResponse
from ottla.protocol.errors import ErrorCode
from ottla.storage.config import LogConfig
from ottla.storage.disk import RealDisk
from ottla.storage.log import Log
from ottla.storage.recovery import Found, open_log
from tests.hostile.client import Client, create_topics
from tests.hostile.process import BrokerProcess, until
from tests.hostile.test_sudden_death import expect_sound_logs
from tests.hostile.transactors import Copier, Transactional, Writer
from tests.simulation.committed_view import committed_records
from tests.simulation.seeds import repetitions

ORDERS, COPIES, PARTITIONS = "orders", "copies", 3
TRANSACTIONS = 200
SETTINGS = {
    "group.initial.rebalance.delay.ms": "0",
    "log.segment.bytes": "30000",
    "offsets.topic.num.partitions": "2",
    "transaction.state.log.num.partitions": "3",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
}
UNFINISHED = ["Ongoing", "PrepareCommit", "PrepareAbort"]


@contextmanager
def working(workers: Sequence[Transactional], over: threading.Event) -> Iterator[None]:
    for worker in workers:
        worker.start()
    try:
        yield
    finally:
        over.set()
        for worker in workers:
            worker.join()
    expect_no_fault(workers)


def expect_no_fault(workers: Sequence[Transactional]) -> None:
    faults = [repr(worker.error) for worker in workers if worker.error is not None]
    assert not faults, faults


def until_ended(workers: Sequence[Transactional], count: int) -> None:
    def enough() -> bool:
        expect_no_fault(workers)
        threading.Event().wait(0.001)
        return sum(worker.ended for worker in workers) >= count

    until(enough, what=f"{count} transactions", within_s=180)


def read(broker: BrokerProcess, topic: str) -> list[bytes]:
    """Everything that is committed, as a consumer is given it."""
    consumer = Consumer(
        {
            "bootstrap.servers": broker.bootstrap,
            "group.id": "reader",
            "isolation.level": "read_committed",
            "enable.partition.eof": True,
            "enable.auto.commit": False,
        }
    )
    consumer.assign([TopicPartition(topic, index, 0) for index in range(PARTITIONS)])
    found: list[bytes] = []
    ends = 0
    while ends < PARTITIONS:
        message = consumer.poll(60)
        assert message is not None, f"{topic}: nothing more after {len(found)} records"
        error = message.error()
        if error is None:
            value = message.value()
            assert isinstance(value, bytes)
            found.append(value)
        else:
            assert error.code() == KafkaError._PARTITION_EOF, error
            ends += 1
    consumer.close()
    return found


def expect_whole_or_absent(found: list[bytes], writers: Sequence[Writer]) -> None:
    counts = Counter(value.rpartition(b":")[0] for value in found)
    assert len(found) == len(set(found)), "a record is there twice"
    for writer in writers:
        for label, size in writer.ledger.sizes.items():
            was_committed = writer.ledger.committed[label]
            there = counts.pop(label, 0)
            assert there in (0, size), f"{label!r} is torn: {there} of {size}"
            assert was_committed is None or bool(there) == was_committed, (label, was_committed)
    assert not counts, counts


def until_settled(broker: BrokerProcess, workers: Sequence[Transactional]) -> None:
    """Every transaction of theirs has all its markers."""
    names = [worker.name for worker in workers]
    request = ListTransactionsRequest(state_filters=UNFINISHED, producer_id_filters=[])

    def none_is_left() -> bool:
        with Client(broker.address) as client:
            answer = client.ask(request, 0, ListTransactionsResponse)
        found = [each.transactional_id for each in answer.transaction_states]
        return not answer.error_code and not any(name in found for name in names)

    until(none_is_left, what="the end of every transaction")


def logs_of(broker: BrokerProcess, topic: str) -> Iterator[Log]:
    """Of a broker that has stopped."""
    config = LogConfig(segment_bytes=int(SETTINGS["log.segment.bytes"]))
    for folder in sorted(broker.data.glob(f"{topic}-*")):
        log = open_log(RealDisk(), str(folder), config, Found(was_clean=True), now_ms=0)
        log.advance_high_watermark(log.next_offset)
        yield log


def expect_nothing_hangs(broker: BrokerProcess) -> None:
    for topic in (ORDERS, COPIES, "__consumer_offsets"):
        for log in logs_of(broker, topic):
            assert log.last_stable_offset == log.next_offset, log.folder


def on_disk(broker: BrokerProcess, topic: str) -> list[bytes]:
    """What is committed by the log's own words."""
    values = [
        record.value
        for log in logs_of(broker, topic)
        for record in committed_records(log, 0, max_bytes=20_000)
    ]
    return [value for value in values if value is not None]


def test_transactions_that_kill_9_cuts_through_are_whole_or_absent(tmp_path: Path) -> None:
    chance = random.Random(9)
    with BrokerProcess(tmp_path / "broker", settings=SETTINGS) as broker:
        broker.keep_port()
        with Client(broker.address) as client:
            created = create_topics(client, [ORDERS, COPIES], partitions=PARTITIONS)
            assert created == [ErrorCode.NONE] * 2
        no_more_writing, no_more_copying = threading.Event(), threading.Event()
        writers = [
            Writer(broker.bootstrap, f"writer-{number}", no_more_writing, topic=ORDERS,
                   partitions=PARTITIONS)
            for number in range(4)
        ]  # fmt: skip
        copiers = [
            Copier(broker.bootstrap, f"copier-{number}", no_more_copying, source=ORDERS,
                   target=COPIES)
            for number in range(2)
        ]  # fmt: skip
        with working(copiers, no_more_copying):
            with working(writers, no_more_writing):
                for number in range(repetitions(2, soak=20)):
                    before = number * TRANSACTIONS
                    until_ended(writers, before + chance.randint(20, TRANSACTIONS - 20))
                    broker.kill()
                    broker.start()
                    until_ended(writers, before + TRANSACTIONS)
            until_settled(broker, writers)
            orders = read(broker, ORDERS)

            def are_copied() -> bool:
                expect_no_fault(copiers)
                return len(read(broker, COPIES)) >= len(orders)

            until(are_copied, what="a copy of every order", within_s=120)
        until_settled(broker, copiers)
        expect_whole_or_absent(orders, writers)
        copies = read(broker, COPIES)
        assert sorted(copies) == sorted(orders)
        broker.expect_no_bug()
        assert broker.terminate() == 0
        expect_sound_logs(broker)
        expect_nothing_hangs(broker)
        assert sorted(on_disk(broker, ORDERS)) == sorted(orders)
        assert sorted(on_disk(broker, COPIES)) == sorted(copies)
