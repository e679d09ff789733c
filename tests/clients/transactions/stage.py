"""Where one case takes place: its topics, producers, readers and loops, and what is waited for."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

from ottla.verify import history as told
from ottla.verify.checker import check
from ottla.verify.findings import Statistics
from ottla.verify.history import Isolation, TopicPartition
from tests.clients.client import ClientFailed, Sent, comes_true
from tests.clients.confluent_client import ConfluentClient
from tests.clients.conftest import make_topic
from tests.clients.groups import coordinator as groups
from tests.clients.groups.crew import Homes, Host
from tests.clients.transactions import coordinator, judge
from tests.clients.transactions.history import FAILED, Journey, Read, Route, written
from tests.clients.transactions.options import LoopOptions

_LIVES, _VALUES = count(), count()


class Writer:
    """A transactional producer in the process of its client."""

    def __init__(self, host: Host, name: str) -> None:
        self._host = host
        self._name = name

    def begin(self) -> None:
        self._host.ask("begin", self._name)

    def send(self, topic: str, *, partitions: int = 1, first: int = 0, count: int) -> None:
        """Numbers, each into the partition that it leaves as remainder."""
        self._host.ask("send", self._name, topic, partitions, first, count)

    def offset(self, group: str, topic: str, offset: int) -> None:
        """Of partition 0."""
        self._host.ask("offsets", self._name, group, topic, 0, offset)

    def commit(self) -> None:
        self._host.ask("commit", self._name)

    def abort(self) -> None:
        self._host.ask("abort", self._name)


class Stage:
    def __init__(self, homes: Homes, client: str, case: str) -> None:
        self.client = client
        self.name = f"{client}.{case}"
        self.bootstrap = homes.bootstrap
        self.plain = ConfluentClient(self.bootstrap)
        self.route = Route(self.name, "", "", 0)
        self._homes = homes
        self._home = homes.of(client)
        self._hosts: dict[str, Host] = {}  # of those who are there
        self._apart: list[Host] = []
        self._tags: dict[str, str] = {}
        self._inputs: dict[int, list[int]] = {}  # their offsets, by partition

    # Producers and readers

    def topic(self, partitions: int = 1) -> str:
        return make_topic(self.bootstrap, partitions=partitions)

    def full_name(self, name: str) -> str:
        return f"{self.name}.{name}"  # those of several cases share a process

    def _come(self, command: str, name: str, *words: object, host: Host | None = None) -> None:
        self._hosts[name] = host or self._home
        self._hosts[name].ask(command, self.full_name(name), *words)

    def producer(self, name: str, *, like: str = "", timeout_ms: int = 60_000) -> Writer:
        """With the transactional id of that name, or of another."""
        self._come("producer", name, self.full_name(like or name), timeout_ms)
        return Writer(self._home, self.full_name(name))

    def reader(self, topic: str, partitions: int = 1) -> str:
        name = f"reader-{topic}"
        self._come("reader", name, topic, partitions)
        return name

    def seen(self, reader: str) -> list[Read]:
        return [Read(*each) for each in self._home.ask("seen", self.full_name(reader))]

    def left(self, topic: str, partitions: int = 1, **options: Any) -> list[Read]:
        return judge.left(self.bootstrap, topic, partitions, **options)

    # Loops

    def between(self, source_partitions: int, target_partitions: int) -> None:
        """The topics of this case's loops."""
        source, target = self.topic(source_partitions), self.topic(target_partitions)
        self.route = Route(self.name, source, target, target_partitions)
        self._inputs = {each: [] for each in range(source_partitions)}

    def go_further(self, target_partitions: int) -> None:
        """What the loops wrote is passed on once more, with all that was aborted in between."""
        group, _, target, partitions = self.route
        self._inputs = {each: [] for each in range(partitions)}
        for read in self.left(target, partitions):
            self._inputs[read.partition].append(read.offset)
        self.route = Route(
            f"{group}.next", target, self.topic(target_partitions), target_partitions
        )

    def feed(self, count: int = 1) -> None:
        """So many records into each partition."""
        records = []
        for partition, offsets in self._inputs.items():
            records += [Sent(b"%d" % next(_VALUES), partition=partition) for _ in range(count)]
            offsets.extend(range(len(offsets), len(offsets) + count))
        self.plain.produce(self.route.source, records)

    def loop(self, *names: str, is_apart: bool = False, **options: Any) -> None:
        """In the process that all cases share, or in one that can be stopped and killed."""
        for name in names:
            self._tags[name] = f"{name}.{next(_LIVES)}"
            given = LoopOptions(
                journal=self._journal,
                tag=self._tags[name],
                **self.route._asdict(),
                **options,
            )
            host = self._fresh(name) if is_apart else None
            self._come("loop", name, *given.words(), host=host)

    def _fresh(self, name: str) -> Host:
        host = self._homes.fresh(self.client, f"{self.name}-{name}-{next(_LIVES)}")
        self._apart.append(host)
        return host

    def hang(self, name: str, where: str) -> str:
        """The transaction in which it hangs when this returns."""
        self._hosts[name].ask("hang", self.full_name(name), where)

        def is_hanging() -> bool:
            self.feed()
            return self.journey.hanging(self._tags[name]) is not None

        self.wait(f"{name} hangs", is_hanging)
        found = self.journey.hanging(self._tags[name])
        assert found is not None
        return found

    def stop(self, name: str) -> None:
        self._hosts[name].signal(signal.SIGSTOP)

    def go_on(self, name: str) -> None:
        self._hosts[name].signal(signal.SIGCONT)
        self._hosts[name].ask("go", self.full_name(name))

    def kill(self, name: str) -> None:
        host = self._hosts.pop(name)
        host.kill()
        self._apart.remove(host)

    def close(self, *names: str) -> None:
        for name in names:
            self._hosts.pop(name).ask("close", self.full_name(name))

    def end(self) -> None:
        """Whatever happened, nobody stays."""
        self.close(*(name for name, host in self._hosts.items() if host not in self._apart))
        for host in self._apart:
            host.signal(signal.SIGCONT)
            host.kill()
        self.plain.close()

    # What is waited for, and what must hold

    @property
    def _journal(self) -> Path:
        return self._homes.folder / f"{self.route.group}.journal"

    @property
    def journey(self) -> Journey:
        return written(self._journal)

    def wait(self, what: str, condition: Callable[[], bool]) -> None:
        def holds() -> bool:
            if condition():
                return True
            self._check_nobody_failed()
            return False

        if not comes_true(holds):
            last = "\n".join(map(str, self.journey.events[-20:]))
            raise ClientFailed(f"{self.name} waited in vain: {what}\n{last}")

    def _check_nobody_failed(self) -> None:
        for event in self.journey.events:
            if event.kind == FAILED:
                raise ClientFailed(f"{event.member}: {event.text}")

    def committed(self) -> dict[tuple[str, int], int]:
        found = groups.committed(self.bootstrap, self.route.group)
        return {partition: each.offset for partition, each in found.items() if each.offset >= 0}

    def wait_until_passed_on(self) -> None:
        """All that is there, as the offsets of the group say."""
        wanted = {
            (self.route.source, each): offsets[-1] + 1
            for each, offsets in self._inputs.items()
            if offsets
        }
        self.wait(f"{wanted} is passed on", lambda: self.committed() == wanted)

    def wait_for_end(self, attempt: str) -> str | None:
        """How the transaction ended."""
        self.wait(f"{attempt} ends", lambda: self.journey.outcome(attempt) is not None)
        return self.journey.outcome(attempt)

    def check_exactly_once(self) -> Statistics:
        target, partitions = self.route.target, self.route.target_partitions
        self.wait("all is over", lambda: coordinator.is_settled(self.bootstrap, target, partitions))
        report = check(told.History(tuple(self._history())))
        assert report.findings == ()
        assert report.statistics.transformed == sum(map(len, self._inputs.values()))
        self._check_nobody_failed()
        return report.statistics

    def _history(self) -> Iterator[told.Event]:
        """The loops' own, with what they were fed, and what is left in the end."""
        _, source, target, partitions = self.route
        yield from self.journey.history(self.route)
        for topic, width in ((source, len(self._inputs)), (target, partitions)):
            for partition, offset, value in self.left(topic, width):
                where = TopicPartition(topic, partition)
                yield told.FinalRead(where, Isolation.READ_COMMITTED, ((offset, value),))
                if topic == source:
                    yield told.Sent("the feeder", where, value, -2, -1, offset=offset)
