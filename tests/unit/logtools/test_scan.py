"""Batches are found one after the other, also in pieces and beside damage."""

from __future__ import annotations

import pytest

from ottla.logtools.scan import LARGEST_BATCH_BYTES, Scan
from ottla.protocol.records.message_set import build_message
from ottla.protocol.records.record import Record
from tests.unit.logtools.partitions import LOG, data, partition, put

BATCHES = [data(offset, count=offset + 1) for offset in range(5)]
SOUND = b"".join(BATCHES)


def scan_of(content: bytes, *, start: int = 0, piece_bytes: int = 1 << 20) -> Scan:
    disk = partition([])
    put(disk, LOG, content)
    return Scan(disk.open(LOG), start=start, piece_bytes=piece_bytes)


@pytest.mark.parametrize("piece_bytes", [1, 17, 100, 1 << 20])
def test_the_size_of_the_pieces_makes_no_difference(piece_bytes: int) -> None:
    scan = scan_of(SOUND, piece_bytes=piece_bytes)
    assert [stored.data for stored in scan] == BATCHES
    assert (scan.end, scan.fault) == (len(SOUND), None)


def test_no_more_than_a_batch_is_read_beyond_the_piece() -> None:
    disk = partition([])
    put(disk, LOG, SOUND)
    file = disk.open(LOG)
    lengths = []

    class Watched:
        def __getattr__(self, name: str) -> object:
            return getattr(file, name)

        def read(self, position: int, length: int) -> bytes:
            lengths.append(length)
            return file.read(position, length)

    assert len(list(Scan(Watched(), piece_bytes=100))) == 5  # type: ignore[arg-type]  # forwards
    assert max(lengths) == max(100, *map(len, BATCHES))


def test_a_scan_can_begin_at_any_batch() -> None:
    start = len(BATCHES[0])
    assert next(stored.position for stored in scan_of(SOUND, start=start)) == start


@pytest.mark.parametrize(
    ("tail", "fault"),
    [
        (b"\1" * 5, "cut off: 5 bytes are no batch"),
        (BATCHES[0][:-1], f"cut off: {len(BATCHES[0]) - 1} of {len(BATCHES[0])} bytes"),
        (bytes(200), "zeros"),
        (BATCHES[0][:16] + b"\7" + BATCHES[0][17:], "no batch: magic 7"),
        (BATCHES[0][:8] + b"\0\0\0\5" + BATCHES[0][12:], "no batch: length 5"),
        (BATCHES[0][:8] + b"\xff" * 4 + BATCHES[0][12:], "no batch: length -1"),
    ],
)
def test_where_no_length_can_be_believed_the_scan_ends(tail: bytes, fault: str) -> None:
    scan = scan_of(SOUND + tail)
    assert len(list(scan)) == 5
    assert scan.end == len(SOUND)
    assert scan.fault is not None
    assert scan.fault.startswith(fault)


def test_a_length_beyond_any_batch_is_not_read() -> None:
    wrong = BATCHES[0][:8] + (LARGEST_BATCH_BYTES).to_bytes(4, "big") + BATCHES[0][12:]
    scan = scan_of(wrong)
    assert list(scan) == []
    assert scan.fault == f"no batch: length {LARGEST_BATCH_BYTES}"


def test_a_damaged_batch_keeps_its_header_and_a_damaged_message_its_offset() -> None:
    message = bytearray(build_message(Record(9, 5, b"k", b"v"), magic=1))
    message[-1] ^= 1
    batch = bytearray(BATCHES[1])
    batch[-1] ^= 1
    first, second = scan_of(bytes(batch + message))
    assert first.batch is not None
    assert (first.fault, first.last_offset) == ("the checksum is wrong", 2)
    assert (second.batch, second.fault, second.last_offset) == (None, "the checksum is wrong", 9)
