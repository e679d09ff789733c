"""Lines to records: what a line says, sending them all, and counting what was delivered."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, Protocol

_WAIT_S = 0.2
Headers = tuple[tuple[str, bytes | None], ...]


class BadLine(ValueError):
    """A line that does not have the form that was announced."""


class OutgoingRecord(NamedTuple):
    """`timestamp` is None for the moment at which it is sent."""

    key: bytes | None
    value: bytes | None
    headers: Headers
    timestamp: int | None = None


@dataclass(frozen=True, slots=True)
class LineFormat:
    """`KEY separator VALUE`, or the value alone; `null_marker` stands for no key or no value."""

    key_separator: bytes | None = None
    null_marker: bytes | None = None
    headers: Headers = ()
    is_hex: bool = False

    def parse(self, line: bytes) -> OutgoingRecord:
        text = line.removesuffix(b"\n")
        if self.key_separator is None:
            return OutgoingRecord(None, self._content(text), self.headers)
        key, found, value = text.partition(self.key_separator)
        if not found:
            separator = self.key_separator.decode(errors="backslashreplace")
            raise BadLine(f"there is no key separator {separator!r} in it")
        return OutgoingRecord(self._content(key), self._content(value), self.headers)

    def _content(self, text: bytes) -> bytes | None:
        if text == self.null_marker:
            return None
        if not self.is_hex:
            return text
        try:
            return bytes.fromhex(text.decode())
        except ValueError as cause:
            shown = text.decode(errors="backslashreplace")
            raise BadLine(f"{shown!r} is no hexadecimal, as 0a1bff is") from cause


def parse_lines(
    lines: Iterable[bytes], parse: Callable[[bytes], OutgoingRecord]
) -> Iterator[OutgoingRecord]:
    """Up to the first line that is wrong: `BadLine` says which."""
    for number, line in enumerate(lines, 1):
        try:
            record = parse(line)
        except BadLine as cause:
            raise BadLine(f"line {number}: {cause}") from cause
        yield record


class Receipt(NamedTuple):
    """What became of a record: where it is, or why it failed, in a word and in a sentence."""

    partition: int = -1
    offset: int = -1
    latency_ms: float = 0.0
    error: str = ""
    failure: str | None = None


OnDelivery = Callable[[Receipt], None]


class Sender(Protocol):
    """Sends in the background; `on_delivery` hears what became of each record."""

    def send(self, record: OutgoingRecord, on_delivery: OnDelivery) -> None: ...
    def flush(self, timeout_s: float) -> int:
        """How many records are still on their way."""
        ...


class Delivery:
    """How far it got; it stays right when the sending is broken off."""

    def __init__(self) -> None:
        self.sent = 0
        self.delivered = 0
        self.failed = 0
        self.first_failure = ""

    @property
    def given_up(self) -> int:
        """What was still on its way when the sending was broken off."""
        return self.sent - self.delivered - self.failed

    def count(self, receipt: Receipt) -> None:
        if receipt.failure is None:
            self.delivered += 1
            return
        self.failed += 1
        self.first_failure = self.first_failure or receipt.failure


def send_all(
    records: Iterable[OutgoingRecord],
    sender: Sender,
    delivery: Delivery,
    on_progress: Callable[[Delivery], None],
) -> None:
    """Whoever hears of the progress may take the time it needs to keep to a rate."""
    for record in records:
        sender.send(record, delivery.count)
        delivery.sent += 1
        on_progress(delivery)


def flush(
    sender: Sender,
    delivery: Delivery,
    on_progress: Callable[[Delivery], None],
    is_stopped: Callable[[], bool],
) -> None:
    """Until all are delivered or have failed, which the sender's time limit sees to, or stopped."""
    while sender.flush(_WAIT_S) and not is_stopped():
        on_progress(delivery)
