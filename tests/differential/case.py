"""What a case is: topics that exist before it, then requests in order on one fresh connection."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import md5
from typing import TypeAlias, TypeVar

from ottla.protocol.registry import API_NAMES
from ottla.protocol.schema import Message

T = TypeVar("T")
M = TypeVar("M", bound=Message)

DEFAULT, OLD_FORMATS = "default", "old-formats"
# What the broker under test is started with, besides where it lives: they show in its answers.
SETTINGS: dict[str, dict[str, str]] = {
    DEFAULT: {
        "broker.id": "0",
        "auto.create.topics.enable": "false",
        "log.retention.ms": "-1",
        "num.partitions": "1",
        "offsets.topic.num.partitions": "1",
        "offsets.topic.replication.factor": "1",
        "transaction.state.log.num.partitions": "1",
        "transaction.state.log.replication.factor": "1",
        "transaction.state.log.min.isr": "1",
        "group.initial.rebalance.delay.ms": "0",
        "controlled.shutdown.enable": "false",
    },
}
# Kafka 3.x writes the formats before 0.11 only while it also speaks to brokers before 3.0.
SETTINGS[OLD_FORMATS] = SETTINGS[DEFAULT] | {"inter.broker.protocol.version": "2.8"}


@dataclass(frozen=True)
class Topic:
    """A topic that is there when the case begins."""

    name: str
    partitions: int = 1
    configs: Mapping[str, str] = field(default_factory=dict)


class World:
    """What a request may depend on: the names in this run, and the answers so far."""

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        self.topic_ids: dict[str, bytes] = {}
        self.answers: list[Message] = []
        self.members: list[str] = []  # their ids, in the order in which they were given

    def name(self, topic: str) -> str:
        """As the broker knows it: several runs may share a broker. `=x` is x in every run."""
        return topic[1:] if topic.startswith("=") else self.prefix + topic

    def topic_id(self, topic: str) -> bytes:
        """Of a topic that does not exist, one that nobody has."""
        return self.topic_ids.get(topic) or md5(topic.encode()).digest()

    def last(self, kind: type[M]) -> M:
        found = [answer for answer in self.answers if isinstance(answer, kind)]
        assert found, f"no {kind.__name__} yet"
        return found[-1]


@dataclass(frozen=True)
class Step:
    """One request, as a function of what came before."""

    api_key: int
    version: int
    build: Callable[[World], Message]
    # Changes the frame, size included, before it is sent.
    mangle: Callable[[bytes], bytes] | None = None
    is_answered: bool = True
    # Asked again until it holds: for what a broker does only soon after its answer.
    until: Callable[[Message], bool] | None = None
    patience_s: int = 15
    # On which of the case's connections: members of a group come by their own.
    link: str = ""
    # Its answer waits for others: it is read before the next request on its connection.
    is_parked: bool = False

    @property
    def title(self) -> str:
        return f"{API_NAMES.get(self.api_key, self.api_key)} v{self.version}"


@dataclass(frozen=True)
class Case:
    name: str
    steps: Sequence[Step]
    topics: Sequence[Topic] = ()
    broker: str = DEFAULT
    needs_coordinator: bool = False
    needs_transactions: bool = False


def case(
    name: str,
    *steps: Step,
    topics: Sequence[Topic | str] = (),
    broker: str = DEFAULT,
    needs_coordinator: bool = False,
    needs_transactions: bool = False,
) -> Case:
    made = [Topic(each) if isinstance(each, str) else each for each in topics]
    return Case(name, steps, made, broker, needs_coordinator, needs_transactions)


def step(kind: type[Message], version: int, build: Callable[[World], Message]) -> Step:
    return Step(kind.api_key, version, build)


Given: TypeAlias = T | Callable[[World], T]


def value_of(given: Given[T], world: World) -> T:
    """A value, or what comes out once the answers before are known."""
    return given(world) if callable(given) else given
