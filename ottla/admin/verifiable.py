"""A producer and a consumer that tell all they do, in the words of Kafka's verifiable clients.

Whoever reads their lines can tell which records were acknowledged, who read them, and when.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ottla.admin.cluster import TopicPartition
from ottla.admin.consuming import IncomingRecord
from ottla.admin.producing import OutgoingRecord, Receipt, Sender

# A name, and what belongs to it; the time is added by whoever writes it down.
Tell = Callable[[str, Mapping[str, Any]], None]


class VerifiableProducer:
    """Sends 0, 1, 2 … and tells what became of each."""

    def __init__(
        self,
        sender: Sender,
        topic: str,
        tell: Tell,
        *,
        value_prefix: str = "",
        repeating_keys: int | None = None,
        first_timestamp: int | None = None,
    ) -> None:
        self.sent = 0
        self.acked = 0
        self.failed = 0
        self._sender = sender
        self._topic = topic
        self._tell = tell
        self._prefix = f"{value_prefix}." if value_prefix else ""
        self._repeating_keys = repeating_keys
        self._first_timestamp = first_timestamp

    def send_next(self, elapsed_ms: int) -> None:
        key = None if self._repeating_keys is None else str(self.sent % self._repeating_keys)
        value = f"{self._prefix}{self.sent}"
        first = self._first_timestamp
        record = OutgoingRecord(
            key=None if key is None else key.encode(),
            value=value.encode(),
            headers=(),
            timestamp=None if first is None else first + elapsed_ms,
        )
        self.sent += 1
        self._sender.send(record, lambda receipt: self._heard(receipt, key, value))

    def tell_total(self, *, target: int | None, elapsed_s: float) -> None:
        average = self.acked / elapsed_s if elapsed_s else 0.0
        told = {"sent": self.sent, "acked": self.acked, "target_throughput": target or -1}
        self._tell("tool_data", {**told, "avg_throughput": average})

    def _heard(self, receipt: Receipt, key: str | None, value: str) -> None:
        content = {"key": key, "value": value}
        where = {"topic": self._topic, "partition": receipt.partition}
        if receipt.failure is None:
            self.acked += 1
            self._tell("producer_send_success", {**content, "offset": receipt.offset, **where})
            return
        self.failed += 1
        why = {"exception": receipt.error, "message": receipt.failure}
        self._tell("producer_send_error", {"topic": self._topic, **content, **why})


class VerifiableConsumer:
    """Tells what it was given, what it read and what it committed."""

    def __init__(self, tell: Tell, *, verbose: bool) -> None:
        self._tell = tell
        self._verbose = verbose

    def assigned(self, partitions: Sequence[TopicPartition]) -> None:
        self._tell("partitions_assigned", {"partitions": [each._asdict() for each in partitions]})

    def revoked(self, partitions: Sequence[TopicPartition]) -> None:
        self._tell("partitions_revoked", {"partitions": [each._asdict() for each in partitions]})

    def consumed(self, records: Sequence[IncomingRecord]) -> None:
        by_partition: dict[TopicPartition, list[int]] = {}
        for record in records:
            by_partition.setdefault(record.partition, []).append(record.offset)
            if self._verbose:
                self._tell("record_data", _record_data(record))
        partitions = [
            {
                **partition._asdict(),
                "count": len(offsets),
                "minOffset": offsets[0],
                "maxOffset": offsets[-1],
            }
            for partition, offsets in by_partition.items()
        ]
        self._tell("records_consumed", {"count": len(records), "partitions": partitions})

    def committed(self, offsets: Mapping[TopicPartition, int], failure: str | None) -> None:
        told = [{**partition._asdict(), "offset": offset} for partition, offset in offsets.items()]
        result: dict[str, object] = {"success": failure is None}
        if failure is not None:
            result["error"] = failure
        self._tell("offsets_committed", {"offsets": told, **result})


def _record_data(record: IncomingRecord) -> dict[str, object]:
    return {
        "key": _text(record.key),
        "value": _text(record.value),
        **record.partition._asdict(),
        "offset": record.offset,
    }


def _text(data: bytes | None) -> str | None:
    return None if data is None else data.decode(errors="replace")
