"""A loop that reads, transforms and writes: exactly once, whatever happens to it."""

from __future__ import annotations

from ottla.protocol.apis.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from ottla.protocol.apis.offset_fetch import OffsetFetchResponse
from ottla.protocol.errors import ErrorCode
from ottla.verify.history import Isolation, OffsetsFetched, Read, Source
from tests.simulation.transactions import speech
from tests.simulation.transactions.line import GaveUp
from tests.simulation.transactions.producer import Over, Producer
from tests.simulation.transactions.reader import Reader
from tests.simulation.transactions.speech import Dialect
from tests.simulation.transactions.stage import GROUP, INPUTS, OUTPUTS, Stage


class Transformer:
    """Who has its transactional id has the group: others are fenced before its offsets are read."""

    def __init__(self, stage: Stage, transactional_id: str, speaks: Dialect) -> None:
        self._stage = stage
        self._producer = Producer(stage, transactional_id, speaks)
        self._reader = Reader(
            stage, "transformer", Isolation.READ_COMMITTED, max_wait_ms=100, max_bytes=1_000
        )

    @property
    def client(self) -> str:
        return self._producer.client

    def cut(self) -> None:
        self._producer.cut()
        self._reader.line.cut()

    async def live(self) -> None:
        try:
            await self._producer.initialize()
            await fetch_offsets(self._stage, self._reader)
            while not self._stage.is_closing:
                await self._round()
                await self._stage.dawdle(0.5)
        except (Over, GaveUp):
            pass
        finally:
            self.cut()

    async def _round(self) -> None:
        before = dict(self._reader.positions)
        reads: list[Read] = []
        for partition in INPUTS:
            reads += await self._reader.poll(partition)
        if not reads:
            return
        if not await self._producer.transact(lambda: self._transform(reads)):
            self._reader.assign(before, GROUP)

    async def _transform(self, reads: list[Read]) -> None:
        producer, chance = self._producer, self._stage.chance
        left = list(reads)
        while left:
            count = chance.randint(1, 6)
            piece, left = left[:count], left[count:]
            sources = [Source(GROUP, each.partition, each.offset) for each in piece]
            await producer.send(chance.choice(OUTPUTS), sources)
        offsets = {each.partition: each.offset + 1 for each in reads}
        await producer.send_offsets(GROUP, tuple(offsets.items()))


async def fetch_offsets(stage: Stage, reader: Reader) -> None:
    """Where the group is, once nothing is in doubt; the reader goes there."""
    find = FindCoordinatorRequest(key=GROUP)
    await reader.line.insist(find, FindCoordinatorResponse, 1, lambda each: each.error_code)
    asked = stage.recorder.now()
    error, answer = await reader.line.insist(
        speech.offsets_request(GROUP, INPUTS),
        OffsetFetchResponse,
        speech.OFFSET_FETCH,
        speech.offsets_error,
    )
    assert error is ErrorCode.NONE, f"{reader.client} heard {error.name}"
    offsets, now = speech.offsets_of(answer), stage.recorder.now()
    stage.recorder.add(OffsetsFetched(reader.client, GROUP, offsets, asked, now))
    reader.assign({each: max(0, offset) for each, offset in offsets}, GROUP)
