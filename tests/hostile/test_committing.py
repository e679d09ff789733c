"""kill -9 with twenty consumers committing: nothing that they were told is lost."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from confluent_kafka import Consumer, TopicPartition

from ottla.protocol.errors import ErrorCode
from tests.hostile.client import Client, create_topics
from tests.hostile.committers import Acknowledged, Committer
from tests.hostile.process import BrokerProcess, until
from tests.simulation.seeds import repetitions

TOPIC = "orders"
GROUPS = [f"group-{number}" for number in range(5)]
MEMBERS, PARTITIONS = 4, 8
SETTINGS = {"group.initial.rebalance.delay.ms": "0", "offsets.topic.num.partitions": "3"}


@contextmanager
def committing(broker: BrokerProcess, told: Acknowledged) -> Iterator[list[Committer]]:
    over = threading.Event()
    committers = [
        Committer(broker.bootstrap, group, TOPIC, told, over)
        for group in GROUPS
        for _ in range(MEMBERS)
    ]
    for committer in committers:
        committer.start()
    try:
        yield committers
    finally:
        over.set()
        for committer in committers:
            committer.join()


def expect_no_fault(committers: list[Committer]) -> None:
    faults = [repr(committer.error) for committer in committers if committer.error is not None]
    assert not faults, faults


def until_all_commit(committers: list[Committer], told: Acknowledged) -> None:
    """Every partition of every group has an owner that can commit: they are stable again."""
    before = told.copy()

    def all_have() -> bool:
        expect_no_fault(committers)
        threading.Event().wait(0.01)
        now = told.copy()
        places = [(group, index) for group in GROUPS for index in range(PARTITIONS)]
        return all(now.get(place, -1) > before.get(place, -1) for place in places)

    until(all_have, what="a commit of every partition in every group", within_s=120)


def until_more(told: Acknowledged, count: int) -> None:
    goal = told.count + count

    def enough() -> bool:
        threading.Event().wait(0.001)
        return told.count >= goal

    until(enough, what=f"{count} more commits")


def committed(bootstrap: str, group: str) -> dict[int, int]:
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": group})
    wanted = [TopicPartition(TOPIC, index) for index in range(PARTITIONS)]
    found = consumer.committed(wanted, timeout=60)
    consumer.close()
    return {each.partition: each.offset for each in found}


def test_no_acknowledged_commit_of_twenty_consumers_is_lost_by_kill_9(tmp_path: Path) -> None:
    chance = random.Random(9)
    told = Acknowledged()
    with BrokerProcess(tmp_path / "broker", settings=SETTINGS) as broker:
        broker.keep_port()
        with Client(broker.address) as client:
            assert create_topics(client, [TOPIC], partitions=PARTITIONS) == [ErrorCode.NONE]
        with committing(broker, told) as committers:
            for _ in range(repetitions(3, soak=20)):
                until_all_commit(committers, told)
                until_more(told, chance.randint(1, 300))
                broker.kill()
                broker.start()
            until_all_commit(committers, told)
        expect_no_fault(committers)
        broker.expect_no_bug()
        broker.kill()
        broker.start()
        for group in GROUPS:
            found = committed(broker.bootstrap, group)
            lost = {
                place: offset
                for place, offset in told.copy().items()
                if place[0] == group and found[place[1]] < offset
            }
            assert not lost, f"{lost}, but {found}"
        broker.expect_no_bug()
