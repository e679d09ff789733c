"""What a dump says of files that the recorded directories do not have."""

from __future__ import annotations

import pytest

from ottla.logtools.dump import Contents, Dump, DumpOptions, Release, UnknownFile, is_dumpable
from ottla.protocol.records.batch import build_batch
from ottla.protocol.records.compression import Codec
from ottla.protocol.records.control import ControlType, control_key
from ottla.protocol.records.message_set import build_message, build_message_set
from ottla.protocol.records.record import Record
from ottla.simulation.disk import SimulatedDisk
from ottla.storage.index_entries import encode_offset_index, encode_time_index
from tests.unit.logtools.partitions import INDEX, LOG, TIME_INDEX, data, partition, put

NEW, OLD = Release.KAFKA_3_9, Release.KAFKA_2_0


def dumped(
    disk: SimulatedDisk, path: str, options: DumpOptions | None = None
) -> tuple[list[str], list[tuple[int | None, str]]]:
    """The lines, and where what is wrong."""
    dump = Dump(disk, options or DumpOptions())
    lines = [line.text for line in dump.lines(path)]
    return lines, [(finding.position, finding.what) for finding in dump.findings]


def log_of(content: bytes) -> SimulatedDisk:
    disk = partition([])
    put(disk, LOG, content)
    return disk


def test_batches_alone_are_shown_unless_records_are_asked_for() -> None:
    lines, _ = dumped(log_of(data(0, count=3)), LOG)
    assert len(lines) == 2
    assert "count: 3" in lines[1]
    lines, _ = dumped(log_of(data(0, count=3)), LOG, DumpOptions(records=True))
    assert lines[2:] == [
        f"| offset: {i} CreateTime: {1000 + i} keySize: 3 valueSize: 5 sequence: -1 headerKeys: []"
        for i in range(3)
    ]


def test_kafka_2_0_shows_batches_in_other_words() -> None:
    lines, _ = dumped(log_of(data(0)), LOG, DumpOptions(release=OLD))
    assert lines[0] == "Starting offset: 0"
    assert lines[1].startswith("baseOffset: 0 lastOffset: 0 baseSequence: -1")
    assert "isvalid: true size: 76 magic: 2 compresscodec: NONE crc: " in lines[1]


def test_old_messages_in_the_words_of_3_9() -> None:
    message = build_message(Record(4, 5, b"k", b"v"), magic=1)
    lines, _ = dumped(log_of(message), LOG, DumpOptions(Contents.TEXT))
    crc = int.from_bytes(message[12:16], "big")
    assert lines[1:] == [
        "offset: 4 position: 0 CreateTime: 5 size: 36 magic: 1 compresscodec: none "
        f"crc: {crc} isvalid: true",
        f"| offset: 4 CreateTime: 5 keySize: 1 valueSize: 1 isValid: true crc: {crc}}} "
        "key: k payload: v",
    ]


@pytest.mark.parametrize("release", Release)
def test_a_damaged_batch_is_shown_as_invalid_and_the_next_one_follows(release: Release) -> None:
    message = bytearray(build_message_set([Record(0, 5, b"k", b"v")], magic=1, codec=Codec.GZIP))
    message[-1] ^= 1
    lines, wrong = dumped(log_of(bytes(message) + data(1)), LOG, DumpOptions(release=release))
    assert "isvalid: false" in lines[1]
    assert "isvalid: true" in lines[2]
    assert wrong == [(0, "the checksum is wrong")]


def test_records_that_cannot_be_read_are_told_of() -> None:
    batch = build_batch([Record(0, 1, b"k", b"v")], codec=Codec.GZIP)
    damaged = bytearray(batch)
    damaged[61] ^= 0xFF
    lines, wrong = dumped(log_of(bytes(damaged) + data(1)), LOG, DumpOptions(Contents.TEXT))
    assert "isvalid: false" in lines[1]
    assert lines[2].startswith("baseOffset: 1")
    assert wrong[0] == (0, "the checksum is wrong")
    assert len(wrong) == 2


def test_a_cut_off_batch_is_counted_in_bytes() -> None:
    lines, wrong = dumped(log_of(data(0) + data(1)[:50]), LOG)
    assert lines[-1] == f"Found 50 invalid bytes at the end of {0:020}.log"
    assert wrong == [(76, "cut off: 50 of 76 bytes")]


