"""One life of a transactional id: it may end between any two steps, or pause and go on too late.

It does what the clients of others do. All that it does and hears is written down.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from ottla.protocol.apis.add_offsets_to_txn import AddOffsetsToTxnResponse
from ottla.protocol.apis.add_partitions_to_txn import AddPartitionsToTxnResponse
from ottla.protocol.apis.end_txn import EndTxnResponse
from ottla.protocol.apis.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from ottla.protocol.apis.init_producer_id import InitProducerIdResponse
from ottla.protocol.apis.produce import ProduceResponse
from ottla.protocol.apis.txn_offset_commit import TxnOffsetCommitResponse
from ottla.protocol.errors import ErrorCode
from ottla.protocol.schema import Message
from ottla.verify.history import (
    Began,
    Ended,
    Fenced,
    Initialized,
    Offsets,
    OffsetsSent,
    Outcome,
    Sent,
    Source,
    TopicPartition,
)
from tests.simulation.transactions import speech
from tests.simulation.transactions.line import Answer, GaveUp
from tests.simulation.transactions.speech import Dialect, Identity
from tests.simulation.transactions.stage import INPUTS, Stage

_E = ErrorCode
_TRANSACTION_KEY = 1
_FENCED = (_E.PRODUCER_FENCED, _E.INVALID_PRODUCER_EPOCH)
# A partition says so of a transaction that was ended meanwhile: the coordinator knows more.
_SPOILT = (
    _E.INVALID_PRODUCER_EPOCH,
    _E.INVALID_TXN_STATE,
    _E.TRANSACTION_ABORTABLE,
    _E.OUT_OF_ORDER_SEQUENCE_NUMBER,  # a batch that came late is still being verified
)
# The coordinator has forgotten it, or has ended its transaction for it.
_LOST = (_E.INVALID_PRODUCER_ID_MAPPING, _E.INVALID_TXN_STATE)


class Over(Exception):
    """It does nothing any more."""


class Spoilt(Exception):
    """The transaction can only be aborted."""


class Producer:
    def __init__(self, stage: Stage, transactional_id: str, speaks: Dialect) -> None:
        self.client = stage.new_name(transactional_id)
        self.transaction = ""
        self._stage = stage
        self._who = Identity(transactional_id)
        self._speaks = speaks
        self._line = stage.line(self.client)
        self._timeout_ms = stage.chance.choice((2_000, 10_000, 60_000))
        self._added: dict[TopicPartition, None] = {}
        self._sequences: dict[TopicPartition, int] = {}
        self._count = 0

    def cut(self) -> None:
        self._line.cut()

    async def live(self) -> None:
        try:
            await self.initialize()
            while not self._stage.is_closing:
                await self.transact(self._write)
                await self._stage.dawdle(1.0)
        except (Over, GaveUp):
            pass
        finally:
            self.cut()

    async def _write(self) -> None:
        for _ in range(self._stage.chance.randint(1, 5)):
            await self.pause()
            await self.send(self._stage.chance.choice(INPUTS), [None] * self._few())

    def _few(self) -> int:
        return self._stage.chance.randint(1, 3)

    async def pause(self) -> None:
        """Often no time at all; sometimes longer than the transaction may take."""
        if self._stage.happens(0.03):
            await self._stage.dawdle(1.5 * self._timeout_ms / 1000)
        elif self._stage.happens(0.3):
            await self._stage.dawdle(0.3)

    # The steps

    async def initialize(self) -> None:
        find = FindCoordinatorRequest(key=self._who.transactional_id, key_type=_TRANSACTION_KEY)
        await self._line.insist(find, FindCoordinatorResponse, 1, lambda each: each.error_code)
        recorder = self._stage.recorder
        asked = [recorder.now()]

        def error_of(answer: InitProducerIdResponse) -> int:
            if answer.error_code:
                asked[0] = recorder.now()  # whoever gets an epoch asked for it after this
            return answer.error_code

        def note(outcome: Outcome, now: int, _: object) -> None:
            name = self._who.transactional_id
            recorder.add(Initialized(self.client, name, asked[0], now, outcome))

        request = speech.init_request(self._who, timeout_ms=self._timeout_ms)
        version = self._speaks.init
        answer = await self._ask(request, InitProducerIdResponse, version, error_of, note)
        self._who = self._who._replace(producer_id=answer.producer_id, epoch=answer.producer_epoch)
        self._sequences = {}

    async def transact(self, work: Callable[[], Awaitable[None]]) -> bool:
        """Whether it is surely committed."""
        self._count += 1
        self.transaction = f"{self.client}/{self._count}"
        self._added, recorder = {}, self._stage.recorder
        name = self._who.transactional_id
        recorder.add(Began(self.client, name, self.transaction, recorder.now()))
        try:
            await work()
            await self.pause()
            is_commit = self._stage.chance.random() < 0.75
            await self.end(is_commit=is_commit)
        except Spoilt:
            await self._recover()
            return False
        return is_commit

    async def _recover(self) -> None:
        await self.end(is_commit=False)
        if not self._speaks.can_go_on:
            raise Over
        await self.initialize()

    async def add(self, partition: TopicPartition) -> None:
        if partition not in self._added:
            request = speech.add_request(self._who, partition)
            version = self._speaks.add
            await self._ask(request, AddPartitionsToTxnResponse, version, speech.add_error)
            self._added[partition] = None

    async def send(self, partition: TopicPartition, sources: Sequence[Source | None]) -> None:
        """A batch with a record for each of them."""
        await self.add(partition)
        await self.pause()
        self._count += 1
        asked = [self._stage.recorder.now() for _ in sources]
        values = [f"{self.transaction}/{self._count}/{index}" for index in range(len(sources))]

        def note(outcome: Outcome, now: int, answer: ProduceResponse | None) -> None:
            base = speech.base_offset(answer) if answer and outcome is Outcome.OK else None
            for index, value in enumerate(values):
                offset = None if base is None else base + index
                sent = Sent(self.client, partition, value, asked[index], now, self.transaction)
                self._stage.recorder.add(
                    sent._replace(outcome=outcome, offset=offset, source=sources[index])
                )

        sequence = self._sequences.get(partition, 0)
        now_ms = self._stage.machine.clock.now_ms()
        request = speech.produce_request(
            self._who, partition, values, sequence=sequence, now_ms=now_ms
        )
        version = self._speaks.produce
        if self._stage.happens(0.03):
            # It does not wait to hear: the batch comes after the end, perhaps.
            self._line.post(request, version)
            note(Outcome.UNKNOWN, self._stage.recorder.now(), None)
            raise Spoilt
        await self._ask(
            request, ProduceResponse, version, speech.produce_error, note, is_spoilt_by=_SPOILT
        )
        self._sequences[partition] = sequence + len(values)

    async def send_offsets(self, group: str, offsets: Offsets) -> None:
        request = speech.add_offsets_request(self._who, group)
        version = self._speaks.add_offsets
        await self._ask(request, AddOffsetsToTxnResponse, version, lambda each: each.error_code)
        await self.pause()
        asked = self._stage.recorder.now()

        def note(outcome: Outcome, now: int, _: object) -> None:
            name = self.transaction
            sent = OffsetsSent(self.client, name, group, offsets, asked, now, outcome)
            self._stage.recorder.add(sent)

        await self._ask(
            speech.commit_offsets_request(self._who, group, offsets),
            TxnOffsetCommitResponse,
            self._speaks.commit_offsets,
            speech.commit_offsets_error,
            note,
            is_spoilt_by=_SPOILT,
        )

    async def end(self, *, is_commit: bool) -> None:
        asked = self._stage.recorder.now()

        def note(outcome: Outcome, now: int, _: object) -> None:
            ended = Ended(self.client, self.transaction, is_commit, asked, now, outcome)
            self._stage.recorder.add(ended)

        request = speech.end_request(self._who, is_commit=is_commit)
        version = self._speaks.end
        await self._ask(request, EndTxnResponse, version, lambda each: each.error_code, note)

    async def _ask(
        self,
        request: Message,
        expected: type[Answer],
        version: int,
        error_of: Callable[[Answer], int],
        note: Callable[[Outcome, int, Answer | None], None] = lambda *_: None,
        *,
        is_spoilt_by: Sequence[ErrorCode] = (),
    ) -> Answer:
        """What it asks for is noted, whether it hears of it or not."""
        outcome, found = Outcome.UNKNOWN, None
        try:
            error, found = await self._line.insist(request, expected, version, error_of)
            if error is _E.NONE:
                outcome = Outcome.OK
        finally:
            note(outcome, self._stage.recorder.now(), found)
        if error in is_spoilt_by:
            raise Spoilt
        self._judge(error)
        return found

    def _judge(self, error: ErrorCode) -> None:
        if error is _E.NONE:
            self._stage.acknowledged.set()
            return
        if error in _FENCED:
            now = self._stage.recorder.now()
            self._stage.recorder.add(Fenced(self.client, self._who.transactional_id, now))
        assert error in (*_FENCED, *_LOST), f"{self.client} heard {error.name}"
        raise Over
