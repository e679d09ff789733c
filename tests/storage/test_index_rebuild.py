"""Indexes rebuilt from real logs are those that brokers wrote, or differ for a known reason."""

from __future__ import annotations

import pytest

from ottla.logtools.index import Change, changes, rebuild, write
from ottla.logtools.paths import split_path
from ottla.logtools.verify import verify
from ottla.storage.names import parse_file_name
from tests.storage.log_directories import KAFKA_2_0, KAFKA_3_9, disk_with, files_of

# index.interval.bytes of the brokers that wrote the directories.
INTERVAL_BYTES = {KAFKA_3_9: 512, KAFKA_2_0: 256}
LOGS = {tar: [path for path in files_of(tar) if path.endswith(".log")] for tar in INTERVAL_BYTES}


def rebuilt(tar: str, path: str) -> tuple[Change, Change]:
    disk = disk_with(files_of(tar))
    name = parse_file_name(split_path(path)[1])
    return changes(disk, path, name, rebuild(disk, path, name, interval_bytes=INTERVAL_BYTES[tar]))


@pytest.mark.parametrize("path", LOGS[KAFKA_3_9])
def test_the_indexes_of_kafka_3_9_come_back_byte_for_byte(path: str) -> None:
    for change in rebuilt(KAFKA_3_9, path):
        assert change.data == files_of(KAFKA_3_9)[change.path]
        assert change.is_same


# The leader of 2.0 names the record with the largest timestamp, not the last of its batch, and the
# old formats have thirty "batches" of one message in each append, for which it writes one entry.
DIFFERENT = {
    "broker-0/__consumer_offsets-0/00000000000000000000.timeindex",
    "broker-0/__consumer_offsets-1/00000000000000000000.timeindex",
    "broker-0/fmt0-0/00000000000000000000.index",
    "broker-0/fmt1-0/00000000000000000000.index",
    "broker-0/fmt1-0/00000000000000000000.timeindex",
}


@pytest.mark.parametrize("path", LOGS[KAFKA_2_0])
def test_the_indexes_of_kafka_2_0_come_back_unless_it_wrote_them_otherwise(path: str) -> None:
    for change in rebuilt(KAFKA_2_0, path):
        assert change.is_same == (change.path not in DIFFERENT)


def test_an_append_of_thirty_old_messages_had_one_entry_and_gets_more() -> None:
    change, _ = rebuilt(KAFKA_2_0, "broker-0/fmt1-0/00000000000000000000.log")
    assert change.removed() == []
    assert [position for _, position in change.added()] == [294, 591, 891, 1191]


@pytest.mark.parametrize("tar", INTERVAL_BYTES)
@pytest.mark.parametrize("interval_bytes", [0, 100, 4096])
def test_rebuilt_indexes_are_sound_at_any_interval(tar: str, interval_bytes: int) -> None:
    disk = disk_with(files_of(tar))
    for path in LOGS[tar]:
        name = parse_file_name(split_path(path)[1])
        again = rebuild(disk, path, name, interval_bytes=interval_bytes)
        for change in changes(disk, path, name, again):
            write(disk, change)
    assert verify(disk, "broker-0").findings == []
