"""The one door to confluent-kafka, which is there only with the extra `cli`.

What it says in classes and callbacks of its own leaves here in ours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any

from ottla.admin.cluster import TopicPartition
from ottla.admin.consuming import EndReached, IncomingRecord
from ottla.admin.extras import MissingExtra
from ottla.admin.producing import OnDelivery, OutgoingRecord, Receipt

POLLED_AT_ONCE = 500
_QUEUE_FULL_WAIT_S = 0.1
QUIET: dict[str, str | int] = {
    "client.id": "ottla",
    "log_level": 0,
}  # what matters comes as an error

Settings = Mapping[str, str | int | bool]
OnPartitions = Callable[[Sequence[TopicPartition]], None]


class ClientFailed(Exception):
    """What the client library gave up on, in its words."""


def load() -> ModuleType:
    try:
        import confluent_kafka  # noqa: PLC0415
    except ImportError as cause:
        raise MissingExtra("confluent-kafka") from cause
    return confluent_kafka


class ConfluentSender:
    """Sends to one topic, and to one partition of it if that is given."""

    def __init__(self, topic: str, partition: int | None, settings: Settings) -> None:
        self._library: Any = load()
        self._topic = topic
        self._partition = -1 if partition is None else partition
        # Java's way from key to partition, so that records meet those of other producers.
        own: Settings = {**QUIET, "partitioner": "murmur2_random"}
        self._producer = made(self._library.Producer, self._library, {**own, **settings})

    def send(self, record: OutgoingRecord, on_delivery: OnDelivery) -> None:
        # The library takes 0 for now.
        timestamp = record.timestamp or 0
        while True:
            try:
                self._producer.produce(
                    self._topic,
                    value=record.value,
                    key=record.key,
                    partition=self._partition,
                    headers=list(record.headers),
                    timestamp=timestamp,
                    on_delivery=lambda error, message: on_delivery(_receipt(error, message)),
                )
            except BufferError:
                self._producer.poll(_QUEUE_FULL_WAIT_S)
            except self._library.KafkaException as refused:
                on_delivery(_receipt(refused.args[0], None))
                return
            else:
                self._producer.poll(0)
                return

    def flush(self, timeout_s: float) -> int:
        left: int = self._producer.flush(timeout_s)
        return left


class ConfluentSource:
    """Reads from partitions that are named, or from those that the group gives it.

    `on_trouble` hears what the library goes on trying to mend: that no broker can be reached.
    """

    def __init__(
        self,
        settings: Settings,
        on_trouble: Callable[[str], None],
        *,
        polled_at_once: int = POLLED_AT_ONCE,
    ) -> None:
        self._library: Any = load()
        self._polled_at_once = polled_at_once

        def hear(error: Any) -> None:
            if error.code() == self._library.KafkaError._ALL_BROKERS_DOWN:
                on_trouble(error.str())

        own = {**QUIET, "enable.partition.eof": True, "error_cb": hear}
        self._consumer = made(self._library.Consumer, self._library, {**own, **settings})

    def assign(self, positions: Mapping[TopicPartition, int]) -> None:
        place = self._library.TopicPartition
        self._consumer.assign([place(*each, offset) for each, offset in positions.items()])

    def subscribe(
        self,
        topic: str,
        *,
        on_assigned: OnPartitions | None = None,
        on_revoked: OnPartitions | None = None,
    ) -> None:
        listeners = {"on_assign": on_assigned, "on_revoke": on_revoked}
        self._consumer.subscribe(
            [topic], **{name: _listener(each) for name, each in listeners.items() if each}
        )

    def store(self, positions: Mapping[TopicPartition, int]) -> None:
        """Marks what may be committed; the library commits it from time to time, and at its end."""
        place = self._library.TopicPartition
        for each, offset in positions.items():
            try:
                self._consumer.store_offsets(offsets=[place(*each, offset)])
            except self._library.KafkaException as refused:
                # Taken away meanwhile: who has it now reads it again.
                if refused.args[0].code() != self._library.KafkaError._STATE:
                    raise ClientFailed(words(refused)) from refused

    def commit(self, positions: Mapping[TopicPartition, int]) -> None:
        """Waits until it is done."""
        place = self._library.TopicPartition
        offsets = [place(*each, offset) for each, offset in positions.items()]
        try:
            self._consumer.commit(offsets=offsets, asynchronous=False)
        except self._library.KafkaException as refused:
            raise ClientFailed(words(refused)) from refused

    def seek(self, positions: Mapping[TopicPartition, int]) -> None:
        place = self._library.TopicPartition
        try:
            for each, offset in positions.items():
                self._consumer.seek(place(*each, offset))
        except self._library.KafkaException as refused:
            raise ClientFailed(words(refused)) from refused

    def committed(
        self, partitions: Sequence[TopicPartition], timeout_s: float
    ) -> dict[TopicPartition, int | None]:
        """What its group has; if it reads what is committed, transactions are waited for."""
        place = self._library.TopicPartition
        try:
            found = self._consumer.committed([place(*each) for each in partitions], timeout_s)
        except self._library.KafkaException as refused:
            raise ClientFailed(words(refused)) from refused
        if failed := [each for each in found if each.error is not None]:
            raise ClientFailed(failed[0].error.str())
        return {
            TopicPartition(each.topic, each.partition): each.offset if each.offset >= 0 else None
            for each in found
        }

    def membership(self) -> object:
        """As a transactional producer wants it beside the offsets that it sends."""
        return self._consumer.consumer_group_metadata()

    def poll(self, timeout_s: float) -> Sequence[IncomingRecord | EndReached]:
        messages = self._consumer.consume(num_messages=self._polled_at_once, timeout=timeout_s)
        return [self._event(message) for message in messages]

    def read_sizes(self, timeout_s: float) -> tuple[int, int]:
        """How many records came, and their bytes: to measure, without looking at them."""
        messages = self._consumer.consume(num_messages=self._polled_at_once, timeout=timeout_s)
        size = number = 0
        for message in messages:
            if message.error() is None:
                number += 1
                size += len(message)
            else:
                self._event(message)
        return number, size

    def assigned(self) -> Sequence[TopicPartition]:
        return [TopicPartition(each.topic, each.partition) for each in self._consumer.assignment()]

    def close(self) -> None:
        self._consumer.close()

    def _event(self, message: Any) -> IncomingRecord | EndReached:
        partition = TopicPartition(message.topic(), message.partition())
        error = message.error()
        if error is not None and error.code() == self._library.KafkaError._PARTITION_EOF:
            return EndReached(partition)
        if error is not None:
            raise ClientFailed(error.str())
        kind, timestamp = message.timestamp()
        is_known = kind != self._library.TIMESTAMP_NOT_AVAILABLE
        return IncomingRecord(
            partition=partition,
            offset=message.offset(),
            timestamp=timestamp if is_known else None,
            is_append_time=kind == self._library.TIMESTAMP_LOG_APPEND_TIME,
            key=message.key(),
            value=message.value(),
            headers=_headers(message),
        )


def _headers(message: Any) -> tuple[tuple[str, bytes | None], ...]:
    """The library cannot read a name that is not UTF-8, and must not be asked a second time.

    Nor directly: Python looks at once whether a call went wrong only where it is made for it.
    """
    try:
        (found,) = map(type(message).headers, [message])
    except SystemError:
        return (("\N{REPLACEMENT CHARACTER}", None),)
    return tuple(found or ())


def made(client: Any, library: Any, settings: Mapping[str, object]) -> Any:
    try:
        return client(dict(settings))
    except library.KafkaException as refused:
        raise ClientFailed(words(refused)) from refused


def _receipt(error: Any, message: Any) -> Receipt:
    if error is not None:
        return Receipt(error=error.name(), failure=error.str())
    return Receipt(message.partition(), message.offset(), message.latency() * 1000)


def _listener(on_partitions: OnPartitions) -> Callable[[Any, Any], None]:
    def hear(consumer: Any, places: Any) -> None:
        on_partitions([TopicPartition(each.topic, each.partition) for each in places])

    return hear


def words(refused: Any) -> str:
    """Its exceptions hold an error, which holds the sentence."""
    told: str = refused.args[0].str()
    return told
