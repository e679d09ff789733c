"""Producer snapshots: what is known of every producer up to an offset, in Kafka's file.

Only the last batch of each producer is kept, with the time of whatever the producer did last, be it
a batch or the end of a transaction.
"""

from __future__ import annotations

from collections.abc import Iterable
from struct import Struct

from ottla.protocol.checksum import crc32c
from ottla.storage.files import CorruptLog
from ottla.storage.producer import KeptBatch, ProducerState

_VERSION = 1
_HEADER = Struct(">hIi")  # version, checksum of all that follows, number of producers
_CHECKED_FROM = 6
# Id, epoch, last sequence, last offset, offset delta, timestamp, coordinator epoch, open since.
_PRODUCER = Struct(">qhiqiqiq")


def encode_snapshot(producers: Iterable[ProducerState]) -> bytes:
    entries = [_encode(state) for state in producers]
    checked = len(entries).to_bytes(4, "big") + b"".join(entries)
    return _HEADER.pack(_VERSION, crc32c(checked), len(entries)) + checked[4:]


def parse_snapshot(data: bytes, path: str) -> list[ProducerState]:
    if len(data) < _HEADER.size:
        raise CorruptLog(path, 0, f"{len(data)} bytes are fewer than a header")
    version, checksum, count = _HEADER.unpack_from(data)
    if version != _VERSION:
        raise CorruptLog(path, 0, f"version {version}")
    if checksum != crc32c(data[_CHECKED_FROM:]):
        raise CorruptLog(path, 2, "the checksum is wrong")
    if len(data) - _HEADER.size != count * _PRODUCER.size:
        raise CorruptLog(path, _CHECKED_FROM, f"{count} producers in {len(data)} bytes")
    return [_decode(values) for values in _PRODUCER.iter_unpack(data[_HEADER.size :])]


def _encode(state: ProducerState) -> bytes:
    last_sequence, last_offset, offset_delta, _ = state.batches[-1] if state.batches else _NONE
    return _PRODUCER.pack(
        state.producer_id, state.epoch, last_sequence, last_offset, offset_delta,
        state.last_timestamp, state.coordinator_epoch, state.transaction_start,
    )  # fmt: skip


def _decode(values: tuple[int, ...]) -> ProducerState:
    producer_id, epoch, sequence, offset, delta, timestamp, coordinator_epoch, start = values
    # A producer known only by a marker has no batch.
    batches = (KeptBatch(sequence, offset, delta, timestamp),) if offset >= 0 else ()
    return ProducerState(producer_id, epoch, coordinator_epoch, timestamp, max(start, -1), batches)


_NONE = KeptBatch(last_sequence=-1, last_offset=-1, offset_delta=0, timestamp=-1)
