"""Dead letters and the group's offsets, for the runner to commit after a sink without either.

Where dead letters are declared both go in one transaction, and a batch that was settled before is
left alone; where they are not, the offsets only show how far the pipeline has come.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from ottla.pipelines.garbage import without_garbage_collection
from ottla.pipelines.repair.letter import BareLetter, DeadLetter
from ottla.pipelines.repair.letter_records import Record
from ottla.pipelines.sinks.port import Batch, SinkRefused
from ottla.pipelines.sinks.transaction import NO_BATCH, OffsetsTransaction, Outbox


@dataclass(frozen=True, slots=True)
class Letterbox:
    topic: str | None  # None: the pipeline declares none
    to_records: Callable[[Iterable[BareLetter]], Iterable[Record]]

    def post(self, outbox: Outbox, found: Callable[[], Sequence[BareLetter]]) -> int:
        if self.topic is None:
            self.refuse(found())
            return 0
        with without_garbage_collection():
            letters = found()
            outbox.put_each(self.topic, self.to_records(letters))
        return len(letters)

    def refuse(self, letters: Sequence[BareLetter]) -> None:
        if letters:
            first = DeadLetter._make(letters[0])
            raise SinkRefused(
                f"{len(letters)} dead letters, the first of {first.topic} partition "
                f"{first.partition} offset {first.offset} ({first.rule}), and no topic for them: "
                "declare dead_letters=topic(…)"
            )


class Letters:
    def __init__(self, letterbox: Letterbox, transaction: OffsetsTransaction) -> None:
        self._letterbox = letterbox
        self._transaction = transaction
        self._settled = NO_BATCH

    def open(self) -> None:
        if self._letterbox.topic is not None:
            self._transaction.open()
            self._settled = self._transaction.last_batch()

    def settle(self, batch: Batch) -> int:
        """How many letters were posted; none, if this batch was settled before."""
        if batch.id <= self._settled:
            return 0
        if self._letterbox.topic is None:
            self._letterbox.refuse(batch.dead_letters())
            self._transaction.commit_offsets_alone(batch)
            return 0
        posted = self._transaction.run(
            batch, lambda box: self._letterbox.post(box, batch.dead_letters)
        )
        self._settled = batch.id
        return posted

    def close(self) -> None:
        self._transaction.close()
