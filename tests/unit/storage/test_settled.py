"""Compaction judges by what lasts: a power cut may take all that came after it."""

from __future__ import annotations

import random

import pytest

from ottla.protocol.records.batch import build_batch
from ottla.protocol.records.control import ControlType
from ottla.protocol.records.record import Record
from ottla.simulation.cleaner import InlineCleaner
from ottla.simulation.disk import SimulatedDisk
from ottla.storage.compactor import Compactor
from ottla.storage.cutting import advance_start
from ottla.storage.flushing import flush
from ottla.storage.log import Log
from ottla.storage.recovery import Found, open_log
from ottla.storage.settled import Settled
from ottla.storage.transaction_trail import ActiveProducer
from tests.unit.storage.compacted_log import WrittenLog, parse
from tests.unit.storage.logs import FOLDER, NOW_MS, new_log
from tests.unit.storage.test_compactor import COMPACTED, ORDERS, read_all


class Partition:
    """A compacted log whose segments end where the test wants."""

    def __init__(self) -> None:
        self.disk = SimulatedDisk(random.Random(0))
        self.log = new_log(COMPACTED, self.disk)
        self.sequence = 0
        self.compactor = Compactor(InlineCleaner(self.disk), map_bytes=1_000_000)
        self.checkpoint: dict[tuple[str, int], int] = {}

    def put(
        self, key: bytes, value: bytes | None, *, producer: int = -1, transactional: bool = False
    ) -> None:
        data = build_batch(
            [Record(0, NOW_MS, key, value)],
            producer_id=producer,
            producer_epoch=0 if producer >= 0 else -1,
            base_sequence=self.sequence if producer >= 0 else -1,
            is_transactional=transactional,
        )
        self.log.append(memoryview(bytearray(data)), leader_epoch=0, now_ms=NOW_MS)
        self.log.commit()
        self.sequence += producer >= 0

    def end(self, control_type: ControlType) -> None:
        self.log.append_marker(
            control_type,
            producer_id=7,
            producer_epoch=0,
            coordinator_epoch=0,
            leader_epoch=0,
            now_ms=NOW_MS,
        )
        self.log.commit()

    def roll(self) -> None:
        self.log.roll(now_ms=NOW_MS)

    def compact(self, *, now_ms: int = NOW_MS) -> bool:
        self.log.advance_high_watermark(self.log.next_offset)
        is_begun = self.compactor.start({ORDERS: self.log}, self.checkpoint, now_ms=now_ms)
        return bool(is_begun and self.compactor.poll())

    def without_what_was_not_flushed(self) -> Log:
        point = self.log.recovery_point
        for segment in self.log.segments:
            if segment.base_offset >= point:
                self.disk.remove(segment.path(".log"))
        self.disk.remove(f"{FOLDER}/{self.log.active.base_offset:020d}.snapshot")
        found = Found(False, point)
        return open_log(self.disk.kill(), FOLDER, COMPACTED, found, now_ms=NOW_MS)


def test_a_producer_is_known_by_its_last_batch_that_cannot_be_lost() -> None:
    partition = Partition()
    partition.put(b"a", b"old", producer=7)
    partition.put(b"a", b"new")
    partition.roll()
    flush(partition.log)
    partition.put(b"b", b"not flushed", producer=7)
    assert partition.compact()
    log = partition.without_what_was_not_flushed()
    assert [value for _, _, value in read_all(log)] == [b"new"]
    state = log.producers.get(7)
    assert state is not None
    assert state.last_sequence == 0


@pytest.mark.parametrize("control_type", [ControlType.COMMIT, ControlType.ABORT])
def test_a_transaction_whose_end_may_be_lost_counts_as_open(control_type: ControlType) -> None:
    partition = Partition()
    partition.put(b"a", b"old")
    partition.put(b"c", b"1")
    partition.put(b"c", b"2")
    partition.put(b"a", b"new", producer=7, transactional=True)
    partition.roll()
    flush(partition.log)
    partition.end(control_type)
    assert partition.compact()
    assert [value for _, _, value in read_all(partition.log)][:3] == [b"old", b"2", b"new"]
    assert partition.checkpoint == {ORDERS: 3}
    log = partition.without_what_was_not_flushed()
    assert [value for _, _, value in read_all(log)] == [b"old", b"2", b"new"]
    assert log.last_stable_offset <= 3


def test_a_log_with_nothing_to_gain_is_left_alone_until_more_of_it_lasts() -> None:
    partition = Partition()
    partition.put(b"a", b"old", producer=7, transactional=True)
    partition.put(b"a", b"new", producer=7, transactional=True)
    partition.roll()
    flush(partition.log)
    partition.end(ControlType.COMMIT)
    assert not partition.compact()
    assert partition.compactor.start({ORDERS: partition.log}, {}, now_ms=NOW_MS) is None
    partition.roll()
    flush(partition.log)
    assert partition.compact()
    assert [value for _, _, value in read_all(partition.log)][:1] == [b"new"]


def test_who_has_not_gone_on_is_known_as_the_log_knows_it() -> None:
    log = WrittenLog()
    log.write([(b"a", b"1")], producer=7, transactional=False)
    log.write([(b"a", b"2")], producer=8, transactional=False)
    settled = Settled(2)
    for each in parse(log.batches):
        assert each.header is not None
        settled.meet(each.header)
    known = [ActiveProducer(7, 0, 0), ActiveProducer(8, 0, 5), ActiveProducer(9, 0, 6)]
    assert settled.last_of(known) == [ActiveProducer(7, 0, 0), ActiveProducer(8, 0, 1)]
    assert settled.stable_offset == 2


def test_what_was_deleted_does_not_come_back_with_an_older_log_start() -> None:
    partition = Partition()
    partition.put(b"a", b"deleted")
    partition.put(b"a", None)
    partition.put(b"b", b"1")
    partition.roll()
    partition.put(b"b", b"2")
    flush(partition.log)
    advance_start(partition.log, 2)
    for late_ms in (0, COMPACTED.delete_retention_ms):
        partition.checkpoint.clear()
        assert partition.compact(now_ms=NOW_MS + late_ms)
    log = open_log(partition.disk.kill(), FOLDER, COMPACTED, Found(False, 0), now_ms=NOW_MS)
    assert log.log_start_offset == 0
    assert [key for _, key, _ in read_all(log)] == [b"b", b"b"]
