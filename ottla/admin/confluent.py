"""The one door to confluent-kafka, which is there only with the extra `cli`.

What it says in classes and callbacks of its own leaves here in ours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any

from ottla.admin.cluster import TopicPartition
from ottla.admin.consuming import EndReached, IncomingRecord
from ottla.admin.producing import OutgoingRecord

_POLLED_AT_ONCE = 500
_QUEUE_FULL_WAIT_S = 0.1
_QUIET: dict[str, str | int] = {
    "client.id": "ottla",
    "log_level": 0,
}  # what matters comes as an error

Settings = Mapping[str, str | int | bool]


class MissingExtra(Exception):
    """confluent-kafka is not installed; the message says how to get it."""

    def __init__(self) -> None:
        super().__init__(
            "this command needs confluent-kafka. Install it with `pip install 'ottla[cli]'`"
        )


class ClientFailed(Exception):
    """What the client library gave up on, in its words."""


def load() -> ModuleType:
    try:
        import confluent_kafka  # noqa: PLC0415
    except ImportError as cause:
        raise MissingExtra from cause
    return confluent_kafka


class ConfluentSender:
    """Sends to one topic, and to one partition of it if that is given."""

    def __init__(self, topic: str, partition: int | None, settings: Settings) -> None:
        self._library: Any = load()
        self._topic = topic
        self._partition = -1 if partition is None else partition
        # Java's way from key to partition, so that records meet those of other producers.
        own: Settings = {**_QUIET, "partitioner": "murmur2_random"}
        self._producer = _made(self._library.Producer, self._library, {**own, **settings})

    def send(self, record: OutgoingRecord, on_delivery: Callable[[str | None], None]) -> None:
        while True:
            try:
                self._producer.produce(
                    self._topic,
                    value=record.value,
                    key=record.key,
                    partition=self._partition,
                    headers=list(record.headers),
                    on_delivery=lambda error, _: on_delivery(error.str() if error else None),
                )
            except BufferError:
                self._producer.poll(_QUEUE_FULL_WAIT_S)
            except self._library.KafkaException as refused:
                on_delivery(_words(refused))
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

    def __init__(self, settings: Settings, on_trouble: Callable[[str], None]) -> None:
        self._library: Any = load()

        def hear(error: Any) -> None:
            if error.code() == self._library.KafkaError._ALL_BROKERS_DOWN:
                on_trouble(error.str())

        own = {**_QUIET, "enable.partition.eof": True, "error_cb": hear}
        self._consumer = _made(self._library.Consumer, self._library, {**own, **settings})

    def assign(self, positions: Mapping[TopicPartition, int]) -> None:
        place = self._library.TopicPartition
        self._consumer.assign([place(*each, offset) for each, offset in positions.items()])

    def subscribe(self, topic: str) -> None:
        self._consumer.subscribe([topic])

    def poll(self, timeout_s: float) -> Sequence[IncomingRecord | EndReached]:
        messages = self._consumer.consume(num_messages=_POLLED_AT_ONCE, timeout=timeout_s)
        return [self._event(message) for message in messages]

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
            headers=tuple(message.headers() or ()),
        )


def _made(client: Any, library: Any, settings: Mapping[str, object]) -> Any:
    try:
        return client(dict(settings))
    except library.KafkaException as refused:
        raise ClientFailed(_words(refused)) from refused


def _words(refused: Any) -> str:
    """Its exceptions hold an error, which holds the sentence."""
    words: str = refused.args[0].str()
    return words
