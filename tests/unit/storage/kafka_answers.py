"""Puts what Apache Kafka 3.9.1 was asked to Ottla, and compares the answers.

`state.jsonl.gz` was recorded from Kafka's own classes (ProducerStateManager, LeaderEpochFileCache,
PropertiesUtils): each line holds what was done and what Kafka then said.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ottla.protocol.errors import ErrorCode, KafkaError
from ottla.protocol.records.batch import TRANSACTIONAL_BIT, BatchHeader
from ottla.storage.epochs import LeaderEpochs
from ottla.storage.files import CorruptLog
from ottla.storage.producers import ProducerStates
from ottla.storage.properties import format_properties, parse_properties
from ottla.storage.snapshots import encode_snapshot, parse_snapshot

VECTORS = Path(__file__).parents[2] / "storage" / "vectors"
ERRORS = {
    "OutOfOrderSequenceException": ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
    "InvalidProducerEpochException": ErrorCode.INVALID_PRODUCER_EPOCH,
    "InvalidTxnStateException": ErrorCode.INVALID_TXN_STATE,
    "TransactionCoordinatorFencedException": ErrorCode.TRANSACTION_COORDINATOR_FENCED,
}


def recorded(*kinds: str) -> Iterator[tuple[list[Any], dict[str, Any]]]:
    with gzip.open(VECTORS / "state.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            case = json.loads(line)
            if case["do"][0] in kinds:
                yield case["do"], case["kafka"]


class ProducerJudge:
    """Ottla's producer states beside Kafka's."""

    def __init__(self) -> None:
        self.states = ProducerStates()
        self.high_watermark = 0

    def ask(self, do: list[Any]) -> dict[str, Any]:
        """What Ottla says, in Kafka's words."""
        said: dict[str, Any] = {}
        match do:
            case ["fresh"]:
                self.states, self.high_watermark = ProducerStates(), 0
                return said
            case ["data", origin, *values]:
                said = self._data(origin, *values)
            case ["marker", origin, *values]:
                said = self._marker(origin, *values)
            case ["watermark", offset]:
                self.high_watermark = offset
                self.states.on_high_watermark_updated(offset)
            case ["expire", now_ms]:
                self.states.remove_expired(now_ms=now_ms, expiration_ms=1000)
            case ["snapshot"]:
                return {"snapshot": encode_snapshot(self.states.active_producers()).hex()}
        said["producers"] = json.loads(json.dumps(sorted(self.states.active_producers())))
        unstable = self.states.first_unstable_offset(self.high_watermark)
        return said if unstable is None else said | {"unstable": unstable}

    def _data(self, origin: str, *values: int) -> dict[str, Any]:
        producer_id, epoch, sequence, delta, timestamp, offset, is_transactional = values
        header = BatchHeader(
            offset, 100, 0, 2, 0, TRANSACTIONAL_BIT * is_transactional, delta, timestamp,
            timestamp, producer_id, epoch, sequence, delta + 1,
        )  # fmt: skip
        if origin != "REPLICATION":
            try:
                found = self.states.check(header, from_client=origin == "CLIENT")
            except KafkaError as error:
                return {"error": error.code}
            if found is not None:
                return {"duplicate": list(found)}
        self.states.append(header, base_offset=offset, max_timestamp=timestamp)
        return {}

    def _marker(self, origin: str, *values: int) -> dict[str, Any]:
        producer_id, epoch, is_commit, coordinator_epoch, offset, timestamp = values
        if origin != "REPLICATION":
            try:
                self.states.check_marker(
                    producer_id=producer_id,
                    producer_epoch=epoch,
                    coordinator_epoch=coordinator_epoch,
                )
            except KafkaError as error:
                return {"error": error.code}
        completed = self.states.end_transaction(
            producer_id=producer_id,
            producer_epoch=epoch,
            coordinator_epoch=coordinator_epoch,
            offset=offset,
            timestamp=timestamp,
            is_aborted=not is_commit,
        )
        return {} if completed is None else {"completed": list(completed)}


def is_refused_by_kafka_alone(do: list[Any], kafka: dict[str, Any]) -> bool:
    """A follower of ours takes what its leader wrote; Kafka's refuses this one thing."""
    return do[:2] == ["data", "REPLICATION"] and kafka.get("error") == "InvalidTxnStateException"


def in_our_words(kafka: dict[str, Any]) -> dict[str, Any]:
    return kafka | {"error": ERRORS[kafka["error"]]} if "error" in kafka else kafka


def same_producers(ours: str, kafkas: str) -> bool:
    """Kafka lists producers in the order of a Java hash table; nobody depends on it."""
    mine, its = (sorted(parse_snapshot(bytes.fromhex(text), "x")) for text in (ours, kafkas))
    again = encode_snapshot(parse_snapshot(bytes.fromhex(kafkas), "x")).hex()
    return mine == its and again == kafkas


def epochs_say(epochs: LeaderEpochs) -> dict[str, Any]:
    ends = [epochs.end_offset_for(epoch, log_end_offset=1000) for epoch in range(-1, 13)]
    owners = [epochs.epoch_for_offset(offset) for offset in range(0, 61, 4)]
    previous = [epochs.previous_epoch(epoch) for epoch in range(13)]
    said = {
        "entries": epochs.entries,
        "ends": ends,
        "epoch_for": [-1 if epoch is None else epoch for epoch in owners],
        "previous": [-1 if epoch is None else epoch for epoch in previous],
    }
    return json.loads(json.dumps(said))  # type: ignore[no-any-return]


def properties_say(do: list[Any]) -> dict[str, Any]:
    match do:
        case ["properties", pairs]:
            return {"text": format_properties(pairs, now_ms=0).decode()}
        case ["read_properties", text]:
            try:
                return {"pairs": parse_properties(text.encode(), "x")}
            except CorruptLog:
                return {"error": "IllegalArgumentException"}
    raise AssertionError(do)
