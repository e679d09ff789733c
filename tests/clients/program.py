"""A client that is a program of another language: a line in, a line of JSON out.

A request is words between tabs. Bytes are in base64, null is `-`. The answer is {"ok": ...} or
{"error": text}.
"""

from __future__ import annotations

import json
import subprocess
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.clients.client import ClientFailed, Seen, Sent

NULL = "-"


def encoded(data: bytes | None) -> str:
    return NULL if data is None else b64encode(data).decode()


def decoded(text: str | None) -> bytes | None:
    return None if text is None else b64decode(text)


class Program:
    """Runs for a whole session: most of these start slowly."""

    def __init__(self, name: str, command: Sequence[str], *, log: Path) -> None:
        self.name = name
        self._log = log
        with log.open("ab") as stderr:
            self._popen = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                text=True,
                encoding="utf-8",
            )

    def _ask(self, *words: object, lines: Sequence[str] = ()) -> Any:
        assert self._popen.stdin is not None
        assert self._popen.stdout is not None
        asked = "\t".join(map(str, words))
        self._popen.stdin.write("".join(f"{line}\n" for line in (asked, *lines)))
        self._popen.stdin.flush()
        answer = self._popen.stdout.readline()
        if not answer:
            said = self._log.read_text(encoding="utf-8", errors="replace")
            raise ClientFailed(f"{self.name} ended at {asked!r}:\n{said[-5000:]}")
        found = json.loads(answer)
        if "error" in found:
            raise ClientFailed(f"{self.name}, {asked!r}: {found['error']}")
        return found["ok"]

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
        offsets: list[int] = self._ask(*head, lines=[_line(record) for record in records])
        return offsets

    def consume(self, topic: str, *, partition: int, offset: int, count: int) -> list[Seen]:
        found = self._ask("consume", topic, partition, offset, count)
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
        earliest, latest = self._ask("offsets", topic, partition)
        return earliest, latest

    def offset_at(self, topic: str, *, partition: int, timestamp: int) -> int | None:
        found: int | None = self._ask("offset_at", topic, partition, timestamp)
        return found

    def create_topic(self, topic: str, *, partitions: int, configs: Mapping[str, str]) -> None:
        pairs = [f"{name}={value}" for name, value in configs.items()]
        self._ask("create_topic", topic, partitions, *pairs)

    def delete_topic(self, topic: str) -> None:
        self._ask("delete_topic", topic)

    def topics(self) -> list[str]:
        names: list[str] = self._ask("topics")
        return names

    def partition_count(self, topic: str) -> int:
        count: int = self._ask("partition_count", topic)
        return count

    def add_partitions(self, topic: str, *, count: int) -> None:
        self._ask("add_partitions", topic, count)

    def configs(self, topic: str) -> dict[str, str]:
        found: dict[str, str] = self._ask("configs", topic)
        return found

    def set_config(self, topic: str, name: str, value: str) -> None:
        self._ask("set_config", topic, name, value)

    def delete_records(self, topic: str, *, partition: int, offset: int) -> None:
        self._ask("delete_records", topic, partition, offset)

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


def _line(record: Sent) -> str:
    headers = [word for name, value in record.headers for word in (name, encoded(value))]
    start = (record.partition, record.timestamp, encoded(record.key), encoded(record.value))
    return "\t".join(map(str, (*start, *headers)))