def test_control_records_of_other_kinds_are_named() -> None:
    change = Record(0, 1, control_key(ControlType.LEADER_CHANGE), b"")
    unknown = Record(0, 1, b"\0\0\0\x63", b"")
    for release, record, shown in [
        (NEW, change, "controlType: LEADER_CHANGE(2)"),
        (NEW, unknown, "controlType: UNKNOWN(99)"),
        (OLD, change, "controlType: UNKNOWN(2)"),
    ]:
        disk = log_of(build_batch([record], is_control=True))
        lines, _ = dumped(disk, LOG, DumpOptions(records=True, release=release))
        assert lines[-1].endswith(shown)


def test_a_record_of_kraft_is_shown_as_json() -> None:
    footer = Record(0, 1, control_key(ControlType.SNAPSHOT_FOOTER), b"\0\0\0")
    lines, wrong = dumped(
        log_of(build_batch([footer], is_control=True)), LOG, DumpOptions(records=True)
    )
    assert lines[-1].endswith(' SnapshotFooter {"version":0}')
    assert wrong == []


def test_bytes_that_are_no_text_are_base64_in_json() -> None:
    disk = log_of(build_batch([Record(0, 1, b"\xff", b"ok", [("\udcff", None)])]))
    dump = Dump(disk, DumpOptions(Contents.TEXT))
    record = list(dump.lines(LOG))[-1]
    assert record.to_json()["key"] == {"base64": "/w=="}
    assert record.text.endswith("headerKeys: [\ufffd] key: \ufffd payload: ok")


def test_index_entries_that_lead_nowhere_are_told_of() -> None:
    disk = partition([data(0), data(1), data(2)])
    put(disk, INDEX, encode_offset_index([(0, 76), (2, 100), (9, 9_999)], 0))
    lines, wrong = dumped(disk, INDEX)
    assert lines == [
        "offset: 0 position: 76",
        "offset: 2 position: 100",
        "offset: 9 position: 9999",
    ]
    assert [position for position, _ in wrong] == [0, 8, 16]


def test_times_that_are_not_in_the_log_are_told_of() -> None:
    disk = partition([data(0), data(1), data(2)])
    put(disk, TIME_INDEX, encode_time_index([(1_001, 1), (500, 2), (1_009, 9)], 0))
    lines, wrong = dumped(disk, TIME_INDEX)
    assert lines[1] == "timestamp: 500 offset: 2"
    assert wrong == [
        (12, "offset 2 has timestamp 1002 in the log, not 500"),
        (12, "timestamp 500 follows 1001: out of order"),
        (24, "offset 9 is not in the log"),
    ]


def test_an_empty_index_says_so_and_an_unused_tail_is_left_out() -> None:
    disk = partition([data(0), data(1), data(2)])
    put(disk, INDEX, bytes(80))
    assert dumped(disk, INDEX) == ([f"{INDEX} is empty."], [])


def test_an_index_without_its_log_is_shown_unchecked() -> None:
    disk = partition([data(0), data(1), data(2)])
    disk.remove(LOG)
    lines, wrong = dumped(disk, INDEX)
    assert lines == ["offset: 2 position: 152"]
    assert wrong == [(None, "not there, so the index was not checked against it")]


@pytest.mark.parametrize("name", ["notes.txt", "0.log", f"{0:020}.jpg", ".lock"])
def test_a_file_that_nobody_knows_is_refused(name: str) -> None:
    disk = partition([])
    put(disk, f"data/{name}", b"")
    assert not is_dumpable(f"data/{name}")
    with pytest.raises(UnknownFile):
        list(Dump(disk, DumpOptions()).lines(f"data/{name}"))


def test_the_small_files_are_shown_in_our_own_words() -> None:
    disk = partition([])
    put(disk, "data/meta.properties", b"broker.id=3\nversion=0\n")
    put(disk, "data/log-start-offset-checkpoint", b"0\n1\norders 0 5\n")
    put(disk, "data/orders-0/leader-epoch-checkpoint", b"0\n1\n4 7\n")
    assert dumped(disk, "data/meta.properties")[0] == ["broker.id: 3", "version: 0"]
    assert dumped(disk, "data/log-start-offset-checkpoint")[0] == [
        "topic: orders partition: 0 offset: 5"
    ]
    assert dumped(disk, "data/orders-0/leader-epoch-checkpoint")[0] == ["epoch: 4 startOffset: 7"]
