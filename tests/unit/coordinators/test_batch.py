"""The quick way to a batch gives the bytes of the plain way."""

from __future__ import annotations

import pytest

from ottla.coordinators.batch import build_coordinator_batch
from ottla.coordinators.effects import Record
from ottla.protocol.records import record
from ottla.protocol.records.batch import build_batch, read_records
from ottla.protocol.records.compression import Codec

RECORDS = [
    Record(b"k", b"v"),
    Record(b"gone", None),
    Record(b"", b""),
    *(Record(b"key-%d" % number, bytes(number * 7)) for number in range(300)),
    Record(b"x" * 70_000, b"y" * 3_000_000),
]


def plain(records: list[Record]) -> list[record.Record]:
    return [record.Record(offset, 99, *each) for offset, each in enumerate(records)]


@pytest.mark.parametrize("count", [1, 2, 3, 70, 303, 304])
def test_a_batch_has_the_bytes_that_any_batch_has(count: int) -> None:
    built = build_coordinator_batch(RECORDS[:count], timestamp=99)
    assert built == build_batch(plain(RECORDS[:count]))


def test_a_batch_can_be_compressed_and_belong_to_a_transaction() -> None:
    packed = build_coordinator_batch(RECORDS[:100], timestamp=99, codec=Codec.LZ4)
    assert read_records(packed) == plain(RECORDS[:100])
    built = build_coordinator_batch(
        RECORDS[:2], timestamp=99, producer_id=7, producer_epoch=1, is_transactional=True
    )
    assert built == build_batch(
        plain(RECORDS[:2]),
        producer_id=7,
        producer_epoch=1,
        base_sequence=0,
        is_transactional=True,
    )
