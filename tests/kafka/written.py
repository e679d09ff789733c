"""Partitions that Ottla writes on a real disk, of every kind, and what is in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from itertools import cycle, islice
from pathlib import Path
from typing import NamedTuple

from ottla.protocol.records.batch import build_batch
from ottla.protocol.records.compression import Codec
from ottla.protocol.records.control import ControlType
from ottla.protocol.records.record import Record
from ottla.protocol.records.record_set import Batch, read_batches
from ottla.simulation.cleaner import InlineCleaner
from ottla.storage.compactor import Compactor
from ottla.storage.config import LogConfig, TimestampPolicy
from ottla.storage.cutting import drop_oldest, truncate
from ottla.storage.disk import RealDisk
from ottla.storage.flushing import close, flush
from ottla.storage.log import Log
from ottla.storage.recovery import Found, open_log
from ottla.storage.transactions import AbortedTransaction

NOW_MS = 1_700_000_000_000
SEGMENT_BYTES = 4000
INDEX_INTERVAL_BYTES = 512
SMALL = LogConfig(segment_bytes=SEGMENT_BYTES, index_interval_bytes=INDEX_INTERVAL_BYTES)
Headers = tuple[tuple[str, bytes | None], ...]


class Seen(NamedTuple):
    """A record as any consumer sees it."""

    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: Headers


class Sender(NamedTuple):
    """Who sends a batch; nobody in particular unless said."""

    producer_id: int = -1
    producer_epoch: int = -1
    base_sequence: int = -1
    is_transactional: bool = False


NOBODY = Sender()


@dataclass
class Partition:
    """Partition 0 of a topic, open for appends until `finish`."""

    directory: Path
    topic: str
    config: LogConfig = SMALL
    now_ms: int = NOW_MS
    records: list[Seen] = field(default_factory=list)
    aborted: list[Seen] = field(default_factory=list)
    sends: list[range] = field(default_factory=list)  # the offsets that each one got

    def __post_init__(self) -> None:
        found = Found(was_clean=True)
        self.log = open_log(RealDisk(), str(self.folder), self.config, found, now_ms=self.now_ms)

    @property
    def folder(self) -> Path:
        return self.directory / f"{self.topic}-0"

    @property
    def committed(self) -> list[Seen]:
        return [record for record in self.records if record not in self.aborted]

    def send(
        self,
        *records: Record,
        codec: Codec = Codec.NONE,
        sender: Sender = NOBODY,
        leader_epoch: int = 0,
        is_aborted: bool = False,
    ) -> int:
        """One batch, written; returns its first offset. Its timestamps count from `now_ms`."""
        for record in records:
            record.timestamp += self.now_ms
        appended = self.log.append(
            built(records, codec=codec, sender=sender),
            leader_epoch=leader_epoch,
            now_ms=self.now_ms,
        )
        self.log.commit()
        seen = [
            self._as_stored(record, appended.first_offset + number)
            for number, record in enumerate(records)
        ]
        self.records += seen
        self.sends.append(range(appended.first_offset, appended.last_offset + 1))
        if is_aborted:
            self.aborted += seen
        return appended.first_offset

    def end_transaction(self, control_type: ControlType, producer_id: int) -> None:
        self.log.append_marker(
            control_type,
            producer_id=producer_id,
            producer_epoch=0,
            coordinator_epoch=3,
            leader_epoch=0,
            now_ms=self.now_ms,
        )
        self.log.commit()

    def keep_latest(self, *, below: int) -> None:
        """What compaction up to an offset leaves: a key's last record, if it is committed."""
        latest = {record.key: record.offset for record in self.committed if record.offset < below}
        self.records = [
            record
            for record in self.records
            if record.offset >= below or latest.get(record.key) == record.offset
        ]
        self.aborted = [record for record in self.aborted if record in self.records]

    def finish(self) -> Partition:
        close(self.log)
        return self

    def _as_stored(self, record: Record, offset: int) -> Seen:
        seen = _seen(record)._replace(offset=offset)
        if self.config.timestamp_policy is TimestampPolicy.LOG_APPEND_TIME:
            seen = seen._replace(timestamp=self.now_ms)
        if self.config.message_magic == 0:
            seen = seen._replace(timestamp=-1)
        return seen


