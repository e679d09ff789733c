"""Reads the log of a partition again: what is left of it after the last record is its state.

Of each key only the last value counts, so values are not looked at before the end is reached: for a
log that is not compacted yet, most of the work is saved. All in small steps: a generator yields
whenever somebody else might have their turn.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from struct import Struct
from struct import error as StructError

from ottla.coordinators.keyed_records import Forms, Latest, read_keyed, read_singles
from ottla.protocol.errors import ProtocolError
from ottla.protocol.records.batch import (
    BATCH_OVERHEAD,
    CONTROL_BIT,
    MAX_UNCOMPRESSED_BYTES,
    TRANSACTIONAL_BIT,
    BatchHeader,
    read_payload,
    read_records,
    validate_batch,
)
from ottla.protocol.records.control import ControlType, read_control_type
from ottla.protocol.records.layout import CODEC_MASK, LOG_OVERHEAD, MAGIC_AT
from ottla.protocol.records.record_set import read_batches

_logger = logging.getLogger(__name__)

# What is done between two yields takes about a quarter of a millisecond.
_STEP = 250
_SINGLES_A_STEP = 100
_START = Struct(">qi4xb")  # base offset, length, (leader epoch,) magic
_NOT_PLAIN = CODEC_MASK | TRANSACTIONAL_BIT
UNREADABLE = (ProtocolError, IndexError, ValueError, StructError)


class Replay:
    """`absorb` each piece of the log in order, then take `each` that is left."""

    def __init__(self, name: str, *, transactional: tuple[bytes, ...] = ()) -> None:
        """`transactional`: the beginnings of keys whose values wait for their transaction's end."""
        self.name = name
        self.next_offset = 0
        self.record_count = 0
        self.unreadable = 0  # batches and records that were passed over
        # In open transactions, by producer: the value and where its batch is.
        self.open: dict[int, dict[bytes, tuple[bytes, int]]] = {}
        # Where the last value of a key is from; known only where a transaction could ask.
        self.positions: dict[bytes, int] = {}
        self._latest: Latest = {}
        self._forms: Forms = {}
        self._transactional = transactional

    def absorb(self, data: bytes) -> Iterator[None]:
        """Whole batches; one that is cut off at the end is left for the next time."""
        view, size, pos, work = memoryview(data), len(data), 0, 0
        while size - pos >= _START.size:
            if not self.open:
                count, pos, self.next_offset = read_singles(
                    data, pos, _SINGLES_A_STEP, self._latest, self.next_offset, self._forms
                )
                self.record_count += count
                if count:
                    yield
                    continue
            base_offset, length, magic = _START.unpack_from(data, pos)
            end = pos + LOG_OVERHEAD + length
            if end > size:
                return
            if length <= MAGIC_AT - LOG_OVERHEAD:
                raise ValueError(f"a batch of length {length} after offset {self.next_offset}")
            try:
                part = view[pos:end]
                if magic == 2:
                    header = validate_batch(part)
                    next_offset = base_offset + header[6] + 1
                    # The log may have been read from within a batch that is known already.
                    if next_offset > self.next_offset:
                        work += header[12] + 4
                        yield from self._absorb_batch(data, pos, part, header)
                else:
                    next_offset = self._absorb_old(part)
            except UNREADABLE as error:
                self.pass_over(f"the batch at offset {base_offset}", error)
                next_offset = base_offset + 1
            self.next_offset = max(self.next_offset, next_offset)
            pos = end
            if work > _STEP:
                work = 0
                yield

    def _absorb_batch(
        self, data: bytes, pos: int, view: memoryview, header: BatchHeader
    ) -> Iterable[None]:
        attributes, count = header[5], header[12]
        if attributes & CONTROL_BIT:
            self._end_transaction(view, header)
            return ()
        if attributes & _NOT_PLAIN or self.open or count > _STEP:
            return self._absorb_in_steps(data, pos, view, header)
        self.record_count += count
        _check_end(read_keyed(data, pos + BATCH_OVERHEAD, count, self._latest), pos + len(view))
        return ()

    def _absorb_in_steps(
        self, data: bytes, pos: int, view: memoryview, header: BatchHeader
    ) -> Iterator[None]:
        attributes, left = header[5], header[12]
        pos, end = pos + BATCH_OVERHEAD, pos + len(view)
        if attributes & CODEC_MASK:
            data = read_payload(view, header, limit=MAX_UNCOMPRESSED_BYTES)
            pos, end = 0, len(data)
        is_plain = not (attributes & TRANSACTIONAL_BIT or self.open)
        found: Latest = self._latest if is_plain else {}
        self.record_count += left
        while left > _STEP:
            pos = read_keyed(data, pos, _STEP, found)
            left -= _STEP
            yield
        _check_end(read_keyed(data, pos, left, found), end)
        if not is_plain:
            self._absorb_apart(found, header)

    def _absorb_apart(self, found: Latest, header: BatchHeader) -> None:
        """A transaction's batch, or one that came while some transaction was open."""
        pending = self.open.setdefault(header.producer_id, {}) if header.is_transactional else None
        for key, value in found.items():
            if pending is None or not key.startswith(self._transactional):
                self._latest[key] = value
                self.positions[key] = header.base_offset
            elif value is None:
                pending.pop(key, None)
            else:
                pending[key] = (value, header.base_offset)

    def _end_transaction(self, view: memoryview, header: BatchHeader) -> None:
        pending = self.open.pop(header.producer_id, {})
        if read_control_type(read_records(view)[0].key) is not ControlType.COMMIT:
            return
        for key, (value, position) in pending.items():
            # A plain commit that came after it stays.
            if self.positions.get(key, -1) < position:
                self._latest[key] = value
                self.positions[key] = position

    def _absorb_old(self, view: memoryview) -> int:
        """A message of format 0 or 1, or many in a wrapper; such a log is a few records long."""
        next_offset = self.next_offset
        for batch in read_batches(view):
            next_offset = batch.next_offset
            for record in batch.records():
                if record.key is None:
                    raise ValueError("a record without a key")
                self._latest[record.key] = record.value
                self.record_count += 1
        return next_offset

    def each(self, take: Callable[[bytes, bytes], None]) -> Iterator[None]:
        """Hands over everything that is left, in the order of the log, once."""
        latest, self._latest = self._latest, {}
        items = iter(latest.items())
        while step := list(islice(items, _STEP)):
            for key, value in step:
                if value is not None:
                    try:
                        take(key, value)
                    except UNREADABLE as error:
                        self.pass_over(f"the record with key {key!r}", error)
            yield

    def pass_over(self, what: str, error: Exception) -> None:
        if not self.unreadable:
            _logger.error("%s: %s cannot be read and is passed over: %s", self.name, what, error)
        self.unreadable += 1


def _check_end(pos: int, end: int) -> None:
    if pos != end:
        raise ValueError(f"its records end {end - pos} bytes before it does")
