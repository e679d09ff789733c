"""Lines become records, all are counted, and a wrong line is named."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import pytest

from ottla.admin.producing import (
    BadLine,
    Delivery,
    LineFormat,
    OnDelivery,
    OutgoingRecord,
    Receipt,
    flush,
    parse_lines,
    send_all,
)


class SlowSender:
    """Reports at the flush, two at a time; the values in `refused` fail."""

    def __init__(self, *refused: bytes) -> None:
        self.records: list[OutgoingRecord] = []
        self._refused = refused
        self._reports: list[tuple[OnDelivery, Receipt]] = []

    def send(self, record: OutgoingRecord, on_delivery: OnDelivery) -> None:
        self.records.append(record)
        is_refused = record.value in self._refused
        failure = f"refused {record.value!r}" if is_refused else None
        self._reports.append((on_delivery, Receipt(failure=failure)))

    def flush(self, timeout_s: float) -> int:
        for report, receipt in self._reports[:2]:
            report(receipt)
        del self._reports[:2]
        return len(self._reports)


def parsed(lines: Iterable[bytes], form: LineFormat | None = None) -> Iterator[OutgoingRecord]:
    return parse_lines(lines, (form or LineFormat()).parse)


def counted_in(shown: list[int]) -> Callable[[Delivery], None]:
    return lambda delivery: shown.append(delivery.delivered)


@pytest.mark.parametrize(
    ("form", "line", "record"),
    [
        (LineFormat(), b"a:b\n", (None, b"a:b")),
        (LineFormat(), b"\n", (None, b"")),
        (LineFormat(), b"\xff\r\n", (None, b"\xff\r")),
        (LineFormat(key_separator=b":"), b"a:b:c", (b"a", b"b:c")),
        (LineFormat(key_separator=b"::"), b"a::\n", (b"a", b"")),
        (LineFormat(key_separator=b":", null_marker=b"-"), b"-:-\n", (None, None)),
        (LineFormat(null_marker=b""), b"\n", (None, None)),
        (LineFormat(is_hex=True), b"0a FF\n", (None, b"\n\xff")),
        (LineFormat(is_hex=True, key_separator=b":", null_marker=b"-"), b"00:-\n", (b"\0", None)),
    ],
)
def test_a_line_is_taken_apart(
    form: LineFormat, line: bytes, record: tuple[bytes | None, bytes | None]
) -> None:
    assert form.parse(line) == (*record, (), None)


def test_every_record_has_the_headers() -> None:
    assert LineFormat(headers=(("a", b"1"),)).parse(b"x").headers == (("a", b"1"),)


def test_what_is_delivered_and_what_fails_is_counted() -> None:
    sender, delivery, shown = SlowSender(b"b", b"d"), Delivery(), list[int]()
    lines = [b"a\n", b"b\n", b"c\n", b"d\n", b"e\n"]
    show = counted_in(shown)
    send_all(parsed(lines), sender, delivery, show)
    assert (delivery.sent, delivery.delivered) == (5, 0)
    flush(sender, delivery, show, lambda: False)
    assert (delivery.delivered, delivery.failed) == (3, 2)
    assert delivery.first_failure == "refused b'b'"
    assert shown == [0, 0, 0, 0, 0, 1, 2]


def test_a_line_without_a_key_is_named_and_those_before_it_are_sent() -> None:
    sender, delivery = SlowSender(), Delivery()
    form = LineFormat(key_separator=b"\t")
    records = parsed([b"k\tv\n", b"v\n", b"k\tv\n"], form)
    with pytest.raises(BadLine, match=r"line 2: there is no key separator '\\t' in it"):
        send_all(records, sender, delivery, lambda _: None)
    assert [record.key for record in sender.records] == [b"k"]


def test_what_is_no_hexadecimal_is_told() -> None:
    with pytest.raises(BadLine, match=r"line 1: 'xy' is no hexadecimal, as 0a1bff is"):
        list(parsed([b"xy\n"], LineFormat(is_hex=True)))


def test_a_flush_can_be_stopped_and_what_it_leaves_is_counted() -> None:
    sender, delivery = SlowSender(), Delivery()
    send_all(parsed([b"a\n"] * 5), sender, delivery, lambda _: None)
    flush(sender, delivery, lambda _: None, lambda: True)
    assert (delivery.delivered, delivery.given_up) == (2, 3)
