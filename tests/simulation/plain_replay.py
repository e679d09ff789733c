"""Producers and transactions counted the plain way: from the first batch to the last."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from ottla.protocol.records.control import ControlType, read_control_type
from tests.simulation.entry import Entry


@dataclass
class Producer:
    last_sequence: int = -1
    last_offset: int = -1
    open_since: list[Entry] = field(default_factory=list)  # the batches of its open transaction


@dataclass
class Aborted:
    producer_id: int
    marker: int
    batches: list[Entry]


@dataclass
class Replayed:
    producers: dict[int, Producer] = field(default_factory=dict)
    aborted: list[Aborted] = field(default_factory=list)


def replay(entries: Iterable[Entry]) -> Replayed:
    result = Replayed()
    for entry in entries:
        batch = entry.batch()
        header = batch.header
        assert header is not None
        if header.producer_id < 0:
            continue
        if header.is_control and not header.record_count:
            continue  # emptied by compaction: nobody learns anything from it, in Kafka neither
        producer = result.producers.setdefault(header.producer_id, Producer())
        if not header.is_control:
            producer.last_sequence, producer.last_offset = header.last_sequence, entry.last
            if header.is_transactional:
                producer.open_since.append(entry)
            continue
        is_abort = read_control_type(entry.records()[0].key) is ControlType.ABORT
        if is_abort and producer.open_since:
            result.aborted.append(Aborted(header.producer_id, entry.first, producer.open_since))
        producer.open_since = []
    return result