def built(
    records: Iterable[Record], *, codec: Codec = Codec.NONE, sender: Sender = NOBODY
) -> memoryview:
    """A batch as a producer sends it, writable."""
    return memoryview(bytearray(build_batch(list(records), codec=codec, **sender._asdict())))


def keyed_records(count: int) -> list[Record]:
    """What a compacted topic takes, too."""
    return [Record(number, number, b"key", b"value %d" % number) for number in range(count)]


def some_records(count: int, *, start: int = 0) -> list[Record]:
    """Records of all sorts: no key, no value, empty ones, headers, times that go back.

    Their timestamps are near 0.
    """
    keys = cycle([b"key", None, "Schlüssel".encode(), b""])
    values = cycle([b"value", "größe".encode() * 20, None, b"", b"x" * 90])
    headers: cycle[Headers] = cycle([(), (("a", b"1"), ("a", None)), (), (("ä", b""),), (), (), ()])
    kinds = zip(keys, values, headers, strict=False)
    return [
        Record(offset, (start + offset) * 10 - 35 * (offset % 3), key, value, list(names))
        for offset, (key, value, names) in enumerate(islice(kinds, start, start + count))
    ]


def _codecs(partition: Partition) -> None:
    for number, codec in enumerate(islice(cycle(Codec), 60)):
        epoch = 0 if number < 20 else 2 if number < 40 else 5
        records = some_records(1 + number % 6, start=number * 7)
        partition.send(*records, codec=codec, leader_epoch=epoch)


def _old_codecs(partition: Partition) -> None:
    old = (Codec.NONE, Codec.GZIP, Codec.SNAPPY, Codec.LZ4)
    for number, codec in enumerate(islice(cycle(old), 40)):
        records = some_records(1 + number % 6, start=number * 7)
        for record in records:
            record.headers = []  # which these formats do not have
        partition.send(*records, codec=codec)


def _idempotent(partition: Partition) -> None:
    sequences = {900_001: 0, 900_002: 0}
    for number in range(40):
        producer_id = 900_001 + number % 2
        count = 1 + number % 4
        sender = Sender(producer_id, 3, sequences[producer_id])
        partition.send(*some_records(count, start=number), sender=sender)
        sequences[producer_id] += count
    partition.send(*some_records(2), sender=Sender(900_001, 4, 0), leader_epoch=7)


def _transactions(partition: Partition) -> None:
    """Two producers whose transactions overlap; every third one is aborted."""
    sequences = {900_003: 0, 900_004: 0}
    for number in range(24):
        producer_id = 900_003 + number % 2
        is_aborted = number % 3 == 0
        for part in range(2):
            sender = Sender(producer_id, 0, sequences[producer_id], True)
            records = some_records(3, start=number + part)
            codec = Codec.LZ4 if number % 5 == 0 else Codec.NONE
            partition.send(*records, codec=codec, sender=sender, is_aborted=is_aborted)
            sequences[producer_id] += 3
            if part == 0 and number:
                _end(partition, number - 1)
    _end(partition, 23)


def _end(partition: Partition, number: int) -> None:
    kind = ControlType.ABORT if number % 3 == 0 else ControlType.COMMIT
    partition.end_transaction(kind, 900_003 + number % 2)


def _open_transaction(partition: Partition) -> None:
    """The last transaction has no end, so that nothing from its first offset on is stable."""
    partition.send(*some_records(2))
    partition.send(*some_records(3), sender=Sender(900_005, 0, 0, True), is_aborted=True)


