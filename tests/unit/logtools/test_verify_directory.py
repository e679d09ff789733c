"""A log directory as a whole: whose it is, its checkpoints, and what does not belong in it."""

from __future__ import annotations

import pytest

from ottla.logtools.verify import verify
from ottla.simulation.disk import SimulatedDisk
from ottla.storage.checkpoints import format_clean_shutdown, format_offsets
from tests.unit.logtools.partitions import data, findings, partition, put

CHECKPOINTS = (
    "recovery-point-offset-checkpoint",
    "replication-offset-checkpoint",
    "log-start-offset-checkpoint",
    "cleaner-offset-checkpoint",
)


@pytest.fixture
def disk() -> SimulatedDisk:
    """A broker that was stopped cleanly, with one partition that ends at offset 6."""
    disk = partition([data(offset) for offset in range(6)])
    put(disk, "data/meta.properties", b"version=0\nbroker.id=0\ncluster.id=abc\n")
    put(disk, "data/.kafka_cleanshutdown", format_clean_shutdown())
    for name in CHECKPOINTS:
        put(disk, f"data/{name}", format_offsets({("orders", 0): 6}))
    return disk


def test_a_directory_left_by_a_clean_stop_is_sound(disk: SimulatedDisk) -> None:
    report = verify(disk, "data/")
    assert report.findings == []
    assert report.partitions == 1


@pytest.mark.parametrize("name", CHECKPOINTS)
def test_an_offset_beyond_the_log_is_found(disk: SimulatedDisk, name: str) -> None:
    put(disk, f"data/{name}", format_offsets({("orders", 0): 7}))
    [(severity, file, _, what)] = findings(disk, "data")
    assert (severity, file) == ("error", name)
    assert what.endswith("of orders-0 is 7, its log ends at 6")


@pytest.mark.parametrize("text", [b"1\n0\n", b"0\n2\norders 0 6\n", b"0\n1\norders 0\n", b"\xff"])
def test_a_checkpoint_that_cannot_be_read_is_found(disk: SimulatedDisk, text: bytes) -> None:
    put(disk, f"data/{CHECKPOINTS[1]}", text)
    [(severity, file, _, _)] = findings(disk, "data")
    assert (severity, file) == ("error", CHECKPOINTS[1])


@pytest.mark.parametrize("offsets", [{}, {("orders", 0): 5}])
def test_a_clean_stop_with_unflushed_logs_is_found(
    disk: SimulatedDisk, offsets: dict[tuple[str, int], int]
) -> None:
    put(disk, f"data/{CHECKPOINTS[0]}", format_offsets(offsets))
    [(severity, file, _, what)] = findings(disk, "data")
    assert (severity, file) == ("warning", CHECKPOINTS[0])
    assert what.startswith("orders-0 ends at 6")


def test_without_a_clean_stop_that_is_normal(disk: SimulatedDisk) -> None:
    put(disk, f"data/{CHECKPOINTS[0]}", format_offsets({("orders", 0): 5}))
    disk.remove("data/.kafka_cleanshutdown")
    [(severity, file, _, _)] = findings(disk, "data")
    assert (severity, file) == ("note", ".kafka_cleanshutdown")


@pytest.mark.parametrize("text", [b"version=9\n", b"broker.id=many\n", b"", b"\xff\xfe"])
def test_properties_that_say_nothing_are_found(disk: SimulatedDisk, text: bytes) -> None:
    put(disk, "data/meta.properties", text)
    [(_, file, _, _)] = findings(disk, "data")
    assert file == "meta.properties"


def test_missing_properties_are_found(disk: SimulatedDisk) -> None:
    disk.remove("data/meta.properties")
    assert findings(disk, "data") == [("warning", "meta.properties", None, "missing")]


def test_a_folder_that_is_no_partition_is_found(disk: SimulatedDisk) -> None:
    disk.make_folder("data/lost+found")
    [(severity, file, _, _)] = findings(disk, "data")
    assert (severity, file) == ("warning", "lost+found")


def test_what_awaits_deletion_is_named(disk: SimulatedDisk) -> None:
    name = f"old-1.{'a' * 32}-delete"
    put(disk, f"data/{name}/leader-epoch-checkpoint", b"")
    assert findings(disk, "data") == [("note", name, None, "to be deleted")]


def test_a_stranger_among_the_files_is_named(disk: SimulatedDisk) -> None:
    put(disk, "data/notes.txt", b"")
    assert findings(disk, "data") == [("note", "notes.txt", None, "not one of Kafka's files")]
