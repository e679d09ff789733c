"""The members of one group under test: brought in, sent off, killed, and waited for."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol

from tests.clients.client import ClientFailed, Sent, comes_true
from tests.clients.confluent_client import ConfluentClient
from tests.clients.conftest import make_topic
from tests.clients.groups import coordinator
from tests.clients.groups.history import FAILED, GONE, History, Partition, Position, written
from tests.clients.groups.options import Options
from tests.clients.groups.python_member import Journal

PARTITIONS = 6
# What it got but did not print when it is told to end counts as read.
LOSING_AT_CLOSE = ("kcat",)
# Each prints into a pipe of its own, and nobody knows who printed first.
TELLING_LATE = ("kcat",)


class Host(Protocol):
    """A process in which members of one client live."""

    name: str

    def ask(self, *words: object) -> Any: ...
    def signal(self, number: signal.Signals) -> None: ...
    def kill(self) -> None: ...
    def close(self) -> None: ...


Starter = Callable[[str, Path], Host]  # with the broker's address and a file for its log


class Homes:
    """Where members live: one process for each client, which all its cases share."""

    def __init__(self, bootstrap: str, folder: Path, starters: Mapping[str, Starter]) -> None:
        self.bootstrap = bootstrap
        self.folder = folder
        self._starters = starters
        self._running: dict[str, Host] = {}
        self._turn = threading.Lock()

    def of(self, client: str) -> Host:
        with self._turn:
            if client not in self._running:
                self._running[client] = self.fresh(client, "home")
            return self._running[client]

    def fresh(self, client: str, purpose: str) -> Host:
        return self._starters[client](self.bootstrap, self.folder / f"{client}-{purpose}.log")

    def close(self) -> None:
        for host in self._running.values():
            host.close()


class Crew:
    """One group; a member's client is the case's, unless it is said."""

    def __init__(self, homes: Homes, client: str, case: str) -> None:
        self.client = client
        self.case = case
        self.group = f"{client}.{case}"
        self.bootstrap = homes.bootstrap
        self.journal = homes.folder / f"{self.group}.journal"
        self._homes = homes
        self._hosts: dict[str, Host] = {}  # of those who are there
        self._apart: list[Host] = []
        self._sent: dict[str, dict[Partition, int]] = {}
        self._producer = ConfluentClient(self.bootstrap)

    # What is read

    def topic(self, partitions: int = PARTITIONS, *, name: str | None = None) -> str:
        topic = make_topic(self.bootstrap, partitions=partitions, name=name)
        self._sent[topic] = {(topic, each): 0 for each in range(partitions)}
        return topic

    def elsewhere(self, name: str) -> None:
        """A topic that nobody is to read."""
        self._producer.produce(make_topic(self.bootstrap, name=name), [Sent(b"not for them")])

    def produce(self, topic: str, count: int = 20, *, partition: int | None = None) -> None:
        """So many records into each partition, or into one."""
        sent = self._sent[topic]
        into = [each for each in sent if partition in (None, each[1])]
        records = [Sent(b"%d" % i, partition=each) for i in range(count) for _, each in into]
        self._producer.produce(topic, records)
        for each in into:
            sent[each] += count

    @property
    def sent(self) -> dict[Partition, int]:
        """How many records each partition has."""
        return {each: count for topic in self._sent.values() for each, count in topic.items()}

    # Who reads

    def open(self, *names: str, client: str = "", **options: Any) -> None:
        """They live in the process that all cases of their client share."""
        for name in names:
            self._open(name, self._homes.of(client or self.client), options)

    def open_apart(self, name: str, **options: Any) -> None:
        """In a process of its own, which can be killed."""
        host = self._homes.fresh(self.client, f"{self.case}-{name}")
        self._apart.append(host)
        self._open(name, host, options)

    def _open(self, name: str, host: Host, options: dict[str, Any]) -> None:
        self._hosts[name] = host
        chosen = {"topics": ",".join(self._sent)} | options
        if chosen.keys() & {"pattern", "assign"}:
            del chosen["topics"]
        wanted = Options(journal=self.journal, group=self.group, **chosen)
        host.ask("open", self.full_name(name), *wanted.words())

    def full_name(self, name: str) -> str:
        return f"{self.group}.{name}"  # members of several groups share a process

    def close(self, *names: str) -> None:
        if self.client in LOSING_AT_CLOSE and names:
            self.wait_until_read()
        for name in names:
            self._hosts.pop(name).ask("close", self.full_name(name))

    def do(self, name: str, *words: object) -> Any:
        return self._hosts[name].ask("do", self.full_name(name), *words)

    def stop(self, name: str) -> None:
        """It stands still, without a word to anyone, until `go_on`."""
        self._hosts[name].signal(signal.SIGSTOP)
        self._tell_gone(name)

    def stall(self, name: str) -> None:
        """It stays alive, but does not poll, until it is told to `go`."""
        self.do(name, "stall")
        self._tell_gone(name)

    def go_on(self, name: str) -> None:
        self._hosts[name].signal(signal.SIGCONT)

    def kill(self, name: str) -> None:
        host = self._hosts.pop(name)
        host.kill()
        self._apart.remove(host)
        self._tell_gone(name)

    def _tell_gone(self, name: str) -> None:
        Journal(self.journal, self.full_name(name)).tell(GONE)

    def end(self) -> None:
        """Whatever happened, nobody stays."""
        for name in list(self._hosts):
            if self._hosts[name] not in self._apart:
                self._hosts.pop(name).ask("close", self.full_name(name))
        for host in self._apart:
            host.signal(signal.SIGCONT)
            host.kill()
        self._producer.close()

    # What is waited for, and what must hold

    @property
    def history(self) -> History:
        return written(self.journal)

    def wait(self, what: str, condition: Callable[[], bool]) -> None:
        def holds() -> bool:
            if condition():
                return True
            self.check_nobody_failed()
            return False

        if not comes_true(holds):
            raise ClientFailed(f"{self.group} waited in vain: {what}\n{self._report()}")

    def _report(self) -> str:
        events = "\n".join(map(str, self.history.events[-30:]))
        return f"{coordinator.described(self.bootstrap, self.group)}\n{events}"

    def settle(self, *names: str) -> dict[str, set[Partition]]:
        """These and no others share all partitions, and both sides say the same of it."""
        wanted = {self.full_name(name) for name in names}
        self.wait(f"{names} share {sorted(self.sent)}", lambda: self._is_shared_by(wanted))
        owned = self.history.owned()
        return {name: owned.get(self.full_name(name), set()) for name in names}

    def _is_shared_by(self, wanted: set[str]) -> bool:
        found = coordinator.described(self.bootstrap, self.group)
        shared = sorted(each for owned in found.owned.values() for each in owned)
        told = self.history.owned()
        return (
            found.state == coordinator.STABLE
            and found.owned.keys() == wanted
            and shared == sorted(self.sent)
            and all(told.get(name, set()) == owned for name, owned in found.owned.items())
        )

    def wait_until_read(self, partitions: Iterable[Partition] | None = None) -> None:
        """All that was sent, into all partitions or these."""
        wanted = self.positions(partitions)
        self.wait("all is read", lambda: wanted <= self.history.read().keys())

    def positions(self, partitions: Iterable[Partition] | None = None) -> set[Position]:
        some = self.sent if partitions is None else partitions
        return {(*each, offset) for each in some for offset in range(self.sent[each])}

    def wait_until_committed(self, offsets: Mapping[Partition, int] | None = None) -> None:
        """The broker says so itself."""
        wanted = self.sent if offsets is None else offsets
        self.wait(f"{wanted} is committed", lambda: self.committed() == wanted)

    def committed(self) -> dict[Partition, int]:
        found = coordinator.committed(self.bootstrap, self.group)
        return {partition: each.offset for partition, each in found.items() if each.offset >= 0}

    def check_nobody_failed(self) -> None:
        failed = [event for event in self.history.events if event.kind == FAILED]
        if failed:
            raise ClientFailed(f"{self.group}: {failed[0].member}: {failed[0].text}")

    def check(self, *, twice: Iterable[Partition] = ()) -> None:
        """None lost, none read twice but of the partitions that were taken from one who was gone,
        and no two owners at a time."""
        history = self.history
        assert history.read().keys() == self.positions()
        allowed = set(twice)
        assert [each for each in history.read_twice() if each[:2] not in allowed] == []
        assert history.owned_by_two(is_told_late=self.client in TELLING_LATE) == []
        assert history.two_in_one_generation() == []
        assert history.read_by_others() == []
        self.check_nobody_failed()
