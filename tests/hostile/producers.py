"""Producers that remember what was acknowledged, and go on after the broker has died."""

from __future__ import annotations

import threading
from collections.abc import Callable

from ottla.protocol.apis.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from ottla.protocol.apis.produce import ProduceResponse
from ottla.protocol.errors import ErrorCode
from tests.hostile.client import (
    PRODUCE_VERSION,
    Client,
    Gone,
    batch_of,
    produce,
    produce_request,
    produced,
)

_PIPELINED = 20
RETRIABLE = (ErrorCode.KAFKA_STORAGE_ERROR, ErrorCode.NOT_LEADER_OR_FOLLOWER)


class Producer(threading.Thread):
    """Sends numbered values until `over`; `acknowledged` maps an offset to what was sent."""

    def __init__(self, connect: Callable[[], Client], topic: str, over: threading.Event) -> None:
        super().__init__(name=topic)
        self.topic = topic
        self.acknowledged: dict[int, bytes] = {}
        self.sent = 0
        self.error: BaseException | None = None
        self._connect = connect
        self._over = over

    def run(self) -> None:
        try:
            while not self._over.is_set():
                try:
                    with self._connect() as client:
                        self.work(client)
                except (Gone, OSError):
                    continue  # killed: once more
        except BaseException as error:
            self.error = error

    def work(self, client: Client) -> None:
        raise AssertionError("each kind has its own way")

    def value(self) -> bytes:
        self.sent += 1
        return b"%s %d " % (self.topic.encode(), self.sent) * 10


class Pipelining(Producer):
    """Twenty requests on their way at once; what was not answered may or may not be there."""

    def __init__(
        self, connect: Callable[[], Client], topic: str, over: threading.Event, *, acks: int
    ) -> None:
        super().__init__(connect, topic, over)
        self._acks = acks

    def work(self, client: Client) -> None:
        waiting: list[bytes] = []
        while not self._over.is_set():
            while len(waiting) < _PIPELINED:
                waiting.append(self.value())
                request = produce_request(self.topic, batch_of(waiting[-1]), acks=self._acks)
                client.send(request, PRODUCE_VERSION)
            answer, value = produced(client.receive(ProduceResponse)), waiting.pop(0)
            if answer.error_code not in RETRIABLE:
                assert not answer.error_code, ErrorCode(answer.error_code)
                self.acknowledged[answer.base_offset] = value


class Idempotent(Producer):
    """One request at a time, and the same again until it is acknowledged: nothing twice."""

    refused = 0
    _producer_id = -1
    _pending: bytes | None = None
    _sequence = 0

    def work(self, client: Client) -> None:
        if self._producer_id < 0:
            self._producer_id = _new_producer_id(client)
        while not self._over.is_set() or self._pending is not None:
            if self._pending is None:
                self._pending = self.value()
            records = batch_of(
                self._pending, producer_id=self._producer_id, base_sequence=self._sequence
            )
            answer = produce(client, self.topic, records, acks=-1)
            if answer.error_code in RETRIABLE:
                self.refused += 1
                continue
            assert not answer.error_code, ErrorCode(answer.error_code)
            self.acknowledged[answer.base_offset] = self._pending
            self._sequence, self._pending = self._sequence + 1, None


def _new_producer_id(client: Client) -> int:
    request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=60_000)
    answer = client.ask(request, 3, InitProducerIdResponse)
    assert not answer.error_code
    return answer.producer_id


def expect_all(found: list[tuple[int, bytes | None]], producer: Producer) -> None:
    """Everything acknowledged is there, at its offset and with its content."""
    assert producer.error is None, repr(producer.error)
    there = dict(found)
    assert [offset for offset, _ in found] == list(range(len(found)))
    lost = {at: sent for at, sent in producer.acknowledged.items() if there.get(at) != sent}
    assert not lost, f"{len(lost)} of {len(producer.acknowledged)}: {sorted(lost)[:5]}"
    if isinstance(producer, Idempotent):
        values = [value for _, value in found]
        assert len(values) == len(set(values)), "something is there twice"
