"""kill -9 under load, again and again: what was acknowledged is there, and nothing twice."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from confluent_kafka import KafkaError as ConfluentError
from confluent_kafka import Message as ConfluentMessage
from confluent_kafka import Producer as ConfluentProducer

from ottla.protocol.errors import ErrorCode
from tests.hostile.client import Client, create_topics, read_all
from tests.hostile.process import ROOT, BrokerProcess, until
from tests.hostile.producers import Idempotent, Pipelining, Producer, expect_all
from tests.simulation.seeds import repetitions

_TOPICS = ["one", "all", "idempotent", "librdkafka"]
_CONFLUENT = {"enable.idempotence": True, "linger.ms": 1, "delivery.timeout.ms": 120_000}


class Confluent(Producer):
    """librdkafka's own retries, through the crash."""

    def __init__(self, bootstrap: str, topic: str, over: threading.Event) -> None:
        super().__init__(lambda: Client(("", 0)), topic, over)
        self._producer = ConfluentProducer({"bootstrap.servers": bootstrap, **_CONFLUENT})

    def run(self) -> None:
        while not self._over.is_set():
            value = self.value()
            self._producer.produce(self.topic, value, on_delivery=self._delivered)
            self._producer.poll(0)
            if len(self._producer) > 500:
                self._producer.poll(0.1)
        assert self._producer.flush(60) == 0

    def _delivered(self, error: ConfluentError | None, message: ConfluentMessage) -> None:
        if error is not None:
            self.error = AssertionError(str(error))
            return
        offset, value = message.offset(), message.value()
        assert offset is not None
        assert isinstance(value, bytes)
        self.acknowledged[offset] = value


@contextmanager
def producing(broker: BrokerProcess) -> Iterator[list[Producer]]:
    over = threading.Event()
    address = broker.address

    def connect() -> Client:
        return Client(address)

    producers = [
        Pipelining(connect, "one", over, acks=1),
        Pipelining(connect, "all", over, acks=-1),
        Idempotent(connect, "idempotent", over),
        Confluent(broker.bootstrap, "librdkafka", over),
    ]
    for producer in producers:
        producer.start()
    try:
        yield producers
    finally:
        over.set()
        for producer in producers:
            producer.join()


def expect_sound_logs(broker: BrokerProcess) -> None:
    """Of a broker that does not run."""
    command = [sys.executable, "-m", "ottla", "log", "verify", str(broker.data)]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr


def until_more(producers: list[Producer], count: int) -> None:
    goals = [len(producer.acknowledged) + count for producer in producers]

    def all_have() -> bool:
        faults = [producer.error for producer in producers if producer.error is not None]
        assert not faults, repr(faults)
        threading.Event().wait(0.005)
        pairs = zip(producers, goals, strict=True)
        return all(len(producer.acknowledged) >= goal for producer, goal in pairs)

    until(all_have, what=f"{count} more acknowledged of each")


def test_what_was_acknowledged_survives_kill_9(tmp_path: Path) -> None:
    chance = random.Random(9)
    broker = BrokerProcess(tmp_path / "broker", settings={"log.segment.bytes": "1000000"})
    with broker:
        broker.keep_port()
        with Client(broker.address) as client:
            assert create_topics(client, _TOPICS) == [ErrorCode.NONE] * len(_TOPICS)
        with producing(broker) as producers:
            for _ in range(repetitions(3, soak=20)):
                until_more(producers, chance.randint(20, 300))
                broker.kill()
                broker.start()
            until_more(producers, 20)
        with Client(broker.address) as client:
            for producer in producers:
                expect_all(read_all(client, producer.topic), producer)
        broker.expect_no_bug()
        broker.terminate()
        expect_sound_logs(broker)


def test_a_stop_under_load_loses_nothing_and_leaves_nothing_to_recover(tmp_path: Path) -> None:
    with BrokerProcess(tmp_path / "broker") as broker:
        broker.keep_port()
        with Client(broker.address) as client:
            create_topics(client, _TOPICS)
        with producing(broker) as producers:
            until_more(producers, 50)
            broker.signal(signal.SIGTERM)
            broker.signal(signal.SIGTERM)
            assert broker.wait() == 0
            assert (broker.data / ".kafka_cleanshutdown").exists()
            broker.start()
            until_more(producers, 20)
        with Client(broker.address) as client:
            for producer in producers:
                expect_all(read_all(client, producer.topic), producer)
        broker.expect_no_bug()
