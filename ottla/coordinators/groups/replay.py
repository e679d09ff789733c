"""Reads the log of a partition again: what is left of it after the last record is its state.

Of each key only the last value counts, so values are not looked at before the end is reached: for a
log that is not compacted yet, most of the work is saved. All in small steps: a generator yields
whenever somebody else might have their turn.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from itertools import islice
from struct import Struct
from struct import error as StructError
from typing import Protocol

from ottla.coordinators.groups.keyed_records import Latest, read_keyed
from ottla.coordinators.groups.offsets import Offsets
from ottla.coordinators.groups.records import (
    GroupKey,
    OffsetKey,
    check_offset_value,
    parse_key,
)
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
_OFFSET_VERSIONS = (b"\0\1", b"\0\0")
_START = Struct(">qi4xb")  # base offset, length, (leader epoch,) magic
_INT32 = Struct(">i")
_NOT_PLAIN = CODEC_MASK | TRANSACTIONAL_BIT
_UNREADABLE = (ProtocolError, IndexError, ValueError, StructError)


class State(Protocol):
    """What is restored."""

    def offsets_of(self, group_id: str) -> Offsets: ...

    def pending_offsets_of(self, group_id: str, producer_id: int) -> Offsets:
        """Some of which belong to a transaction of that producer."""
        ...

    def restore_group(self, group_id: str, value: bytes) -> None: ...


class Replay:
    """`absorb` each piece of the log in order, then `restore`."""

    def __init__(self, name: str) -> None:
        self.next_offset = 0
        self.record_count = 0
        self.unreadable = 0  # batches and records that were passed over
        self._name = name
        self._latest: Latest = {}
        # Offsets in open transactions, by producer: the value and where its batch is.
        self._open: dict[int, dict[bytes, tuple[bytes, int]]] = {}
        # Where the last value of a key is from; known only where a transaction could ask.
        self._positions: dict[bytes, int] = {}

    def absorb(self, data: bytes) -> Iterator[None]:
        """Whole batches; one that is cut off at the end is left for the next time."""
        view, size, pos, work = memoryview(data), len(data), 0, 0
        while size - pos >= _START.size:
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
            except _UNREADABLE as error:
                self._pass_over(f"the batch at offset {base_offset}", error)
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
        if attributes & _NOT_PLAIN or self._open or count > _STEP:
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
        is_plain = not (attributes & TRANSACTIONAL_BIT or self._open)
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
        pending = self._open.setdefault(header.producer_id, {}) if header.is_transactional else None
        for key, value in found.items():
            if pending is None or key[:2] not in _OFFSET_VERSIONS:
                self._latest[key] = value
                self._positions[key] = header.base_offset
            elif value is None:
                pending.pop(key, None)
            else:
                pending[key] = (value, header.base_offset)

    def _end_transaction(self, view: memoryview, header: BatchHeader) -> None:
        pending = self._open.pop(header.producer_id, {})
        if read_control_type(read_records(view)[0].key) is not ControlType.COMMIT:
            return
        for key, (value, position) in pending.items():
            # A plain commit that came after it stays.
            if self._positions.get(key, -1) < position:
                self._latest[key] = value
                self._positions[key] = position

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

    def restore(self, state: State) -> Iterator[None]:
        """Hands over everything that is left, groups and offsets in the order of the log."""
        items = iter(self._latest.items())
        caches: tuple[dict[bytes, Offsets], dict[bytes, str]] = ({}, {})
        while step := list(islice(items, _STEP)):
            for key, value in step:
                if value is not None:
                    try:
                        self._restore(state, key, value, *caches)
                    except _UNREADABLE as error:
                        self._pass_over(f"the record with key {key!r}", error)
            yield
        self._latest = {}
        self._restore_open(state)

    def _restore(
        self,
        state: State,
        key: bytes,
        value: bytes,
        by_group: dict[bytes, Offsets],
        topics: dict[bytes, str],
    ) -> None:
        if key[:2] not in _OFFSET_VERSIONS:
            found = parse_key(key)
            if isinstance(found, GroupKey):
                state.restore_group(found.group, value)
            return
        # As `parse_key`, without making the same strings over and over.
        middle = 4 + (key[2] << 8 | key[3])
        last = middle + 2 + (key[middle] << 8 | key[middle + 1])
        group, name = key[4:middle], key[middle + 2 : last]
        (partition,) = _INT32.unpack_from(key, last)
        topic = topics.get(name)
        if topic is None:
            topic = topics[name] = name.decode()
        check_offset_value(value)
        offsets = by_group.get(group)
        if offsets is None:
            offsets = by_group[group] = state.offsets_of(group.decode())
        offsets.committed[topic, partition] = value

    def _restore_open(self, state: State) -> None:
        for producer_id, pending in self._open.items():
            for key, (value, position) in pending.items():
                try:
                    self._restore_pending(state, producer_id, key, value, position)
                except _UNREADABLE as error:
                    self._pass_over(f"the record with key {key!r}", error)

    def _restore_pending(
        self, state: State, producer_id: int, key: bytes, value: bytes, position: int
    ) -> None:
        found = parse_key(key)
        assert isinstance(found, OffsetKey)
        check_offset_value(value)
        offsets = state.pending_offsets_of(found.group, producer_id)
        partition = (found.topic, found.partition)
        committed = offsets.committed.get(partition)
        later = self._positions.get(key, -1)
        if committed is None and later > position:
            return  # it was deleted while it waited
        offsets.begin_transactional(producer_id, partition, value, position=position)
        if committed is not None and later > position:
            offsets.apply(partition, committed, position=later)

    def _pass_over(self, what: str, error: Exception) -> None:
        if not self.unreadable:
            _logger.error("%s: %s cannot be read and is passed over: %s", self._name, what, error)
        self.unreadable += 1


def _check_end(pos: int, end: int) -> None:
    if pos != end:
        raise ValueError(f"its records end {end - pos} bytes before it does")
