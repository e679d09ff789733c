"""Clients of transactions through confluent-kafka: producers, readers, members of a group.

They speak in plain tuples and answers, as whoever puts a cluster to work wants it: a failure is
news, not an end.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from functools import partial
from typing import Any, NamedTuple

from ottla.admin.cluster import Cluster, TopicPartition
from ottla.admin.confluent import QUIET, ClientFailed, ConfluentSource, Settings, load, made, words
from ottla.admin.consuming import IncomingRecord, batches, starting_offsets
from ottla.admin.offsets import LATEST, find
from ottla.protocol.errors import ErrorCode, KafkaError

Place = tuple[str, int]
Position = tuple[Place, int]
Incoming = tuple[Place, int, str]

_ANSWER_S = 30.0
_GLANCE_S = 0.005
_POLLED_AT_ONCE = 20
_SETTLING_ATTEMPTS = 30  # with back-off, about a minute
# Where all brokers were away, newer libraries start over with new objects for them, and
# send_offsets_to_transaction waits without end for the old one (librdkafka issue 5511).
_KEEPS_BROKERS: Settings = {"metadata.recovery.strategy": "none"}
_FENCED = ("_FENCED", "PRODUCER_FENCED", "INVALID_PRODUCER_EPOCH")


class Answer(NamedTuple):
    """Unless it is ok nobody knows whether it happened."""

    is_ok: bool
    is_fenced: bool = False
    words: str = ""


class TransactionalProducer:
    def __init__(self, transactional_id: str, settings: Settings) -> None:
        self._library: Any = load()
        own = {**QUIET, "transactional.id": transactional_id, "linger.ms": 1, "logger": _silent()}
        make = partial(made, self._library.Producer, self._library)
        try:
            self._producer: Any = make({**own, **_KEEPS_BROKERS, **settings})
        except ClientFailed:
            self._producer = make({**own, **settings})  # an older library does not know it

    def initialize(self) -> Answer | None:
        """None: not yet; the library goes on with it, and is asked again."""
        try:
            self._producer.init_transactions(_GLANCE_S)
        except self._library.KafkaException as refused:
            if refused.args[0].code() == self._library.KafkaError._TIMED_OUT:
                return None
            return self._refused(refused)
        return Answer(True)

    def begin(self) -> Answer:
        return self._ask(self._producer.begin_transaction)

    def send(self, partition: Place, value: str, on_delivery: Callable[[int | None], None]) -> None:
        def hear(error: Any, message: Any) -> None:
            is_known = error is None and message.offset() >= 0
            on_delivery(message.offset() if is_known else None)

        try:
            self._producer.produce(
                partition[0], partition=partition[1], value=value.encode(), on_delivery=hear
            )
        except (BufferError, self._library.KafkaException):
            on_delivery(None)
        self._listen()

    def send_offsets(self, offsets: Sequence[Position], membership: object) -> Answer:
        places = [self._library.TopicPartition(*place, offset) for place, offset in offsets]
        return self._ask(
            lambda: self._producer.send_offsets_to_transaction(places, membership, _ANSWER_S)
        )

    def end(self, *, is_commit: bool) -> Answer:
        producer = self._producer
        ask = producer.commit_transaction if is_commit else producer.abort_transaction
        answer = self._ask(lambda: ask(_ANSWER_S))
        self._listen()
        return answer

    def abandon(self) -> None:
        # Its destruction ends no transaction; what is queued would only delay it.
        if self._producer is not None:
            with suppress(self._library.KafkaException):
                self._producer.purge()
            self._listen()
            self._producer = None

    def _listen(self) -> None:
        """To what became of records. What is fatal is told by whoever is asked next."""
        with suppress(self._library.KafkaException):
            self._producer.poll(0)

    def _ask(self, ask: Callable[[], object]) -> Answer:
        """Again, if the library says that it may be tried again and nothing was decided."""
        for _ in range(2):
            try:
                ask()
            except self._library.KafkaException as refused:
                answer = self._refused(refused)
                if not refused.args[0].retriable():
                    return answer
            else:
                return Answer(True)
        return answer

    def _refused(self, refused: Any) -> Answer:
        return Answer(False, refused.args[0].name() in _FENCED, words(refused))


class TransactionalConsumer:
    """A `ConfluentSource` that never ends a workload by an exception."""

    def __init__(self, settings: Settings) -> None:
        self._source = ConfluentSource(
            settings, lambda trouble: None, polled_at_once=_POLLED_AT_ONCE
        )
        self.membership = self._source.membership
        self.close = self._source.close

    def assign(self, positions: Sequence[Position]) -> None:
        self._source.assign(_positions(positions))

    def subscribe(
        self,
        topic: str,
        *,
        on_assigned: Callable[[Sequence[Place]], None],
        on_revoked: Callable[[Sequence[Place]], None],
    ) -> None:
        self._source.subscribe(topic, on_assigned=on_assigned, on_revoked=on_revoked)

    def poll(self, timeout_s: float) -> list[Incoming]:
        found = self._source.poll(timeout_s)
        return [_incoming(each) for each in found if isinstance(each, IncomingRecord)]

    def seek(self, positions: Sequence[Position]) -> bool:
        try:
            self._source.seek(_positions(positions))
        except ClientFailed:
            return False
        return True

    def committed(self, partitions: Sequence[Place]) -> list[Position] | None:
        places = [TopicPartition(*each) for each in partitions]
        try:
            found = self._source.committed(places, _ANSWER_S)
        except ClientFailed:
            return None
        return [(each, -1 if offset is None else offset) for each, offset in found.items()]


class TransactionalClients:
    """Makes them for one cluster."""

    def __init__(self, bootstrap: str) -> None:
        self._settings: Settings = {"bootstrap.servers": bootstrap}

    def producer(self, transactional_id: str) -> TransactionalProducer:
        return TransactionalProducer(transactional_id, self._settings)

    def reader(self, *, read_committed: bool) -> TransactionalConsumer:
        return TransactionalConsumer(self._reading("ottla-verify", read_committed=read_committed))

    def member(self, group: str) -> TransactionalConsumer:
        return TransactionalConsumer(self._reading(group, read_committed=True))

    def everything(
        self, partitions: Sequence[Place], *, read_committed: bool
    ) -> Iterator[Incoming]:
        """From the beginning of each partition to its end as it is now."""
        settings = self._reading("ottla-verify", read_committed=read_committed)
        with closing(ConfluentSource(settings, lambda trouble: None)) as source:
            source.assign({TopicPartition(*each): 0 for each in partitions})
            for records in batches(
                source, at_most=None, stop_at_end=True, is_stopped=lambda: False
            ):
                yield from map(_incoming, records)

    def _reading(self, group: str, *, read_committed: bool) -> Settings:
        return {
            **self._settings,
            "group.id": group,
            "isolation.level": "read_committed" if read_committed else "read_uncommitted",
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
        }


async def settle(cluster: Cluster, partitions: Sequence[TopicPartition]) -> str:
    """Waits until the last stable offset of each is its end; or says of one that it is not."""
    hanging = ""
    for attempt in range(_SETTLING_ATTEMPTS):
        await cluster.back_off(attempt)
        stable = await find(cluster, partitions, LATEST, read_committed=True)
        ends = await starting_offsets(cluster, partitions, LATEST)
        hanging = ""
        for partition, answer in stable.items():
            if isinstance(answer, KafkaError):
                raise KafkaError(ErrorCode(answer.code), f"{partition}: {answer.detail}")
            if answer.offset != ends[partition]:
                hanging = (
                    f"the last stable offset of {partition} stands still at {answer.offset}, and "
                    f"its end is {ends[partition]}: a transaction hangs there"
                )
        if not hanging:
            break
    return hanging


def _silent() -> logging.Logger:
    """The library writes to stderr that a producer is fenced, which here is as it should be."""
    logger = logging.getLogger("ottla.admin.transactional.library")
    logger.disabled = True
    return logger


def _positions(positions: Sequence[Position]) -> dict[TopicPartition, int]:
    return {TopicPartition(*place): offset for place, offset in positions}


def _incoming(record: IncomingRecord) -> Incoming:
    return record.partition, record.offset, (record.value or b"").decode(errors="replace")
