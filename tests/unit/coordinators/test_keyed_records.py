"""Batches of one record are read as any batch is, however alike they are or not."""

from __future__ import annotations

import random

from ottla.coordinators.keyed_records import Forms, Latest, Singles, read_singles
from ottla.protocol.records.batch import build_batch, read_records
from ottla.protocol.records.record import Record

SEED = 20


def single(offset: int, key: bytes, value: bytes | None) -> bytes:
    return build_batch([Record(offset, 1_700_000_000_000, key, value)])


def some_batches(count: int) -> list[bytes]:
    """Keys and values of few lengths, so that their sum is often that of others."""
    source, batches = random.Random(SEED), list[bytes]()
    for offset in range(count):
        key = source.randbytes(source.choice((1, 24, 25, 62, 63, 64, 700)))
        value = source.randbytes(source.choice((0, 23, 24, 62, 63, 64, 700)))
        batches.append(single(offset, key, None if source.random() < 0.1 else value))
    return batches


def plainly(batches: list[bytes]) -> Latest:
    records = [read_records(batch)[0] for batch in batches]
    return {record.key: record.value for record in records if record.key is not None}


def test_each_is_what_the_plain_way_reads() -> None:
    batches, found, forms = some_batches(3_000), Latest(), Forms()
    data, at = b"".join(batches), Singles(0, 0, 0)
    while at.pos < len(data):
        at = read_singles(data, at.pos, 100, found, at.next_offset, forms)
    assert at.next_offset == 3_000
    assert found == plainly(batches)
    assert 20 < len(forms) < 60


def test_one_that_is_damaged_stops_it_wherever_it_is_damaged() -> None:
    good = [single(offset, b"key-%d" % offset, bytes(24)) for offset in range(3)]
    for place in range(8, len(good[2])):
        if 12 <= place < 16:
            continue  # the leader's epoch, which is no business of its reader
        damaged = bytearray(good[2])
        damaged[place] ^= 0x41
        data, found = b"".join(good[:2]) + damaged, Latest()
        batches, pos, next_offset = read_singles(data, 0, 100, found, 0, {})
        assert (batches, pos, next_offset) == (2, len(good[0]) * 2, 2), place
        assert found == plainly(good[:2])


def test_one_that_is_cut_off_or_older_than_what_was_read_stops_it() -> None:
    batch = single(7, b"key", b"value")
    for end in range(len(batch)):
        assert read_singles(batch[:end], 0, 100, {}, 0, {}) == (0, 0, 0)
    assert read_singles(batch, 0, 100, {}, 7, {}) == (1, len(batch), 8)
    assert read_singles(batch, 0, 100, {}, 8, {}) == (0, 0, 8)
