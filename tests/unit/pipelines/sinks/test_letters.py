"""Dead letters and offsets of a batch, settled once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest

from ottla.pipelines.repair.letter import DeadLetter
from ottla.pipelines.repair.letter_records import Record
from ottla.pipelines.sinks.letters import Letterbox, Letters
from ottla.pipelines.sinks.port import Batch, SinkRefused

LETTER = DeadLetter("in", 1, 42, 0, b"k", b"bad", (), "not_null(id)", "id is null")


class Remembering:
    """As much of a transaction and its outbox as the letters need."""

    def __init__(self, last_batch: int = -1) -> None:
        self._last_batch = last_batch
        self.told: list[tuple[Any, ...]] = []

    def open(self) -> None:
        self.told.append(("open",))

    def last_batch(self) -> int:
        return self._last_batch

    def run(self, batch: Batch, put: Callable[[Any], int]) -> int:
        count = put(self)
        self.told.append(("commit", batch.id, dict(batch.offsets)))
        return count

    def put_each(self, topic: str, records: Iterable[Record]) -> None:
        self.told.extend(("put", topic, record) for record in records)

    def commit_offsets_alone(self, batch: Batch) -> None:
        self.told.append(("alone", batch.id, dict(batch.offsets)))


def letters(transaction: Remembering, *, topic: str | None = "dead") -> Letters:
    fake: Any = transaction
    letterbox = Letterbox(topic, lambda letters: ((each[4], each[5], []) for each in letters))
    opened = Letters(letterbox, fake)
    opened.open()
    return opened


def batch(number: int, *dead: DeadLetter) -> Batch:
    return Batch(number, {("in", 1): 43}, lambda: dead)


def test_letters_and_offsets_are_committed_together() -> None:
    transaction = Remembering()
    assert letters(transaction).settle(batch(0, LETTER)) == 1
    assert transaction.told == [
        ("open",),
        ("put", "dead", (b"k", b"bad", [])),
        ("commit", 0, {("in", 1): 43}),
    ]


def test_a_batch_that_was_settled_by_the_run_before_is_left_alone() -> None:
    transaction = Remembering(last_batch=4)
    opened = letters(transaction)
    assert opened.settle(batch(4, LETTER)) == 0
    assert opened.settle(batch(5, LETTER)) == 1
    assert opened.settle(batch(5, LETTER)) == 0
    assert [each[:2] for each in transaction.told if each[0] == "commit"] == [("commit", 5)]


def test_without_a_topic_for_them_the_offsets_are_committed_alone() -> None:
    transaction = Remembering()
    assert letters(transaction, topic=None).settle(batch(3)) == 0
    assert transaction.told == [("alone", 3, {("in", 1): 43})]


def test_letters_without_a_topic_for_them_are_refused_by_name() -> None:
    transaction = Remembering()
    with pytest.raises(SinkRefused, match=r"in partition 1 offset 42 \(not_null\(id\)\)"):
        letters(transaction, topic=None).settle(batch(3, LETTER))
    assert transaction.told == []
