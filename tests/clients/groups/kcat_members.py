"""kcat's balanced consumer: each member is a process, and what it prints is its journal."""

from __future__ import annotations

import re
import signal
import subprocess
import threading
from pathlib import Path
from typing import Any

from tests.clients.client import PATIENCE_S
from tests.clients.groups.history import ASSIGNED, CLOSED, CLOSING, FAILED, READ, REVOKED
from tests.clients.groups.options import Options
from tests.clients.groups.python_member import Journal
from tests.kafka import jars

_REBALANCED = re.compile(r"% Group .* rebalanced .*: (assigned|revoked): ?(.*)")
_PARTITION = re.compile(r"(\S+) \[(\d+)\]")
_PASSING = ("% Waiting for group rebalance", "% Reached end", "%3|", "%4|", "%5|", "%6|")


class KcatMembers:
    """Answers as a program of members does; it commits by itself, and when a partition goes."""

    def __init__(self, bootstrap: str, log: Path) -> None:
        jars.require("kcat")
        self.name = "kcat"
        self._bootstrap = bootstrap
        self._log = log
        self._running: dict[str, _Kcat] = {}

    def ask(self, *words: object) -> Any:
        command, name, *rest = map(str, words)
        if command == "open":
            self._running[name] = _Kcat(self._bootstrap, name, Options.of(rest))
        elif command == "close":
            self._running.pop(name).end()

    def signal(self, number: signal.Signals) -> None:
        for each in self._running.values():
            each.popen.send_signal(number)

    def kill(self) -> None:
        for each in self._running.values():
            each.popen.kill()
            each.end()
        self._running.clear()

    def close(self) -> None:
        self.kill()


class _Kcat:
    def __init__(self, bootstrap: str, name: str, options: Options) -> None:
        settings = {
            "client.id": name,
            "partition.assignment.strategy": options.assignor,
            "session.timeout.ms": options.session_ms,
            "heartbeat.interval.ms": 100,
            "max.poll.interval.ms": options.max_poll_ms,
            "auto.offset.reset": "earliest",
            "auto.commit.interval.ms": 200,
            "fetch.wait.max.ms": 50,
            "topic.metadata.refresh.interval.ms": 500,
        }
        if options.instance:
            settings["group.instance.id"] = options.instance
        pairs = [word for pair in settings.items() for word in ("-X", "{}={}".format(*pair))]
        topics = [options.pattern] if options.pattern else options.topics.split(",")
        command = ["kcat", "-b", bootstrap, *pairs, "-u", "-f", "%t %p %o\n", "-G", options.group]
        self.popen = subprocess.Popen(
            [*command, *topics],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,  # in order with what it reads
            text=True,
        )
        self._journal = Journal(options.journal, name)
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def end(self) -> None:
        """It closes at SIGTERM."""
        self._journal.tell(CLOSING)
        self.popen.terminate()
        self.popen.wait(PATIENCE_S)
        self._listener.join(PATIENCE_S)
        self._journal.tell(CLOSED)

    def _listen(self) -> None:
        assert self.popen.stdout is not None
        with self.popen.stdout as lines:
            for line in lines:
                if line.endswith("\n"):  # who is killed may be in the middle of one
                    self._tell(line.rstrip("\n"))

    def _tell(self, line: str) -> None:
        if found := _REBALANCED.match(line):
            partitions = [(topic, int(each)) for topic, each in _PARTITION.findall(found[2])]
            self._journal.tell(ASSIGNED if found[1] == "assigned" else REVOKED, partitions)
        elif len(words := line.split(" ")) == 3 and words[2].isdigit():
            self._journal.tell(READ, [(words[0], int(words[1]))], offsets=[int(words[2])])
        elif line and not line.startswith(_PASSING):
            self._journal.tell(FAILED, text=line)
