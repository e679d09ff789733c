"""kafka-python reads what we build, and we read what it builds, in every format and codec."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from ottla.protocol.records.batch import build_batch
from ottla.protocol.records.compression import Codec
from ottla.protocol.records.control import ControlType, build_end_transaction
from ottla.protocol.records.message_set import build_message_set
from ottla.protocol.records.record import Header, Record
from ottla.protocol.records.record_set import read_batches

with warnings.catch_warnings():
    # It reads its own schemas by a call that Python 3.11 deprecates.
    warnings.simplefilter("ignore", DeprecationWarning)
    from kafka import codec as kafka_codec
    from kafka.record import MemoryRecords, MemoryRecordsBuilder

# kafka-python leaves its codecs to other packages; what is not installed cannot be compared.
INSTALLED = {
    Codec.NONE: True,
    Codec.GZIP: kafka_codec.has_gzip(),
    Codec.SNAPPY: kafka_codec.has_snappy(),
    Codec.LZ4: kafka_codec.has_lz4(),
    Codec.ZSTD: kafka_codec.has_zstd(),
}
FORMATS = [
    pytest.param(
        magic, codec, marks=pytest.mark.skipif(not INSTALLED[codec], reason="not installed")
    )
    for magic in (0, 1, 2)
    for codec in Codec
    if magic == 2 or codec is not Codec.ZSTD
]
HEADERS: list[Header] = [("name", b"content"), ("größe", b"")]


def records(magic: int, count: int) -> list[Record]:
    """Records as this format can hold them; large ones, so that codecs need several blocks."""
    return [
        Record(
            offset,
            1_700_000_000_000 + offset * 7 if magic else -1,
            None if offset % 3 == 0 else b"key",
            None if offset % 5 == 4 else b"some value " * (offset * 400),
            HEADERS if magic == 2 and offset % 2 else [],
        )
        for offset in range(count)
    ]


def read_by_kafka_python(data: bytes) -> list[Record]:
    found = []
    batches: Any = MemoryRecords(data)
    while (batch := batches.next_batch()) is not None:
        assert batch.validate_crc()
        for record in batch:
            timestamp = -1 if record.timestamp is None else record.timestamp
            headers = list(record.headers)
            found.append(Record(record.offset, timestamp, record.key, record.value, headers))
    return found


@pytest.mark.parametrize(("magic", "codec"), FORMATS)
def test_kafka_python_reads_what_we_build(magic: int, codec: Codec) -> None:
    expected = records(magic, 30)
    if magic == 2:
        data = build_batch(expected, codec=codec)
    else:
        data = build_message_set(expected, magic=magic, codec=codec)
    assert read_by_kafka_python(data) == expected


@pytest.mark.parametrize(("magic", "codec"), FORMATS)
def test_we_read_what_kafka_python_builds(magic: int, codec: Codec) -> None:
    expected = records(magic, 30)
    builder: Any = MemoryRecordsBuilder(magic, int(codec), 10_000_000)
    for record in expected:
        timestamp = record.timestamp if magic else None
        builder.append(timestamp, record.key, record.value, record.headers)
    builder.close()
    batches = list(read_batches(builder.buffer()))
    assert {(batch.magic, batch.codec) for batch in batches} == {(magic, codec)}
    assert [record for batch in batches for record in batch.records()] == expected


def test_kafka_python_sees_the_end_of_a_transaction() -> None:
    data = build_end_transaction(
        ControlType.ABORT,
        offset=4,
        timestamp=1000,
        producer_id=7,
        producer_epoch=2,
        coordinator_epoch=3,
    )
    batch: Any = MemoryRecords(data).next_batch()
    assert (batch.is_control_batch, batch.is_transactional) == (True, True)
    assert [record.abort for record in batch] == [True]
