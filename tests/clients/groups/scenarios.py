"""What happens to groups: each scenario drives one crew and asserts what must have come of it."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import NamedTuple

from tests.clients.client import ClientFailed
from tests.clients.groups import coordinator
from tests.clients.groups import features as f
from tests.clients.groups.crew import Crew
from tests.clients.groups.history import ASSIGNED, FAILED, OVER, WOKEN, Event, Partition
from tests.clients.groups.options import COOPERATIVE, NEVER

SHORT_SESSION_MS = 2_000
# A join of kafka-python 3.0.12 that ends between two polls is forgotten, and it joins once more;
# where that is the leader, all others must join again: beside a real Kafka as well.
JOINS_TWICE = ("kafka-python",)
MIXED_WITH = ("java-3.9", "confluent-kafka", "franz-go", "sarama")  # each speaks for many


def members_come_and_go(crew: Crew, assignor: str) -> None:
    topic = crew.topic()
    crew.produce(topic)
    crew.open("a", assignor=assignor)
    crew.settle("a")
    sizes = ("ab", "abcde", "ac", "a")
    for before, members in zip(("a", *sizes), sizes, strict=False):
        crew.produce(topic)  # while they come and go
        crew.open(*(each for each in members if each not in before), assignor=assignor)
        crew.close(*(each for each in before if each not in members))
        crew.settle(*members)
    crew.wait_until_read()
    crew.wait_until_committed()
    crew.close("a")
    assert coordinator.described(crew.bootstrap, crew.group).state == coordinator.EMPTY
    crew.check()


def eager(crew: Crew, _: Collection[str]) -> None:
    members_come_and_go(crew, "range")


def cooperative(crew: Crew, _: Collection[str]) -> None:
    members_come_and_go(crew, COOPERATIVE)
    assert crew.history.given_up_in_vain(crew.full_name("a")) == []


def static(crew: Crew, _: Collection[str]) -> None:
    topic = crew.topic()
    crew.open("a", instance="first")
    if crew.client in JOINS_TWICE:
        crew.settle("a")  # who is first leads, and is not the one who comes back
    crew.open("b", instance="second")
    owned = crew.settle("a", "b")
    before = len(crew.history.events)
    crew.close("b")
    crew.produce(topic)
    crew.open("b", instance="second")
    crew.wait_until_read()
    assert crew.settle("a", "b") == owned
    disturbed = [
        event
        for event in crew.history.events[before:]
        if event.member == crew.full_name("a") and event.kind in (*OVER, ASSIGNED)
    ]
    assert disturbed == []
    found = coordinator.described(crew.bootstrap, crew.group)
    assert sorted(map(str, found.instances.values())) == ["first", "second"]
    crew.wait_until_committed()
    crew.check()


def fencing(crew: Crew, _: Collection[str]) -> None:
    crew.topic()
    crew.open("elder", instance="one")
    crew.settle("elder")
    crew.open("younger", instance="one")

    def failures() -> list[Event]:
        return crew.history.of(crew.full_name("elder"), FAILED)

    try:
        crew.wait("the elder is fenced", lambda: bool(failures()))
    except ClientFailed:
        if not failures():
            raise
    assert "fenced" in failures()[0].text.lower().replace("_", "")


def stall_and_crash(crew: Crew, _: Collection[str]) -> None:
    topic = crew.topic()
    crew.open("a", session_ms=SHORT_SESSION_MS)
    crew.open_apart("v", session_ms=SHORT_SESSION_MS)
    taken: set[Partition] = set()
    taken |= crew.settle("a", "v")["v"]
    crew.produce(topic)
    crew.stop("v")
    crew.produce(topic)
    crew.settle("a")
    crew.wait_until_read()
    crew.go_on("v")
    taken |= crew.settle("a", "v")["v"]
    crew.produce(topic)
    crew.kill("v")
    crew.produce(topic)
    crew.settle("a")
    crew.wait_until_read()
    crew.wait_until_committed()
    crew.check(twice=taken)


def max_poll(crew: Crew, _: Collection[str]) -> None:
    topic = crew.topic()
    crew.open("a")
    crew.open("s", session_ms=1_000, max_poll_ms=1_500)
    taken = crew.settle("a", "s")["s"]
    crew.stall("s")
    crew.produce(topic)
    crew.settle("a")
    crew.wait_until_read()
    crew.do("s", "go")
    crew.settle("a", "s")
    crew.produce(topic)
    crew.wait_until_read()
    crew.wait_until_committed()
    crew.check(twice=taken)


def regex(crew: Crew, abilities: Collection[str]) -> None:
    prefix = f"{crew.group}.topic"
    topics = [crew.topic(2, name=f"{prefix}-1")]
    crew.elsewhere(f"not-{prefix}")
    if f.NEW_TOPICS not in abilities:
        topics.append(crew.topic(2, name=f"{prefix}-2"))
    pattern = f"^{prefix.replace('.', '[.]')}-.*"
    crew.open("a", "b", pattern=pattern)
    crew.settle("a", "b")
    if f.NEW_TOPICS in abilities:
        topics.append(crew.topic(2, name=f"{prefix}-2"))
    for topic in topics:
        crew.produce(topic)
    crew.settle("a", "b")
    crew.wait_until_read()
    crew.wait_until_committed()
    crew.check()


def commits(crew: Crew, abilities: Collection[str]) -> None:
    topic = crew.topic(3)
    crew.produce(topic, 10)
    crew.open("a", commit=NEVER)
    crew.settle("a")
    crew.wait_until_read()
    assert crew.committed() == {}
    crew.do("a", "commit_sync", topic, 0, 5, "by hand")
    found = coordinator.committed(crew.bootstrap, crew.group)
    assert found == {(topic, 0): coordinator.Committed(5, "by hand")}
    crew.do("a", "commit_sync", topic, 1, 10, "", topic, 2, 7, "")
    expected = {(topic, 0): 5, (topic, 1): 10, (topic, 2): 7}
    assert crew.committed() == expected
    if f.ASYNC in abilities:
        crew.do("a", "commit_async", topic, 0, 8, "later")
        expected[topic, 0] = 8
        crew.wait_until_committed(expected)
        crew.wait("it is told", lambda: crew.history.committed().get((topic, 0)) == 8)
    crew.close("a")
    crew.open("b")
    crew.wait_until_committed()  # and where nothing is left to read, it stays as it was
    again = {(topic, each, offset) for each in range(3) for offset in range(10)}
    assert set(crew.history.read_twice()) == {
        position for position in again if position[2] >= expected[position[:2]]
    }


def standalone(crew: Crew, _: Collection[str]) -> None:
    topic = crew.topic(3)
    crew.produce(topic, 10)
    assigned = [(topic, 0), (topic, 1)]
    assign = f"{topic}:0,{topic}:1"
    crew.open("a", assign=assign, commit=NEVER)
    crew.wait_until_read(assigned)
    crew.do("a", "commit_sync", topic, 0, 6, "alone")
    found = coordinator.committed(crew.bootstrap, crew.group)
    assert found == {(topic, 0): coordinator.Committed(6, "alone")}
    described = coordinator.described(crew.bootstrap, crew.group)
    assert (described.state, described.owned) == (coordinator.EMPTY, {})
    crew.close("a")
    crew.open("b", assign=assign, commit=NEVER)
    again = {(topic, 0, offset) for offset in range(6, 10)}
    again |= {(topic, 1, offset) for offset in range(10)}
    crew.wait("it goes on", lambda: set(crew.history.read_twice()) == again)
    assert crew.history.read().keys() == crew.positions(assigned)
    crew.check_nobody_failed()


def pause(crew: Crew, _: Collection[str]) -> None:
    topic = crew.topic(2)
    crew.produce(topic)
    crew.open("a")
    crew.settle("a")
    crew.wait_until_read()
    crew.do("a", "pause", topic, 0)
    crew.produce(topic, 1, partition=1)
    crew.wait_until_read()  # so that what it had asked for before is answered
    before = crew.positions([(topic, 0)])
    crew.produce(topic)
    crew.wait_until_read([(topic, 1)])
    assert {each for each in crew.history.read() if each[1] == 0} == before
    crew.do("a", "resume", topic, 0)
    crew.wait_until_read()
    crew.wait_until_committed()
    crew.check()


def seek(crew: Crew, abilities: Collection[str]) -> None:
    topic = crew.topic(2)
    crew.produce(topic, 10)
    crew.open("a")
    crew.settle("a")
    crew.wait_until_read()
    crew.do("a", "seek", topic, 0, 4)
    again = {(topic, 0, offset) for offset in range(4, 10)}
    crew.wait("it reads again", lambda: set(crew.history.read_twice()) == again)
    if f.SEEK_ENDS in abilities:
        crew.do("a", "seek_to_beginning", topic, 1)
        again |= crew.positions([(topic, 1)])
        crew.wait("from the beginning", lambda: set(crew.history.read_twice()) == again)
    crew.produce(topic, 5)
    crew.wait_until_read()
    crew.wait_until_committed()
    crew.check(twice=crew.sent)
    if f.SEEK_ENDS in abilities:
        skip_to_the_end(crew, topic)


def skip_to_the_end(crew: Crew, topic: str) -> None:
    before = crew.history.read()
    for words in (("pause",), ("seek", 0), ("seek_to_end",), ("resume",)):
        crew.do("a", words[0], topic, 0, *words[1:])

    def reads_on() -> bool:
        crew.produce(topic, 1, partition=0)  # again, for the end is where it is when one asks
        return len(crew.history.read()) > len(before)

    crew.wait("it reads on at the end", reads_on)
    after = crew.history.read()
    assert {each: after[each] for each in before} == before


def mixed(crew: Crew, _: Collection[str]) -> None:
    """Beside members of other clients, which come before and go after it."""
    topic = crew.topic()
    others = [each for each in MIXED_WITH if each != crew.client][:3]
    for i, other in enumerate(others):
        crew.open(f"other{i}", client=other)
    names = [f"other{i}" for i in range(len(others))]
    crew.settle(*names)
    for _again in range(2):
        crew.produce(topic)
        crew.open("a")
        crew.settle("a", *names)
        crew.produce(topic)
        crew.close("a")
    crew.settle(*names)
    crew.wait_until_read()
    crew.wait_until_committed()
    crew.check()


def wake(crew: Crew, _: Collection[str]) -> None:
    topic = crew.topic(2)
    crew.open("a", commit=NEVER)
    crew.settle("a")
    crew.do("a", "long_poll")

    def is_awake() -> bool:
        crew.do("a", "wake")  # again, if it had not begun to wait
        return bool(crew.history.of(crew.full_name("a"), WOKEN))

    crew.wait("it is woken", is_awake)
    crew.produce(topic)
    crew.wait_until_read()
    crew.settle("a")
    crew.check()


class Scenario(NamedTuple):
    run: Callable[[Crew, Collection[str]], None]  # with what the client can
    proves: tuple[str, ...]  # the first is needed, the others are proved where the client can

    @property
    def name(self) -> str:
        return self.run.__name__


SCENARIOS = (
    Scenario(eager, (f.EAGER, f.LISTENER)),
    Scenario(cooperative, (f.COOPERATIVE,)),
    Scenario(stall_and_crash, (f.STALL, f.CRASH)),
    Scenario(static, (f.STATIC,)),
    Scenario(fencing, (f.FENCING,)),
    Scenario(max_poll, (f.MAX_POLL,)),
    Scenario(regex, (f.REGEX, f.NEW_TOPICS)),
    Scenario(commits, (f.SYNC, f.ASYNC)),
    Scenario(standalone, (f.STANDALONE,)),
    Scenario(pause, (f.PAUSE,)),
    Scenario(seek, (f.SEEK, f.SEEK_ENDS)),
    Scenario(wake, (f.WAKE,)),
    Scenario(mixed, (f.MIXED,)),
)
