"""Random batches: as producers send them, and as another leader has them."""

from __future__ import annotations

import random

from ottla.protocol.records.batch import build_batch
from ottla.protocol.records.compression import Codec
from ottla.protocol.records.record import Record
from tests.simulation.entry import Entry

KEYS = tuple(b"key-%d" % number for number in range(8))


def any_records(chance: random.Random, *, offset: int, timestamp: int, keyed: bool) -> list[Record]:
    """One to four, each with a value that no other record has, unless it deletes a key."""
    return [
        Record(
            offset + number,
            max(0, timestamp + chance.randint(-5, 5)),
            chance.choice(KEYS if keyed else (None, b"key")),
            None
            if keyed and chance.random() < 0.2
            else b"%016x" % chance.getrandbits(64) + bytes(chance.choice((0, 30, 200))),
        )
        for number in range(chance.randint(1, 4))
    ]


def any_batch(
    chance: random.Random,
    *,
    timestamp: int,
    codec: Codec,
    producer_id: int,
    base_sequence: int,
    is_transactional: bool,
    keyed: bool = False,
) -> memoryview:
    """As a producer sends it: offsets from 0, writable."""
    data = build_batch(
        any_records(chance, offset=0, timestamp=timestamp, keyed=keyed),
        codec=codec,
        producer_id=producer_id,
        producer_epoch=-1 if producer_id < 0 else 0,
        base_sequence=base_sequence,
        is_transactional=is_transactional,
    )
    return memoryview(bytearray(data))


def replicated(
    chance: random.Random, *, offset: int, leader_epoch: int, timestamp: int, keyed: bool = False
) -> list[Entry]:
    """As a leader sends them to its followers: with offsets and epochs."""
    entries = []
    for _ in range(chance.randint(1, 4)):
        leader_epoch += chance.choice((0, 0, 1))
        records = any_records(chance, offset=offset, timestamp=timestamp, keyed=keyed)
        data = build_batch(records, leader_epoch=leader_epoch, base_offset=offset)
        entries.append(Entry(offset, records[-1].offset, data))
        offset = records[-1].offset + 1
    return entries
