"""What a broker's timer makes of its log directories, on a simulated disk and without threads."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pytest

from ottla.simulation.cleaner import InlineCleaner
from ottla.simulation.disk import SimulatedDisk
from ottla.storage.checkpoints import parse_offsets
from ottla.storage.compactor import Compactor
from ottla.storage.config import LogConfig
from ottla.storage.cutting import take_oldest
from ottla.storage.directories import LogDirectories
from ottla.storage.directory import LogDirectory
from ottla.storage.files import DiskFailed
from ottla.storage.log import Log
from ottla.storage.threads import Inline
from ottla.storage.upkeep import Upkeep
from tests.unit.storage.logs import NOW_MS, append, batch, contents
from tests.unit.storage.test_compactor import COMPACTED, fill

SMALL = LogConfig(segment_bytes=400, retention_ms=1000, file_delete_delay_ms=100)
LATER_MS = NOW_MS + 1_000_000


@dataclass
class Broker:
    """Two directories and their upkeep."""

    config: LogConfig = SMALL
    disk: SimulatedDisk = field(default_factory=lambda: SimulatedDisk(random.Random(0)))
    failed: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.directories = LogDirectories.open(
            self.disk,
            ("/a", "/b"),
            lambda topic: self.config,
            broker_id=1,
            cluster_id="here",
            now_ms=NOW_MS,
        )
        self.upkeep = Upkeep(
            self.directories,
            Inline(),
            Compactor(InlineCleaner(self.disk), map_bytes=1_000_000),
            on_disk_failed=self.fail,
            delete_delay_ms=100,
        )

    def fail(self, path: str, error: DiskFailed) -> None:
        self.failed.append(path)
        self.directories.fail(path, error)

    def new_log(self, number: int = 0) -> Log:
        return self.directories.create(("orders", number), topic_id=None, now_ms=NOW_MS)

    def saved(self, name: str, path: str = "/a") -> dict[tuple[str, int], int]:
        return parse_offsets(self.disk.read(f"{path}/{name}"), name)


def run(*slices: Iterator[None]) -> int:
    """To their ends; says how many slices there were."""
    return sum(1 for each in slices for _ in each)


def filled(log: Log, count: int = 20) -> Log:
    for number in range(count):
        append(log, b"x" * 20, timestamp=NOW_MS + number)
    log.advance_high_watermark(log.next_offset)
    return log


def test_expired_segments_go_at_once_and_their_files_after_the_delay() -> None:
    broker = Broker()
    logs = [filled(broker.new_log(number)) for number in range(4)]
    assert run(broker.upkeep.check_retention(LATER_MS)) == 4
    assert [contents(log) for log in logs] == [[], [], [], []]
    run(broker.upkeep.poll(LATER_MS), broker.upkeep.remove_files(LATER_MS + 99))
    assert [name for name in broker.disk.names("/a/orders-0") if name.endswith(".deleted")]
    run(broker.upkeep.remove_files(LATER_MS + 100), broker.upkeep.poll(LATER_MS + 100))
    assert not [name for name in broker.disk.names("/a/orders-0") if name.endswith(".deleted")]
    assert not broker.upkeep.is_busy


def test_a_deleted_partition_s_folder_goes_after_the_delay() -> None:
    broker = Broker()
    filled(broker.new_log())
    directory = broker.directories.online["/a"]
    renamed = directory.delete(("orders", 0), tag="ab" * 16)
    run(broker.upkeep.remove_files(NOW_MS), broker.upkeep.remove_files(NOW_MS + 99))
    assert directory.deleted_folders == [renamed]
    run(broker.upkeep.remove_files(NOW_MS + 100), broker.upkeep.poll(NOW_MS + 100))
    assert directory.deleted_folders == []
    assert broker.disk.status(f"/a/{renamed}") is None


def deleted_topic(broker: Broker, *, partitions: int) -> LogDirectory:
    for number in range(partitions):
        broker.new_log(number)
    directory = broker.directories.online["/a"]
    for partition in list(directory.logs):
        directory.delete(partition, tag="ab" * 16)
    run(broker.upkeep.remove_files(NOW_MS), broker.upkeep.remove_files(NOW_MS + 100))
    return directory


def test_the_folders_of_a_large_topic_go_some_at_a_time_one_after_the_other() -> None:
    broker = Broker()
    directory = deleted_topic(broker, partitions=240)
    left = [len(directory.deleted_folders)]
    while broker.upkeep.is_busy:
        run(broker.upkeep.poll(NOW_MS + 100))
        left.append(len(directory.deleted_folders))
    assert left == [120, 70, 20, 0]


def test_a_broker_that_stops_does_not_wait_for_all_of_them() -> None:
    broker = Broker()
    directory = deleted_topic(broker, partitions=240)
    broker.upkeep.finish()
    assert len(directory.deleted_folders) == 70
    assert not broker.upkeep.is_busy


def test_a_log_is_flushed_when_its_limits_say_so() -> None:
    broker = Broker(LogConfig(flush_messages=3))
    log = broker.new_log()
    append(log, b"a", b"b")
    run(broker.upkeep.flush_due(NOW_MS), broker.upkeep.poll(NOW_MS))
    assert log.recovery_point == 0
    append(log, b"c")
    run(broker.upkeep.flush_due(NOW_MS), broker.upkeep.poll(NOW_MS))
    assert log.recovery_point == 3


def test_closed_segments_are_flushed_without_any_limit() -> None:
    broker = Broker()
    log = filled(broker.new_log())
    assert len(log.segments) > 1
    run(broker.upkeep.flush_due(NOW_MS), broker.upkeep.poll(NOW_MS))
    assert log.recovery_point == log.active.base_offset < log.next_offset
    before = len(broker.disk.operations)
    run(broker.upkeep.flush_due(NOW_MS), broker.upkeep.poll(NOW_MS))
    assert len(broker.disk.operations) == before


def test_checkpoints_say_what_a_crash_needs_and_are_written_only_when_they_change() -> None:
    broker = Broker()
    log = filled(broker.new_log())
    run(broker.upkeep.flush_due(NOW_MS), broker.upkeep.poll(NOW_MS))
    run(broker.upkeep.save_checkpoints(), broker.upkeep.save_high_watermarks())
    run(broker.upkeep.poll(NOW_MS))
    recovery_points = broker.saved("recovery-point-offset-checkpoint")
    assert recovery_points == {("orders", 0): log.recovery_point}
    assert broker.saved("replication-offset-checkpoint") == {("orders", 0): 20}
    before = len(broker.disk.operations)
    run(broker.upkeep.save_checkpoints(), broker.upkeep.save_high_watermarks())
    assert len(broker.disk.operations) == before


def test_deleted_records_stay_deleted_while_their_files_are_still_there() -> None:
    broker = Broker()
    log = filled(broker.new_log())
    for _ in broker.upkeep.check_retention(LATER_MS):
        assert log.unfinished  # set aside, but nobody has taken note
        run(broker.upkeep.save_checkpoints())
    assert broker.saved("log-start-offset-checkpoint") == {("orders", 0): 20}
    run(broker.upkeep.poll(NOW_MS), broker.upkeep.save_checkpoints())
    assert broker.saved("log-start-offset-checkpoint") == {}


def test_an_idle_producer_is_forgotten() -> None:
    broker = Broker()
    log = broker.new_log()
    sent = batch(b"x", producer_id=7, producer_epoch=0, base_sequence=0)
    log.append(sent, leader_epoch=0, now_ms=NOW_MS)
    run(broker.upkeep.forget_idle_producers(NOW_MS + log.config.producer_id_expiration_ms))
    assert log.producers.get(7) is None


def test_the_logs_of_all_directories_are_compacted_one_after_the_other() -> None:
    broker = Broker(COMPACTED)
    logs = [broker.new_log(number) for number in range(2)]
    latest = [fill(log, 60) for log in logs]
    before = [log.size_bytes for log in logs]
    for compacted in (1, 2):
        run(broker.upkeep.clean(NOW_MS), broker.upkeep.poll(NOW_MS))
        assert not broker.upkeep.is_busy
        smaller = [log for log, size in zip(logs, before, strict=True) if log.size_bytes < size]
        assert len(smaller) == compacted
    run(broker.upkeep.save_checkpoints())
    for number, path in enumerate(("/a", "/b")):
        expected = {("orders", number): logs[number].active.base_offset}
        assert broker.saved("cleaner-offset-checkpoint", path) == expected
        assert set(latest[number].values()) <= {value for _, value in contents(logs[number])}
    run(broker.upkeep.remove_files(NOW_MS + 100), broker.upkeep.poll(NOW_MS))
    assert not [name for name in broker.disk.names("/b/orders-1") if name.endswith(".deleted")]


def test_a_compaction_ends_with_its_directory() -> None:
    broker = Broker(COMPACTED)
    fill(broker.new_log(), 60)
    run(broker.upkeep.clean(NOW_MS))
    broker.directories.fail("/a", DiskFailed("/a", OSError("gone")))
    run(broker.upkeep.poll(NOW_MS))
    assert not broker.upkeep.is_busy


WORKS: dict[str, Callable[[Upkeep], Iterator[None]]] = {
    "retention": lambda upkeep: upkeep.check_retention(LATER_MS),
    "flush": lambda upkeep: upkeep.flush_due(NOW_MS),
    "checkpoints": lambda upkeep: upkeep.save_checkpoints(),
    "high watermarks": lambda upkeep: upkeep.save_high_watermarks(),
}


@pytest.mark.parametrize("work", WORKS)
def test_a_failing_disk_is_told_once_and_the_others_are_served(work: str) -> None:
    broker = Broker()
    logs = [filled(broker.new_log(number)) for number in range(4)]
    broker.disk.break_file("/a")
    run(WORKS[work](broker.upkeep), broker.upkeep.poll(NOW_MS))
    assert broker.failed == ["/a"]
    run(WORKS[work](broker.upkeep), broker.upkeep.poll(NOW_MS))
    assert broker.failed == ["/a"]
    assert append(logs[1], b"on /b") == 20


def test_a_disk_that_fails_while_it_is_compacted_is_told() -> None:
    broker = Broker(COMPACTED)
    log = broker.new_log()
    fill(log, 60)
    cleaning = broker.upkeep.clean(NOW_MS)
    next(cleaning)
    broker.disk.break_file("/a/orders-0/00000000000000000000.log")
    run(cleaning, broker.upkeep.poll(NOW_MS))
    assert broker.failed == ["/a"]
    assert not broker.upkeep.is_busy


@pytest.mark.parametrize("work", [work for work in WORKS if work != "flush"])
def test_what_was_refused_is_done_the_next_time(
    work: str, caplog: pytest.LogCaptureFixture
) -> None:
    expected = Broker()
    filled(expected.new_log())
    run(WORKS[work](expected.upkeep), expected.upkeep.poll(NOW_MS))
    broker = Broker()
    filled(broker.new_log())
    broker.disk.refuse_at(broker.disk.faults.operation_count + 1)
    run(WORKS[work](broker.upkeep), broker.upkeep.poll(NOW_MS))
    assert not broker.failed
    assert "Too many open files" in caplog.text
    run(WORKS[work](broker.upkeep), broker.upkeep.poll(NOW_MS))
    for folder in ("/a", "/a/orders-0"):
        assert broker.disk.names(folder) == expected.disk.names(folder)


def test_a_partition_may_go_between_two_slices() -> None:
    broker = Broker()
    for number in range(4):
        filled(broker.new_log(number))
    slices = broker.upkeep.check_retention(LATER_MS)
    next(slices)
    for number in (2, 3):
        directory = broker.directories.find(("orders", number))
        assert directory is not None
        directory.delete(("orders", number), tag="ab" * 16)
    assert run(slices) == 1


def test_a_deleted_log_s_segments_are_not_mistaken_for_a_new_one_s() -> None:
    broker = Broker()
    log = filled(broker.new_log())
    dropped = take_oldest(log, 2, now_ms=NOW_MS)
    broker.directories.online["/a"].delete(("orders", 0), tag="ab" * 16)
    again = filled(broker.new_log())
    dropped.run()  # a file thread comes to it only now
    assert broker.disk.status("/a/orders-0/00000000000000000000.log") is not None
    assert len(contents(again)) == 20


def test_all_that_was_submitted_is_taken_before_the_directories_close() -> None:
    broker = Broker()
    log = filled(broker.new_log())
    run(broker.upkeep.check_retention(LATER_MS))
    broker.upkeep.finish()
    assert not log.unfinished
    assert not broker.upkeep.is_busy


def test_64_megabytes_are_written_back_before_anybody_syncs() -> None:
    broker = Broker(LogConfig(max_message_bytes=100_000_000))
    log = broker.new_log()
    append(log, bytes(40_000_000))
    assert log.write_back_due() is None
    append(log, bytes(40_000_000))
    run(broker.upkeep.write_back(), broker.upkeep.poll(NOW_MS))
    assert log.active.written_back_bytes == log.size_bytes
    append(log, b"x")
    assert log.write_back_due() is None
