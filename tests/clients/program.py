"""A client that is a program of another language: a line in, a line of JSON out.

A request is words between tabs. Bytes are in base64, null is `-`. The answer is {"ok": ...} or
{"error": text}.
"""

from __future__ import annotations

import json
import select
import signal
import subprocess
import threading
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.clients.client import ClientFailed, Seen, Sent

NULL = "-"
_ANSWER_S = 90


def encoded(data: bytes | None) -> str:
    return NULL if data is None else b64encode(data).decode()


def decoded(text: str | None) -> bytes | None:
    return None if text is None else b64decode(text)


class Lines:
    """A program that answers each line with one of its own. Several threads may ask."""

    def __init__(self, name: str, command: Sequence[str], *, log: Path) -> None:
        self.name = name
        self._log = log
        self._turn = threading.Lock()
        with log.open("ab") as stderr:
            self._popen = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                text=True,
                encoding="utf-8",
            )

    def ask(self, *words: object, lines: Sequence[str] = ()) -> Any:
        assert self._popen.stdin is not None
        assert self._popen.stdout is not None
        asked = "\t".join(map(str, words))
        with self._turn:
            self._popen.stdin.write("".join(f"{line}\n" for line in (asked, *lines)))
            self._popen.stdin.flush()
            # It answers one line at a time, so none is left in the buffer that select cannot see.
            ready, _, _ = select.select([self._popen.stdout], [], [], _ANSWER_S)
            answer = self._popen.stdout.readline() if ready else None
        if answer is None:
            raise ClientFailed(f"{self.name} did not answer {asked!r} in {_ANSWER_S} s")
        if not answer:
            said = self._log.read_text(encoding="utf-8", errors="replace")
            raise ClientFailed(f"{self.name} ended at {asked!r}:\n{said[-5000:]}")
        found = json.loads(answer)
        if "error" in found:
            raise ClientFailed(f"{self.name}, {asked!r}: {found['error']}")
        return found["ok"]

    def signal(self, number: signal.Signals) -> None:
        self._popen.send_signal(number)

    def kill(self) -> None:
        """As a crash: nobody is told."""
        self._popen.kill()
        self._popen.wait()
        for pipe in (self._popen.stdin, self._popen.stdout):
            assert pipe is not None
            pipe.close()

    def close(self) -> None:
        """It ends at the end of its input."""
        assert self._popen.stdin is not None
        assert self._popen.stdout is not None
        self._popen.stdin.close()
        try:
            self._popen.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._popen.kill()
            self._popen.wait()
        self._popen.stdout.close()


class Program(Lines):
    """Runs for a whole session: most of these start slowly."""

    def produce(
        self,
        topic: str,
        records: Sequence[Sent],
        *,
        codec: str = "none",
        acks: int = -1,
        idempotent: bool = False,
    ) -> list[int]:
        head = ("produce", topic, codec, acks, str(idempotent).lower(), len(records))
        offsets: list[int] = self.ask(*head, lines=[_line(record) for record in records])
        return offsets

    def consume(self, topic: str, *, partition: int, offset: int, count: int) -> list[Seen]:
        found = self.ask("consume", topic, partition, offset, count)
        return [
            Seen(
                each["offset"],
                Sent(
                    value=decoded(each["value"]),
                    key=decoded(each["key"]),
                    timestamp=each["timestamp"],
                    headers=tuple((name, decoded(value)) for name, value in each["headers"]),
                    partition=partition,
                ),
            )
            for each in found
        ]

    def offsets(self, topic: str, *, partition: int) -> tuple[int, int]:
        earliest, latest = self.ask("offsets", topic, partition)
        return earliest, latest

    def offset_at(self, topic: str, *, partition: int, timestamp: int) -> int | None:
        found: int | None = self.ask("offset_at", topic, partition, timestamp)
        return found

    def create_topic(self, topic: str, *, partitions: int, configs: Mapping[str, str]) -> None:
        pairs = [f"{name}={value}" for name, value in configs.items()]
        self.ask("create_topic", topic, partitions, *pairs)

    def delete_topic(self, topic: str) -> None:
        self.ask("delete_topic", topic)

    def topics(self) -> list[str]:
        names: list[str] = self.ask("topics")
        return names

    def partition_count(self, topic: str) -> int:
        count: int = self.ask("partition_count", topic)
        return count

    def add_partitions(self, topic: str, *, count: int) -> None:
        self.ask("add_partitions", topic, count)

    def configs(self, topic: str) -> dict[str, str]:
        found: dict[str, str] = self.ask("configs", topic)
        return found

    def set_config(self, topic: str, name: str, value: str) -> None:
        self.ask("set_config", topic, name, value)

    def delete_records(self, topic: str, *, partition: int, offset: int) -> None:
        self.ask("delete_records", topic, partition, offset)


def _line(record: Sent) -> str:
    headers = [word for name, value in record.headers for word in (name, encoded(value))]
    start = (record.partition, record.timestamp, encoded(record.key), encoded(record.value))
    return "\t".join(map(str, (*start, *headers)))
