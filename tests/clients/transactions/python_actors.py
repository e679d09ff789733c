"""What the three libraries of Python share: a reader of what is committed, and the loop.

Each library says only how it polls, writes and goes back.
"""

from __future__ import annotations

import random
import threading
import traceback
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

from tests.clients.client import PATIENCE_S
from tests.clients.groups.python_member import Journal
from tests.clients.transactions.history import (
    ABORTED,
    BEGUN,
    COMMITTED,
    FAILED,
    HANGING,
    UNSURE,
    Read,
)
from tests.clients.transactions.options import LoopOptions

Partition: TypeAlias = tuple[str, int]
Batch: TypeAlias = dict[int, list[int]]  # offsets by partition
POLL_MS = 50
AT_ONCE = 10  # records, so that there are many transactions


class Producer(Protocol):
    """A transactional one; it is made when its id is its own."""

    def begin(self) -> None: ...
    def write(self, topic: str, records: Sequence[tuple[int, bytes]]) -> None:
        """Partition and value of each; returns when all are acknowledged."""

    def add_offsets(self, group: str, offsets: Mapping[Partition, int], member: Any) -> None:
        """As part of the transaction; `member` is what the library tells of it, or None."""

    def commit(self) -> None: ...
    def abort(self) -> None: ...
    def close(self) -> None: ...


class PythonReader(ABC):
    """Reads what is committed of one topic from its beginning, on a thread of its own."""

    def __init__(self, bootstrap: str, topic: str, partitions: int) -> None:
        self.bootstrap = bootstrap
        self.assigned = [(topic, each) for each in range(partitions)]
        self._read: list[Read] = []
        self._closing = False
        self._error = ""
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    @abstractmethod
    def connect(self) -> None: ...
    @abstractmethod
    def poll(self) -> list[Read]: ...
    @abstractmethod
    def disconnect(self) -> None: ...

    def seen(self) -> list[Read]:
        assert not self._error, self._error
        return list(self._read)

    def close(self) -> None:
        self._closing = True
        self._thread.join(PATIENCE_S)

    def _run(self) -> None:
        try:
            self.connect()
            while not self._closing:
                self._read += self.poll()
            self.disconnect()
        except Exception:
            self._error = traceback.format_exc()


class Deliberate(Exception):
    """The dice said that this transaction is to be aborted."""


class PythonLoop(ABC):
    """Passes on what it reads: record and offset in one transaction, again where it is aborted."""

    # Without the group's metadata the broker cannot tell a member that was left behind. It is
    # then fenced by a transactional id for each partition, which the next owner takes over, and it
    # itself after each rebalance: it may have been sent back to before its own last transaction.
    is_by_partition = False

    def __init__(self, bootstrap: str, name: str, options: LoopOptions) -> None:
        self.bootstrap = bootstrap
        self.name = name
        self.options = options
        self._journal = Journal(options.journal, name)
        self._dice = random.Random(options.tag)
        self._producers: dict[int, Producer] = {}
        self.is_rebalanced = False
        self.membership: Any = None
        self._number = 0
        self._hang_at = ""
        self._go = threading.Event()
        self._closing = False
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    @abstractmethod
    def connect(self) -> None: ...
    @abstractmethod
    def poll(self) -> Batch:
        """Sets `membership` to what the group knows it by: when it is asked later, it may have been
        put out in the meantime, and what names no generation is never refused."""

    @abstractmethod
    def rewind(self, partitions: Collection[int]) -> None:
        """To what is committed, where they are still its own."""

    @abstractmethod
    def new_producer(self, transactional_id: str) -> Producer: ...
    @abstractmethod
    def disconnect(self) -> None: ...

    def hang(self, where: str) -> None:
        """In the next transaction, `before` or `after` its offsets are added, until `go`."""
        self._go.clear()
        self._hang_at = where

    def go(self) -> None:
        self._go.set()

    def close(self) -> None:
        self._closing = True
        self._thread.join(PATIENCE_S)

    def _run(self) -> None:
        try:
            if not self.is_by_partition:
                # What an earlier life of it had begun is over, before anyone waits for that.
                self._producers[0] = self.new_producer(self.name)
            self.connect()
            while not self._closing:
                self._pass_on(self.poll())
            self._drop_producers()
            self.disconnect()
        except Exception:
            self._journal.tell(FAILED, text=traceback.format_exc())

    def _pass_on(self, found: Batch) -> None:
        if self.is_by_partition:
            if self.is_rebalanced:
                self.is_rebalanced = False
                self._drop_producers()
            for partition, offsets in found.items():
                self._transact(partition, {partition: offsets})
        elif found:
            self._transact(0, found)

    def _drop_producers(self) -> None:
        for producer in self._producers.values():
            producer.close()
        self._producers.clear()

    def _transact(self, key: int, batch: Batch) -> None:
        producer = self._producers.get(key)
        if producer is None:
            owner = f"{self.options.group}-{key}" if self.is_by_partition else self.name
            self._producers[key] = self.new_producer(owner)
            # From now on nobody else can commit: only now is it known where to begin.
            self.rewind(batch)
            return
        self._number += 1
        attempt = f"{self.options.tag}.{self._number}"
        inputs = [(partition, offset) for partition in batch for offset in batch[partition]]
        self._journal.tell(BEGUN, attempt=attempt, inputs=inputs)
        outcome, text = ABORTED, ""
        try:
            self._fill(producer, attempt, inputs)
            outcome = UNSURE
            producer.commit()
            outcome = COMMITTED
        except Exception as error:
            text = repr(error)
            self._give_up(key, producer)
            self.rewind(batch)
        self._journal.tell(outcome, attempt=attempt, text=text)

    def _fill(self, producer: Producer, attempt: str, inputs: Sequence[tuple[int, int]]) -> None:
        options = self.options
        producer.begin()
        producer.write(
            options.target,
            [
                (offset % options.target_partitions, f"{attempt} {partition} {offset}".encode())
                for partition, offset in inputs
            ],
        )
        self._hang_if_told("before", attempt)
        ends = {(options.source, partition): offset + 1 for partition, offset in inputs}
        producer.add_offsets(options.group, ends, self.membership)
        self._hang_if_told("after", attempt)
        if self._dice.randrange(100) < options.abort_percent:
            raise Deliberate

    def _hang_if_told(self, where: str, attempt: str) -> None:
        if self._hang_at == where:
            self._hang_at = ""
            self._journal.tell(HANGING, attempt=attempt)
            self._go.wait()

    def _give_up(self, key: int, producer: Producer) -> None:
        try:
            producer.abort()
        except Exception:
            del self._producers[key]
            producer.close()
