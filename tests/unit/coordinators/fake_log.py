"""A coordinator's log in memory: it keeps what is appended, and commits when the test says so."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from ottla.coordinators.batch import build_coordinator_batch
from ottla.coordinators.effects import Record, RecordRows
from ottla.coordinators.log import Producer
from ottla.protocol.errors import ErrorCode
from ottla.protocol.records.batch import patch_batch, read_header
from ottla.protocol.records.record_set import read_batches

OnStored = Callable[[ErrorCode], None]


class FakeLog:
    def __init__(self) -> None:
        self.max_batch_bytes = 1_048_588
        self.commits_at_once = True
        self.refuses_with: ErrorCode | None = None
        self.appends: list[list[Record]] = []  # all that were asked for, one by one
        self.producers: list[Producer | None] = []  # whose transaction they belong to
        self.timeouts_ms: list[int] = []
        self.data = b""
        self.next_offset = 0
        self.in_flight: list[OnStored] = []
        self.reads = 0
        self.unreadable: ErrorCode | None = None
        self.holds_reads = False
        self.held_reads: list[Callable[[], None]] = []

    def append(
        self,
        records: Sequence[Record | RecordRows],
        on_stored: OnStored,
        *,
        timeout_ms: int,
        producer: Producer | None = None,
    ) -> None:
        self.appends.append([each for each in records if isinstance(each, Record)])
        self.producers.append(producer)
        self.timeouts_ms.append(timeout_ms)
        if self.refuses_with is not None:
            asyncio.get_running_loop().call_soon(on_stored, self.refuses_with)
            return
        producer_id, producer_epoch = producer or (-1, -1)
        self.write(
            build_coordinator_batch(
                records,
                timestamp=1,
                producer_id=producer_id,
                producer_epoch=producer_epoch,
                is_transactional=producer is not None,
            )
        )
        self.in_flight.append(on_stored)
        if self.commits_at_once:
            asyncio.get_running_loop().call_soon(self.commit)

    def write(self, batch: bytes) -> int:
        """The batch gets its offset, as from a leader."""
        content, header = bytearray(batch), read_header(batch)
        patch_batch(memoryview(content), header, base_offset=self.next_offset, leader_epoch=3)
        self.data += content
        base_offset, self.next_offset = self.next_offset, self.next_offset + header.record_count
        return base_offset

    def commit(self, error: ErrorCode = ErrorCode.NONE) -> None:
        """What became of everything that is on its way."""
        waiting, self.in_flight = self.in_flight, []
        for on_stored in waiting:
            on_stored(error)

    def read(
        self, from_offset: int, *, max_bytes: int, on_read: Callable[[bytes | ErrorCode], None]
    ) -> None:
        self.reads += 1
        answer = self.unreadable or self._from(from_offset, max_bytes)
        if self.holds_reads:
            self.held_reads.append(lambda: on_read(answer))
        else:
            asyncio.get_running_loop().call_soon(on_read, answer)

    def _from(self, from_offset: int, max_bytes: int) -> bytes:
        for batch in read_batches(self.data, check_crc=False):
            if batch.next_offset > from_offset:
                size_bytes = max(max_bytes, batch.size_bytes)
                return self.data[batch.position : batch.position + size_bytes]
        return b""
