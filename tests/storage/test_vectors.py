"""The log directories that real brokers left open in Ottla, and hold what Kafka read from them."""

from __future__ import annotations

import gzip
import json
from base64 import b64decode
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

import pytest

from ottla.logtools.verify import verify
from ottla.protocol.records.batch import build_batch
from ottla.protocol.records.record import Record
from ottla.protocol.records.record_set import read_batches
from ottla.simulation.disk import SimulatedDisk
from ottla.storage.checkpoints import LOG_STARTS, RECOVERY_POINTS, parse_offsets
from ottla.storage.config import FOREVER, LogConfig
from ottla.storage.flushing import close
from ottla.storage.log import Log
from ottla.storage.names import parse_folder_name
from ottla.storage.producer import ProducerState
from ottla.storage.recovery import Found, open_log
from ottla.storage.snapshots import encode_snapshot, parse_snapshot
from tests.storage.log_directories import KAFKA_2_0, KAFKA_3_9, VECTORS, disk_with, files_of

NOW_MS = 1_800_000_000_000  # later than anything in the vectors
# As the brokers that wrote the directories were configured.
CONFIGS = {
    KAFKA_3_9: LogConfig(index_interval_bytes=512, segment_ms=FOREVER),
    KAFKA_2_0: LogConfig(index_interval_bytes=256, segment_ms=FOREVER),
}
INDEXES = (".index", ".timeindex", ".txnindex")


class Partition(NamedTuple):
    tar: str
    folder: str

    @property
    def files(self) -> dict[str, bytes]:
        files = files_of(self.tar)
        return {path: files[path] for path in files if path.startswith(f"{self.folder}/")}

    def checkpoint(self, name: str) -> int:
        broker, _, folder = self.folder.partition("/")
        parsed = parse_folder_name(folder)
        offsets = parse_offsets(files_of(self.tar)[f"{broker}/{name}"], name)
        return offsets.get((parsed.topic, parsed.partition), 0)


class Stored(NamedTuple):
    """A record, or marker, as Kafka read it."""

    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...]


@cache
def batches_of(tar: str) -> Mapping[str, list[dict[str, Any]]]:
    """What Kafka read in each partition's folder, in the order of offsets."""
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    with gzip.open(VECTORS / tar.replace(".tar.", ".jsonl."), "rt", encoding="utf-8") as lines:
        for segment in sorted(map(json.loads, lines), key=lambda segment: str(segment["file"])):
            found[segment["file"].rpartition("/")[0]] += segment["batches"]
    return found


def stored_in(partition: Partition) -> list[Stored]:
    batches = batches_of(partition.tar)[partition.folder]
    start = partition.checkpoint(LOG_STARTS)
    records = [_stored(record) for batch in batches for record in batch["records"]]
    return [record for record in records if record.offset >= start]


def _stored(record: dict[str, Any]) -> Stored:
    def data(text: str | None) -> bytes | None:
        return None if text is None else b64decode(text)

    headers = tuple((name, data(value)) for name, value in record["headers"])
    key, value = data(record["key"]), data(record["value"])
    return Stored(record["offset"], record["timestamp"], key, value, headers)


PARTITIONS = [Partition(tar, folder) for tar in CONFIGS for folder in batches_of(tar)]


def opened(
    disk: SimulatedDisk,
    partition: Partition,
    *,
    was_clean: bool = True,
    recovery_point: int | None = None,
) -> Log:
    found = Found(was_clean, recovery_point, partition.checkpoint(LOG_STARTS))
    return open_log(disk, partition.folder, CONFIGS[partition.tar], found, now_ms=NOW_MS)


def opened_after(end: str, partition: Partition) -> Log:
    files = partition.files
    match end:
        case "a clean stop":
            return opened(disk_with(files), partition)
        case "a crash after the last flush":
            recovery_point = partition.checkpoint(RECOVERY_POINTS)
            disk = disk_with(files)
            return opened(disk, partition, was_clean=False, recovery_point=recovery_point)
        case "a crash before the first":
            return opened(disk_with(files), partition, was_clean=False)
    kept = {path: data for path, data in files.items() if path.endswith(".log")}
    return opened(disk_with(kept), partition, was_clean=False)


ENDS = ("a clean stop", "a crash after the last flush", "a crash before the first", "a loss")
every_partition = pytest.mark.parametrize("partition", PARTITIONS, ids="-".join)
every_end = pytest.mark.parametrize("end", ENDS)


def records_from(log: Log, offset: int, *, max_bytes: int = 3000) -> Iterator[Stored]:
    while (piece := log.read(offset, max_bytes=max_bytes, up_to=log.next_offset)) is not None:
        for batch in read_batches(piece.read()):
            for record in batch.records():
                if record.offset >= offset:
                    yield _as_stored(record)
            offset = max(offset, batch.last_offset + 1)


