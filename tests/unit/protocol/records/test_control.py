"""Control records: the bytes that end a transaction."""

from __future__ import annotations

import pytest

from ottla.protocol.errors import ErrorCode, ProtocolError
from ottla.protocol.records.batch import read_records, validate_batch
from ottla.protocol.records.control import (
    END_TRANSACTION_BYTES,
    ControlType,
    build_end_transaction,
    read_control_type,
    read_coordinator_epoch,
)


def test_a_commit_is_one_transactional_control_record() -> None:
    batch = build_end_transaction(
        ControlType.COMMIT,
        offset=40,
        timestamp=1000,
        producer_id=7,
        producer_epoch=2,
        coordinator_epoch=33,
        leader_epoch=5,
    )
    header = validate_batch(batch)
    assert (header.is_control, header.is_transactional) == (True, True)
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (7, 2, -1)
    assert (header.base_offset, header.next_offset, header.partition_leader_epoch) == (40, 41, 5)
    (record,) = read_records(batch)
    assert record.key == bytes.fromhex("00000001")
    assert record.value == bytes.fromhex("000000000021")
    assert read_control_type(record.key) is ControlType.COMMIT
    assert read_coordinator_epoch(record.value) == 33


def test_later_versions_and_types_are_understood_as_far_as_possible() -> None:
    assert read_control_type(bytes.fromhex("00050000ff")) is ControlType.ABORT
    assert read_control_type(bytes.fromhex("00000063")) is ControlType.UNKNOWN
    assert read_control_type(bytes.fromhex("0000ffff")) is ControlType.UNKNOWN
    assert read_coordinator_epoch(bytes.fromhex("0001000000090000")) == 9


@pytest.mark.parametrize("content", [None, b"", b"\0\0\0", b"\xff\xff\0\0\0\0"])
def test_keys_and_values_that_are_too_short_are_invalid(content: bytes | None) -> None:
    for read in (read_control_type, read_coordinator_epoch):
        with pytest.raises(ProtocolError) as refusal:
            read(content)
        assert refusal.value.code is ErrorCode.INVALID_RECORD


def test_all_that_end_a_transaction_are_of_one_size() -> None:
    for number in (0, 1, (1 << 31) - 1):
        batch = build_end_transaction(
            ControlType.ABORT,
            offset=number,
            timestamp=number,
            producer_id=number,
            producer_epoch=0,
            coordinator_epoch=number,
        )
        assert len(batch) == END_TRANSACTION_BYTES