def _cut(partition: Partition) -> None:
    """Its oldest segments are gone, and so is what stood at its end."""
    for number in range(60):
        partition.send(*some_records(4, start=number), leader_epoch=number // 10)
    for path in drop_oldest(partition.log, 2, now_ms=partition.now_ms):
        Path(path).unlink()
    truncate(partition.log, partition.log.next_offset - 8, now_ms=partition.now_ms)
    kept = range(partition.log.log_start_offset, partition.log.next_offset)
    partition.records = [record for record in partition.records if record.offset in kept]
    partition.send(*some_records(4), leader_epoch=8)


def _compacted(partition: Partition) -> None:
    """Of a few keys the last values, of transactions those that were committed, are left."""
    log = partition.log
    for number in range(60):
        is_transactional, is_aborted = number % 2 == 1, number % 14 == 3
        values = (b"value %d" % number * 6, b"", None, b"x" * 40)
        records = [
            Record(
                i, number * 10 + i, b"key %d" % (number * i % 11), value, [("n", b"%d" % number)]
            )
            for i, value in enumerate(values)
        ]
        codec = Codec.ZSTD if number % 5 == 0 else Codec.NONE
        sender = Sender(900_006, 0, number // 2 * 4, True) if is_transactional else NOBODY
        partition.send(*records, codec=codec, sender=sender, is_aborted=is_aborted)
        if is_transactional:
            kind = ControlType.ABORT if is_aborted else ControlType.COMMIT
            partition.end_transaction(kind, 900_006)
    log.advance_high_watermark(log.next_offset)
    flush(log)
    dirty_from = log.active.base_offset
    cleaned_up_to: dict[tuple[str, int], int] = {}
    compactor = Compactor(InlineCleaner(RealDisk()), map_bytes=1_000_000)
    assert compactor.start({(partition.topic, 0): log}, cleaned_up_to, now_ms=partition.now_ms)
    for path in compactor.poll():
        Path(path).unlink()
    assert cleaned_up_to == {(partition.topic, 0): dirty_from}
    partition.keep_latest(below=dirty_from)


def _nothing(partition: Partition) -> None:
    """A partition to which nobody ever sent anything."""


_ON_APPEND = TimestampPolicy.LOG_APPEND_TIME
_KINDS: dict[str, tuple[Callable[[Partition], None], LogConfig]] = {
    "codecs": (_codecs, SMALL),
    "append-time": (_codecs, replace(SMALL, timestamp_policy=_ON_APPEND)),
    "recompressed": (_codecs, replace(SMALL, compression_type="zstd")),
    "format-0": (_old_codecs, replace(SMALL, message_magic=0)),
    "format-1": (_old_codecs, replace(SMALL, message_magic=1)),
    "format-1-append-time": (
        _old_codecs,
        replace(SMALL, message_magic=1, timestamp_policy=_ON_APPEND),
    ),
    "idempotent": (_idempotent, SMALL),
    "transactions": (_transactions, SMALL),
    "open-transaction": (_open_transaction, SMALL),
    "cut": (_cut, SMALL),
    "compacted": (
        _compacted,
        replace(SMALL, compacts=True, deletes=False, min_cleanable_dirty_ratio=0.01),
    ),
    "empty": (_nothing, SMALL),
}
TOPICS = tuple(_KINDS)


def write_partition(directory: Path, kind: str, *, topic: str = "", now_ms: int) -> Partition:
    """A partition of one kind, not closed: as it is when its broker dies."""
    fill, config = _KINDS[kind]
    partition = Partition(directory, topic or kind, config, now_ms)
    fill(partition)
    return partition


def write_partitions(directory: Path, *, now_ms: int = NOW_MS) -> dict[str, Partition]:
    """One partition of every kind, closed cleanly."""
    return {kind: write_partition(directory, kind, now_ms=now_ms).finish() for kind in TOPICS}


def records_in(log: Log, *, read_committed: bool = False) -> list[Seen]:
    """Every data record from the log's start to its end, read as a consumer reads."""
    found: list[Seen] = []
    up_to = log.last_stable_offset if read_committed else log.next_offset
    offset = log.log_start_offset
    while (piece := log.read(offset, max_bytes=2048, up_to=up_to)) is not None:
        aborted = log.aborted_transactions(piece, offset) if read_committed else []
        for batch in read_batches(piece.read()):
            if not batch.is_control and not _is_aborted(batch, aborted):
                found += [_seen(each) for each in batch.records() if each.offset >= offset]
            offset = max(offset, batch.last_offset + 1)
    return found


def _is_aborted(batch: Batch, aborted: list[AbortedTransaction]) -> bool:
    header = batch.header
    return header is not None and any(
        each.producer_id == header.producer_id
        and each.first_offset <= header.base_offset < each.last_offset
        for each in aborted
    )


def _seen(record: Record) -> Seen:
    headers = tuple(record.headers)
    return Seen(record.offset, record.timestamp, record.key, record.value, headers)
