"""Real log directories are sound; damaged ones give findings, and never a stack trace."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.logtools.dump import Contents, Dump, DumpOptions, Release, is_dumpable
from ottla.logtools.scan import Scan
from ottla.logtools.verify import Report, verify
from tests.storage.log_directories import KAFKA_2_0, KAFKA_3_9, disk_with, files_of

BROKERS = [(KAFKA_3_9, "broker-0"), (KAFKA_3_9, "broker-1"), (KAFKA_2_0, "broker-0")]
FILES = [
    (tar, path) for tar in (KAFKA_3_9, KAFKA_2_0) for path, data in files_of(tar).items() if data
]


@pytest.mark.parametrize(("tar", "broker"), BROKERS)
def test_what_a_real_broker_left_is_sound(tar: str, broker: str) -> None:
    report = verify(disk_with(files_of(tar)), broker)
    assert report.findings == []
    assert report.size_bytes == sum(
        len(data)
        for path, data in files_of(tar).items()
        if path.startswith(broker) and path.endswith(".log")
    )


def surroundings(tar: str, path: str) -> dict[str, bytes]:
    """The files of the folder the file is in; of the whole broker if it is no partition's."""
    folder = path.rpartition("/")[0]
    return {name: data for name, data in files_of(tar).items() if name.startswith(f"{folder}/")}


def verify_with(tar: str, path: str, data: bytes) -> Report:
    disk = disk_with({**surroundings(tar, path), path: data})
    report = verify(disk, path.rpartition("/")[0])
    if is_dumpable(path):
        for contents in Contents:
            for release in Release:
                dump = Dump(disk, DumpOptions(contents, release=release))
                assert all(line.text or line.kind for line in dump.lines(path))
    return report


def flipped(data: bytes, position: int, bit: int) -> bytes:
    return data[:position] + bytes([data[position] ^ 1 << bit]) + data[position + 1 :]


@given(data=st.data())
def test_a_flipped_bit_anywhere_is_survived(data: st.DataObject) -> None:
    tar, path = data.draw(st.sampled_from(FILES))
    content = files_of(tar)[path]
    position = data.draw(st.integers(0, len(content) - 1))
    verify_with(tar, path, flipped(content, position, data.draw(st.integers(0, 7))))


@given(data=st.data())
def test_a_cut_anywhere_is_survived(data: st.DataObject) -> None:
    tar, path = data.draw(st.sampled_from(FILES))
    content = files_of(tar)[path]
    verify_with(tar, path, content[: data.draw(st.integers(0, len(content) - 1))])


@given(data=st.data(), noise=st.binary(max_size=400))
def test_bytes_that_mean_nothing_are_survived(data: st.DataObject, noise: bytes) -> None:
    tar, path = data.draw(st.sampled_from(FILES))
    verify_with(tar, path, noise)


def batch_starts(tar: str, path: str) -> list[int]:
    file = disk_with({path: files_of(tar)[path]}).open(path)
    return [stored.position for stored in Scan(file)]


def is_covered(tar: str, path: str, position: int) -> bool:
    """Whether a wrong bit there must be noticed, whatever it is.

    An offset that is wrong but larger can pass for a log that was compacted; an index entry that
    names another batch's offset, for a group of batches; and text is rarely wrong for its bits.
    """
    kind = path.rpartition(".")[2]
    if kind == "log":
        start = max(start for start in batch_starts(tar, path) if start <= position)
        return position - start >= 16 or 8 <= position - start < 12
    return (
        kind in ("snapshot", "txnindex")
        or (kind == "index" and position % 8 >= 4)
        or (kind == "timeindex" and position % 12 < 8)
    )


BINARY: list[Callable[[str], bool]] = [
    lambda path: path.endswith(".log"),
    lambda path: path.endswith(".index"),
    lambda path: path.endswith(".timeindex"),
    lambda path: path.endswith(".txnindex"),
    lambda path: path.endswith(".snapshot"),
]


@pytest.mark.parametrize("is_meant", BINARY)
@given(data=st.data())
def test_a_flipped_bit_where_it_matters_is_found(
    is_meant: Callable[[str], bool], data: st.DataObject
) -> None:
    tar, path = data.draw(st.sampled_from([one for one in FILES if is_meant(one[1])]))
    content = files_of(tar)[path]
    position = data.draw(
        st.integers(0, len(content) - 1).filter(lambda at: is_covered(tar, path, at))
    )
    report = verify_with(tar, path, flipped(content, position, data.draw(st.integers(0, 7))))
    assert not report.is_sound


@pytest.mark.parametrize("is_meant", BINARY)
@given(data=st.data())
def test_a_file_cut_within_an_entry_is_found(
    is_meant: Callable[[str], bool], data: st.DataObject
) -> None:
    tar, path = data.draw(st.sampled_from([one for one in FILES if is_meant(one[1])]))
    content = files_of(tar)[path]
    whole = [0] if path.endswith(".snapshot") else ends_of_entries(tar, path)
    size = data.draw(st.integers(1, len(content) - 1).filter(lambda at: at not in whole))
    assert not verify_with(tar, path, content[:size]).is_sound


def ends_of_entries(tar: str, path: str) -> list[int]:
    if path.endswith(".log"):
        return batch_starts(tar, path)
    entry_bytes = {"index": 8, "timeindex": 12, "txnindex": 34}[path.rpartition(".")[2]]
    return list(range(0, len(files_of(tar)[path]), entry_bytes))
