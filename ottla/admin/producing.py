"""Lines to records: what a line says, sending them all, and counting what was delivered."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

_WAIT_S = 0.2
Headers = tuple[tuple[str, bytes], ...]


class BadLine(ValueError):
    """A line that does not have the form that was announced."""


class OutgoingRecord(NamedTuple):
    key: bytes | None
    value: bytes | None
    headers: Headers


@dataclass(frozen=True, slots=True)
class LineFormat:
    """`KEY separator VALUE`, or the value alone; `null_marker` stands for no key or no value."""

    key_separator: bytes | None = None
    null_marker: bytes | None = None
    headers: Headers = ()

    def parse(self, line: bytes) -> OutgoingRecord:
        text = line.removesuffix(b"\n")
        if self.key_separator is None:
            return OutgoingRecord(None, self._or_null(text), self.headers)
        key, found, value = text.partition(self.key_separator)
        if not found:
            separator = self.key_separator.decode(errors="backslashreplace")
            raise BadLine(f"there is no key separator {separator!r} in it")
        return OutgoingRecord(self._or_null(key), self._or_null(value), self.headers)

    def _or_null(self, text: bytes) -> bytes | None:
        return None if text == self.null_marker else text


class Sender(Protocol):
    """Sends in the background; `on_delivery` hears None or the reason of each record's failure."""

    def send(self, record: OutgoingRecord, on_delivery: Callable[[str | None], None]) -> None: ...
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

    def count(self, failure: str | None) -> None:
        if failure is None:
            self.delivered += 1
            return
        self.failed += 1
        self.first_failure = self.first_failure or failure


def send_lines(
    lines: Iterable[bytes],
    sender: Sender,
    form: LineFormat,
    delivery: Delivery,
    on_progress: Callable[[int], None],
) -> None:
    """Up to the end of the lines, or to the first that is wrong: `BadLine` says which."""
    for number, line in enumerate(lines, 1):
        try:
            record = form.parse(line)
        except BadLine as cause:
            raise BadLine(f"line {number}: {cause}") from cause
        sender.send(record, delivery.count)
        delivery.sent += 1
        on_progress(delivery.delivered)


def flush(
    sender: Sender,
    delivery: Delivery,
    on_progress: Callable[[int], None],
    is_stopped: Callable[[], bool],
) -> None:
    """Until all are delivered or have failed, which the sender's time limit sees to, or stopped."""
    while sender.flush(_WAIT_S) and not is_stopped():
        on_progress(delivery.delivered)
