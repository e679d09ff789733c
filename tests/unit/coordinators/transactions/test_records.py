"""Transactions in the log: Kafka's bytes, whichever Kafka wrote them."""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from ottla.coordinators.transactions.records import (
    TransactionValue,
    parse_key,
    parse_value,
    transaction_key,
    transaction_value,
)
from ottla.coordinators.transactions.state import TransactionState
from ottla.protocol.codec import encode
from ottla.protocol.errors import ProtocolError
from ottla.protocol.internal.transaction_log import PartitionsSchema, TransactionLogValue

VECTORS = Path(__file__).parents[3] / "wire" / "vectors" / "internal.jsonl.gz"
STATES = {state.value for state in TransactionState}


@cache
def vectors(schema: str) -> list[dict[str, Any]]:
    with gzip.open(VECTORS, "rt", encoding="utf-8") as lines:
        return [case for case in map(json.loads, lines) if case["schema"] == schema]


def stored(case: dict[str, Any]) -> bytes:
    return bytes.fromhex(case["prefixed_hex"])


def partitions_of(fields: dict[str, Any]) -> tuple[tuple[str, int], ...]:
    topics = fields["transactionPartitions"] or ()
    return tuple((topic["topic"], each) for topic in topics for each in topic["partitionIds"])


def test_keys_are_written_and_read_as_kafka_does() -> None:
    assert len(vectors("TransactionLogKey")) > 3
    for case in vectors("TransactionLogKey"):
        name = case["json"]["transactionalId"]
        assert parse_key(stored(case)) == name
        assert transaction_key(name) == stored(case)


def test_values_of_both_versions_are_read() -> None:
    versions = set()
    for case in vectors("TransactionLogValue"):
        fields = case["json"]
        if fields["transactionStatus"] not in STATES:
            continue
        versions.add(case["version"])
        assert parse_value(stored(case)) == (
            fields["producerId"],
            fields["producerEpoch"],
            fields["transactionTimeoutMs"],
            fields["transactionStatus"],
            partitions_of(fields),
            fields["transactionLastUpdateTimestampMs"],
            fields["transactionStartTimestampMs"],
        )
    assert versions == {0, 1}


def value(state: TransactionState, *partitions: tuple[str, int]) -> TransactionValue:
    return TransactionValue(7, 3, 60_000, state, partitions, 2_000, 1_000)


@pytest.mark.parametrize("state", list(TransactionState))
def test_a_value_is_written_as_its_message_declares_it(state: TransactionState) -> None:
    is_empty = state is TransactionState.EMPTY
    partitions = () if is_empty else (("orders", 2), ("größe", 0), ("orders", 1))
    topics = [
        PartitionsSchema(topic="orders", partition_ids=[2, 1]),
        PartitionsSchema(topic="größe", partition_ids=[0]),
    ]
    message = TransactionLogValue(
        producer_id=7,
        producer_epoch=3,
        transaction_timeout_ms=60_000,
        transaction_status=state,
        transaction_partitions=None if is_empty else topics,
        transaction_last_update_timestamp_ms=2_000,
        transaction_start_timestamp_ms=1_000,
    )
    assert transaction_value(value(state, *partitions)) == b"\0\0" + encode(message, 0)


def test_what_is_written_is_read_back_and_ended_ones_have_an_empty_list() -> None:
    for case in (
        value(TransactionState.ONGOING, ("orders", 2), ("payments", 0)),
        value(TransactionState.COMPLETE_ABORT),
        value(TransactionState.EMPTY),
    ):
        assert parse_value(transaction_value(case)) == case


def test_a_key_of_another_kind_is_not_ours_and_one_too_short_is_an_error() -> None:
    assert parse_key(b"\0\1\0\3abc") is None
    with pytest.raises(ProtocolError, match="1 bytes have no version"):
        parse_key(b"\0")


def test_a_value_with_a_state_or_version_that_nobody_knows_is_an_error() -> None:
    data = bytearray(transaction_value(value(TransactionState.ONGOING)))
    data[16] = 99
    with pytest.raises(ProtocolError, match="99 is no state"):
        parse_value(bytes(data))
    with pytest.raises(ProtocolError):
        parse_value(b"\0\7" + bytes(data[2:]))
