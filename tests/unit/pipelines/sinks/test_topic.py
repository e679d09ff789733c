"""How rows become a producer's calls, and in what portions."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from confluent_kafka import KafkaError, KafkaException

from ottla.pipelines.sinks import transaction
from ottla.pipelines.sinks.topic import put_rows
from ottla.pipelines.sinks.transaction import NO_BATCH, Outbox, batch_of


class Recorder:
    """As much of a producer as an outbox needs."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.refuses: KafkaError | None = None

    def produce(
        self,
        topic: str,
        value: bytes,
        key: bytes,
        partition: int = -1,
        *,
        on_delivery: Any,
        headers: Any,
    ) -> None:
        self.calls.append(("one", topic, key, value, partition, headers))

    def produce_batch(self, topic: str, messages: list[dict[str, Any]], *, on_delivery: Any) -> int:
        if self.refuses is not None:
            messages[-1]["_error"] = self.refuses
            return len(messages) - 1
        self.calls.append(("many", topic, messages))
        return len(messages)

    def poll(self, _timeout: float) -> int:
        return 0

    def flush(self) -> int:
        self.calls.append(("flush",))
        return 0


def outbox(recorder: Recorder) -> Outbox:
    producer: Any = recorder
    return Outbox(producer)


def put(**columns: Any) -> list[tuple[Any, ...]]:
    recorder = Recorder()
    put_rows(outbox(recorder), pa.RecordBatch.from_pydict(columns), topic="orders")
    return recorder.calls


def test_values_alone_go_in_bulk() -> None:
    assert put(value=[b"1", None]) == [("many", "orders", [{"value": b"1"}, {"value": None}])]


def test_keys_and_values_go_in_bulk() -> None:
    assert put(key=[b"k", None], value=[b"1", b"2"]) == [
        ("many", "orders", [{"key": b"k", "value": b"1"}, {"key": None, "value": b"2"}])
    ]


def test_headers_a_partition_and_another_topic_go_with_their_row() -> None:
    calls = put(
        key=[b"k", None],
        value=[b"1", b"2"],
        headers=[[{"key": "a", "value": b"b"}], None],
        topic=["returns", None],
        partition=[3, None],
    )
    assert calls == [
        ("one", "returns", b"k", b"1", 3, [("a", b"b")]),
        ("one", "orders", None, b"2", -1, []),
    ]


def test_what_would_fill_the_clients_queue_waits_until_it_is_empty(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(transaction, "_MOST_QUEUED", 3)
    recorder = Recorder()
    box = outbox(recorder)
    box.put_all("t", [{"value": b"1"}, {"value": b"2"}], size_bytes=2)
    box.put("t", (None, b"3", []))
    box.put("t", (None, b"4", []))
    assert [call[0] for call in recorder.calls] == ["many", "one", "flush", "one"]


def test_of_many_with_headers_none_is_left_out_and_the_queue_is_not_filled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(transaction, "_MOST_QUEUED", 100)
    recorder = Recorder()
    values = [b"%d" % number for number in range(120)]
    outbox(recorder).put_each("t", ((b"k", value, [("a", b"b")]) for value in values))
    sent = [("one", "t", b"k", value, -1, [("a", b"b")]) for value in values]
    assert recorder.calls == [*sent[:100], ("flush",), *sent[100:]]


def test_records_that_are_large_together_wait_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transaction, "_MOST_QUEUED_BYTES", 10)
    recorder = Recorder()
    box = outbox(recorder)
    box.put_all("t", [{"value": b"123456"}], size_bytes=6)
    box.put_all("t", [{"value": b"123456"}], size_bytes=6)
    assert [call[0] for call in recorder.calls] == ["many", "flush", "many"]


def test_a_record_that_the_client_refuses_fails_the_batch() -> None:
    recorder = Recorder()
    recorder.refuses = KafkaError(KafkaError.MSG_SIZE_TOO_LARGE)
    with pytest.raises(KafkaException, match="MSG_SIZE_TOO_LARGE"):
        outbox(recorder).put_all("t", [{"value": b"1"}, {"value": b"2"}], size_bytes=2)


@pytest.mark.parametrize(
    ("metadata", "batch"),
    [
        ('{"batch": 7, "generation": 2}', 7),
        ('{"batch": 7, "generation": 1}', NO_BATCH),
        ('{"batch": "7", "generation": 2}', NO_BATCH),
        ('{"generation": 2}', NO_BATCH),
        ("[2]", NO_BATCH),
        ("somebody's note", NO_BATCH),
        ("", NO_BATCH),
        (None, NO_BATCH),
    ],
)
def test_only_what_this_generation_committed_counts(metadata: str | None, batch: int) -> None:
    assert batch_of(metadata, generation=2) == batch
