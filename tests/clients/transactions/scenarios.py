"""What happens in transactions: each scenario has a stage, and asserts what must come of it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import NamedTuple

import pytest

from tests.clients.client import ClientFailed, Sent
from tests.clients.transactions import coordinator
from tests.clients.transactions import features as f
from tests.clients.transactions.history import COMMITTED, Read
from tests.clients.transactions.judge import UNCOMMITTED
from tests.clients.transactions.stage import Stage
from tests.targets.target import SOAKING

MANY = 20_000 if SOAKING else 3_000
ROUNDS = 10 if SOAKING else 1  # of the loops' misfortunes
SHORT_SESSION_MS = 2_000
SHORT_TIMEOUT_MS = 1_000  # the least that confluent-kafka takes
# It sends the offsets of a transaction when it commits it.
SENDING_OFFSETS_LATE = ("sarama",)
# How clients say it; those before 2.7 hear of an old epoch.
FENCED = ("fenced", "epoch", "error code = 90")


def spread(numbers: Iterable[int], partitions: int) -> dict[int, list[str]]:
    """As a writer sends them."""
    found: dict[int, list[str]] = {}
    for number in numbers:
        found.setdefault(number % partitions, []).append(str(number))
    return found


def values(found: Iterable[Read]) -> dict[int, list[str]]:
    """In their order, which is that of their offsets."""
    by_partition: dict[int, list[str]] = {}
    last: dict[int, int] = {}
    for partition, offset, value in found:
        assert offset > last.get(partition, -1)
        last[partition] = offset
        by_partition.setdefault(partition, []).append(value)
    return by_partition


def expect(stage: Stage, topic: str, partitions: int, numbers: Iterable[int]) -> None:
    """That these and no others are committed, for us and for a reader of the client."""
    wanted = spread(numbers, partitions)
    stage.wait(
        "no transaction is open",
        lambda: coordinator.is_settled(stage.bootstrap, topic, partitions),
    )
    assert values(stage.left(topic, partitions)) == wanted
    reader = stage.reader(topic, partitions)
    count = sum(map(len, wanted.values()))
    stage.wait(f"all {count} are read", lambda: len(stage.seen(reader)) >= count)
    assert values(stage.seen(reader)) == wanted
    stage.close(reader)


def commit_and_abort(stage: Stage, _: Collection[str]) -> None:
    topic = stage.topic(3)
    writer = stage.producer("p")
    writer.begin()
    writer.send(topic, partitions=3, count=30)
    assert stage.left(topic, 3) == []
    assert len(stage.left(topic, 3, isolation=UNCOMMITTED)) == 30
    writer.commit()
    writer.begin()
    writer.send(topic, partitions=3, first=100, count=30)
    writer.abort()
    writer.begin()
    writer.send(topic, partitions=3, first=200, count=30)
    writer.commit()
    expect(stage, topic, 3, [*range(30), *range(200, 230)])
    assert len(stage.left(topic, 3, isolation=UNCOMMITTED)) == 90


def large(stage: Stage, _: Collection[str]) -> None:
    topic = stage.topic(3)
    writer = stage.producer("p")
    for first, end in ((0, writer.commit), (MANY, writer.abort), (2 * MANY, writer.commit)):
        writer.begin()
        writer.send(topic, partitions=3, first=first, count=MANY)
        end()
    expect(stage, topic, 3, [*range(MANY), *range(2 * MANY, 3 * MANY)])


def read_committed(stage: Stage, _: Collection[str]) -> None:
    topic = stage.topic(2)
    reader = stage.reader(topic, 2)
    slow, fast = stage.producer("slow"), stage.producer("fast")
    for first, end in ((0, slow.commit), (100, slow.abort)):
        slow.begin()
        slow.send(topic, first=first, count=5)
        fast.begin()
        fast.send(topic, first=first + 10, count=5)
        fast.commit()
        before = [each for each in stage.seen(reader) if each.partition == 0]
        for probe in (f"{first}, first", f"{first}, second"):
            # What came with the second was asked for when all of the above had happened.
            stage.plain.produce(topic, [Sent(probe.encode(), partition=1)])
            wait_until_seen(stage, reader, probe)
        assert [each for each in stage.seen(reader) if each.partition == 0] == before
        end()
        wait_until_seen(stage, reader, str(first + 14))
    numbers = (*range(5), *range(10, 15), *range(110, 115))
    assert values(stage.seen(reader))[0] == list(map(str, numbers))


def wait_until_seen(stage: Stage, reader: str, value: str) -> None:
    stage.wait(f"{value!r} is read", lambda: value in [each.value for each in stage.seen(reader)])


def fencing(stage: Stage, _: Collection[str]) -> None:
    topic = stage.topic()
    elder = stage.producer("elder")
    elder.begin()
    elder.send(topic, count=5)
    younger = stage.producer("younger", like="elder")
    younger.begin()
    younger.send(topic, first=100, count=5)
    with pytest.raises(ClientFailed) as refusal:
        elder.commit()
    assert any(word in str(refusal.value).lower() for word in FENCED), str(refusal.value)
    younger.commit()
    expect(stage, topic, 1, range(100, 105))


def timeout(stage: Stage, _: Collection[str]) -> None:
    topic = stage.topic()
    slow = stage.producer("slow", timeout_ms=SHORT_TIMEOUT_MS)
    slow.begin()
    slow.send(topic, count=5)
    its_id = stage.full_name("slow")
    stage.wait(
        "it is aborted",
        lambda: coordinator.state(stage.bootstrap, its_id) == coordinator.COMPLETE_ABORT,
    )
    with pytest.raises(ClientFailed):
        slow.commit()
    again = stage.producer("again", like="slow")
    again.begin()
    again.send(topic, first=100, count=5)
    again.commit()
    expect(stage, topic, 1, range(100, 105))


def offsets(stage: Stage, _: Collection[str]) -> None:
    topic = stage.topic()
    writer = stage.producer("p")
    for first, end, offset in ((0, writer.commit, 5), (5, writer.abort, 7)):
        before = stage.committed()
        writer.begin()
        writer.send(topic, first=first, count=5)
        writer.offset(stage.name, topic, offset)
        assert stage.committed() == before
        if stage.client not in SENDING_OFFSETS_LATE:
            assert coordinator.has_pending_offset(stage.bootstrap, stage.name, topic)
        end()
        stage.wait(
            "none is pending",
            lambda: not coordinator.has_pending_offset(stage.bootstrap, stage.name, topic),
        )
        assert stage.committed() == {(topic, 0): 5}
    expect(stage, topic, 1, range(5))


def exactly_once(stage: Stage, abilities: Collection[str]) -> None:
    stage.between(4, 3)
    stage.feed(20)
    stage.loop("a", "b")
    for _round in range(ROUNDS):
        stage.loop("v", is_apart=True, session_ms=SHORT_SESSION_MS)
        held = stage.hang("v", "before")
        stage.stop("v")
        stage.feed(10)
        stage.wait_until_passed_on()  # by the others
        stage.go_on("v")
        assert stage.wait_for_end(held) != COMMITTED
        stage.close("b")
        stage.hang("v", "after")
        stage.kill("v")
        stage.loop("b", "v")  # it comes back with its name, and ends what it had begun
        stage.feed(10)
        stage.wait_until_passed_on()
        stage.close("v")
    stage.feed(10)
    stage.wait_until_passed_on()
    stage.close("a", "b")
    assert stage.check_exactly_once().aborted > 1
    if f.CHAIN in abilities:
        stage.go_further(2)
        stage.loop("c", "d")
        stage.wait_until_passed_on()
        stage.close("c", "d")
        stage.check_exactly_once()


class Scenario(NamedTuple):
    run: Callable[[Stage, Collection[str]], None]  # with what the client can
    proves: tuple[str, ...]  # the first is needed, the others are proved where the client can

    @property
    def name(self) -> str:
        return self.run.__name__


SCENARIOS = (
    Scenario(commit_and_abort, (f.COMMIT, f.ABORT, f.PARTITIONS)),
    Scenario(read_committed, (f.READ_COMMITTED,)),
    Scenario(large, (f.LARGE,)),
    Scenario(fencing, (f.FENCING,)),
    Scenario(timeout, (f.TIMEOUT,)),
    Scenario(offsets, (f.OFFSETS,)),
    Scenario(exactly_once, (f.LOOP, f.STALL, f.CRASH, f.CHAIN, f.GENERATION)),
)