def _as_stored(record: Record) -> Stored:
    headers = tuple(record.headers)
    return Stored(record.offset, record.timestamp, record.key, record.value, headers)


def test_there_is_something_of_every_kind() -> None:
    assert len(PARTITIONS) > 25
    records = [record for each in PARTITIONS for record in stored_in(each)]
    assert len(records) > 2000
    assert any(record.headers for record in records)
    magics = {batch["magic"] for each in batches_of(KAFKA_2_0).values() for batch in each}
    assert magics == {0, 1, 2}


@every_end
@every_partition
def test_every_record_is_read_as_kafka_reads_it(partition: Partition, end: str) -> None:
    log = opened_after(end, partition)
    assert list(records_from(log, log.log_start_offset)) == stored_in(partition)


@every_end
@every_partition
def test_every_offset_can_be_read_from(partition: Partition, end: str) -> None:
    log = opened_after(end, partition)
    stored = stored_in(partition)
    for offset in range(log.log_start_offset, log.next_offset):
        first = next(records_from(log, offset, max_bytes=1), None)
        assert first == next((record for record in stored if record.offset >= offset), None)


@every_end
@every_partition
def test_every_time_leads_to_the_first_record_that_is_not_earlier(
    partition: Partition, end: str
) -> None:
    log = opened_after(end, partition)
    stored = [(record.timestamp, record.offset) for record in stored_in(partition)]
    times = {timestamp + late for timestamp, _ in stored for late in (-1, 0, 1)}
    for time in sorted(time for time in times if time >= 0):
        assert log.find_timestamp(time) == next((each for each in stored if each[0] >= time), None)


@every_end
@every_partition
def test_a_partition_goes_on_where_kafka_stopped(partition: Partition, end: str) -> None:
    log = opened_after(end, partition)
    disk, next_offset = log.disk, log.next_offset
    assert isinstance(disk, SimulatedDisk)
    record = Record(0, NOW_MS, b"new", b"record", [("from", b"ottla")])
    appended = log.append(
        memoryview(bytearray(build_batch([record]))), leader_epoch=9, now_ms=NOW_MS
    )
    assert appended.first_offset == next_offset
    close(log)
    new = Stored(next_offset, NOW_MS, b"new", b"record", (("from", b"ottla"),))
    for was_clean in (True, False):
        again = opened(disk, partition, was_clean=was_clean)
        assert list(records_from(again, again.log_start_offset)) == [*stored_in(partition), new]
        assert again.find_timestamp(NOW_MS) == (NOW_MS, next_offset)
    assert verify(disk, partition.folder).findings == []


# Live brokers write one entry for all messages of an append, and 2.0 names in the time index the
# record that has the largest timestamp; recovery sees batches, and names the last offset of one.
OTHERWISE = {
    "broker-0/__consumer_offsets-0/00000000000000000000.timeindex",
    "broker-0/__consumer_offsets-1/00000000000000000000.timeindex",
    "broker-0/fmt0-0/00000000000000000000.index",
    "broker-0/fmt1-0/00000000000000000000.index",
    "broker-0/fmt1-0/00000000000000000000.timeindex",
}


@every_partition
def test_lost_indexes_come_back_as_kafka_had_them(partition: Partition) -> None:
    log = opened_after("a loss", partition)
    close(log)
    otherwise = OTHERWISE if partition.tar == KAFKA_2_0 else set()
    kafka_s = {path: data for path, data in partition.files.items() if path.endswith(INDEXES)}
    names = (name for name in log.disk.names(partition.folder) if name.endswith(INDEXES))
    ours = {path: log.disk.read(path) for path in (f"{partition.folder}/{name}" for name in names)}
    # Where transactions ended ours is there even if none was aborted: so a lost one is missed.
    ours = {path: data for path, data in ours.items() if data or path in kafka_s}
    assert list(ours) == sorted(kafka_s)
    different = {path for path in ours if ours[path] != kafka_s[path]}
    assert different == {path for path in otherwise if path in ours}


@every_end
@every_partition
def test_the_producers_are_those_of_kafka_s_last_snapshot(partition: Partition, end: str) -> None:
    snapshots = sorted(path for path in partition.files if path.endswith(".snapshot"))
    kafka_s = parse_snapshot(partition.files[snapshots[-1]], snapshots[-1]) if snapshots else []
    states = opened_after(end, partition).producers.active_producers()
    ours = parse_snapshot(encode_snapshot(states), "ours")
    if partition.tar == KAFKA_2_0:  # to which a marker is no sign of life
        ours, kafka_s = _without_times(ours), _without_times(kafka_s)
    assert sorted(ours) == sorted(kafka_s)


def _without_times(states: list[ProducerState]) -> list[ProducerState]:
    return [
        state._replace(
            last_timestamp=0, batches=tuple(batch._replace(timestamp=0) for batch in state.batches)
        )
        for state in states
    ]
