"""Readers of what is committed and of everything, who leave out themselves what was aborted."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import NamedTuple

from ottla.protocol.apis.fetch import (
    AbortedTransaction,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
)
from ottla.protocol.errors import ErrorCode
from ottla.protocol.records.batch import BatchHeader
from ottla.protocol.records.control import ControlType, read_control_type
from ottla.protocol.records.record_set import Batch, read_batches
from ottla.verify.history import Assigned, FinalRead, Isolation, Read, TopicPartition
from tests.simulation.broker.conversation import FETCH_VERSION, records_of
from tests.simulation.transactions.line import GaveUp
from tests.simulation.transactions.stage import INPUTS, OUTPUTS, Stage

_COMMITTED = Isolation.READ_COMMITTED
Found = list[tuple[int, str]]  # offsets and values


class Fetched(NamedTuple):
    records: Found
    position: int  # where to go on
    is_end: bool
    is_settled: bool  # no transaction is open


class Reader:
    """`max_wait_ms` is how long a fetch may wait for more."""

    def __init__(
        self,
        stage: Stage,
        name: str,
        isolation: Isolation,
        *,
        max_wait_ms: int,
        max_bytes: int = 1 << 20,
    ) -> None:
        self.client = stage.new_name(name)
        self.line = stage.line(self.client)
        self.positions: dict[TopicPartition, int] = {}
        self._stage = stage
        self._isolation = isolation
        self._max_wait_ms = max_wait_ms
        self._max_bytes = max_bytes

    async def live(self) -> None:
        self.assign(dict.fromkeys(INPUTS + OUTPUTS, 0))
        while not self._stage.is_closing:
            try:
                for partition in self.positions:
                    await self.poll(partition)
            except GaveUp:
                pass
            await self._stage.dawdle(0.5)
            if self._stage.happens(0.02):
                back = self._stage.chance.randint
                self.assign({each: back(0, at) for each, at in self.positions.items()})

    def assign(self, positions: dict[TopicPartition, int], group: str | None = None) -> None:
        self.positions = dict(positions)
        now = self._stage.recorder.now()
        places = tuple(self.positions.items())
        self._stage.recorder.add(Assigned(self.client, places, now, group))

    async def poll(self, partition: TopicPartition) -> list[Read]:
        found = await self.fetch(partition, self.positions[partition])
        reads = []
        for offset, value in found.records:
            now = self._stage.recorder.now()
            reads.append(Read(self.client, partition, offset, value, now, self._isolation))
            self._stage.recorder.add(reads[-1])
        self.positions[partition] = found.position
        return reads

    async def read_all(self, partition: TopicPartition) -> None:
        """When all is over."""
        position, records = 0, Found()
        while True:
            found = await self.fetch(partition, position)
            records += found.records
            position = found.position
            if found.is_end:
                break
        self._stage.recorder.add(FinalRead(partition, self._isolation, tuple(records)))

    async def fetch(self, partition: TopicPartition, position: int) -> Fetched:
        place = FetchPartition(
            partition=partition.partition,
            fetch_offset=position,
            partition_max_bytes=self._max_bytes,
        )
        request = FetchRequest(
            max_wait_ms=self._max_wait_ms,
            min_bytes=1,
            isolation_level=int(self._isolation is _COMMITTED),
            topics=[FetchTopic(topic=partition.topic, partitions=[place])],
        )
        error, answer = await self.line.insist(request, FetchResponse, FETCH_VERSION, _error)
        assert error is ErrorCode.NONE, f"{self.client} at {position} of {partition}: {error.name}"
        return _visible(answer.responses[0].partitions[0], position, self._isolation)


def _error(answer: FetchResponse) -> int:
    return answer.error_code or answer.responses[0].partitions[0].error_code


def _visible(data: PartitionData, position: int, isolation: Isolation) -> Fetched:
    aborted = deque(sorted((each.first_offset, each.producer_id) for each in _aborted(data)))
    in_aborted: dict[int, None] = {}
    found: Found = []
    for batch in read_batches(records_of(data)) if data.records else ():
        header = batch.content
        assert isinstance(header, BatchHeader)
        while isolation is _COMMITTED and aborted and aborted[0][0] <= batch.last_offset:
            in_aborted[aborted.popleft()[1]] = None
        if header.is_control:
            if _is_abort(batch):
                in_aborted.pop(header.producer_id, None)
        elif not (header.is_transactional and header.producer_id in in_aborted):
            found += [
                (record.offset, (record.value or b"").decode())
                for record in batch.records()
                if record.offset >= position
            ]
        position = max(position, batch.next_offset)
    is_committed = isolation is _COMMITTED
    end = data.last_stable_offset if is_committed else data.high_watermark
    is_settled = data.last_stable_offset == data.high_watermark
    return Fetched(found, position, position >= end, is_settled)


def _aborted(data: PartitionData) -> list[AbortedTransaction]:
    return data.aborted_transactions or []


def _is_abort(batch: Batch) -> bool:
    return read_control_type(batch.records()[0].key) is ControlType.ABORT


async def settled(stage: Stage, *, within_s: float) -> None:
    """Until every transaction has its markers in every partition."""
    reader = Reader(stage, "auditor", _COMMITTED, max_wait_ms=0)
    ends = asyncio.get_running_loop().time() + within_s
    for partition in INPUTS + OUTPUTS:
        while not (await reader.fetch(partition, 0)).is_settled:
            assert asyncio.get_running_loop().time() < ends, f"a transaction hangs in {partition}"
            await asyncio.sleep(0.5)
