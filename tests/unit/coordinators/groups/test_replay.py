"""What is left of a log once it is read again."""

from __future__ import annotations

import logging

import pytest

from ottla.coordinators.batch import build_coordinator_batch
from ottla.coordinators.effects import Record
from ottla.coordinators.groups.offsets import Offsets
from ottla.coordinators.groups.records import (
    CommittedOffset,
    group_tombstone,
    offset_key,
    offset_key_start,
    offset_value,
)
from ottla.coordinators.groups.replay import OFFSET_VERSIONS, restore
from ottla.coordinators.replay import Replay
from ottla.protocol.records import record
from ottla.protocol.records.compression import Codec
from ottla.protocol.records.control import ControlType, build_end_transaction
from ottla.protocol.records.message_set import build_message_set
from tests.unit.coordinators.fake_log import FakeLog

STABLE = b"the group as it is stored"


def commit(partition: int, offset: int, group: str = "readers") -> Record:
    value = offset_value(CommittedOffset(offset, 1, "", 1_000))
    return Record(offset_key(offset_key_start(group), "orders", partition), value)


def forget(partition: int) -> Record:
    return Record(commit(partition, 0).key, None)


def group(name: str = "readers") -> Record:
    return Record(group_tombstone(name).key, STABLE)


class Restored:
    def __init__(self) -> None:
        self.offsets: dict[str, Offsets] = {}
        self.groups: dict[str, bytes] = {}

    def offsets_of(self, group_id: str) -> Offsets:
        return self.offsets.setdefault(group_id, Offsets())

    def pending_offsets_of(self, group_id: str, producer_id: int) -> Offsets:
        return self.offsets_of(group_id)

    def restore_group(self, group_id: str, value: bytes) -> None:
        self.groups[group_id] = value

    @property
    def committed(self) -> dict[int, int]:
        """Of the group `readers`."""
        known = self.offsets.get("readers", Offsets())
        found = {place[1]: known.get(place) for place in known.committed}
        return {number: each.offset for number, each in found.items() if each is not None}


def new_replay() -> Replay:
    return Replay("offsets-0", transactional=OFFSET_VERSIONS)


class Written:
    """A log that is written batch by batch, and read at last."""

    def __init__(self) -> None:
        self.log = FakeLog()
        self.replay = new_replay()

    def plain(self, *records: Record, codec: Codec = Codec.NONE) -> Written:
        self.log.write(build_coordinator_batch(records, timestamp=1, codec=codec))
        return self

    def transactional(self, producer_id: int, *records: Record) -> Written:
        batch = build_coordinator_batch(
            records, timestamp=1, producer_id=producer_id, producer_epoch=0, is_transactional=True
        )
        self.log.write(batch)
        return self

    def ends(self, producer_id: int, how: ControlType) -> Written:
        marker = build_end_transaction(
            how,
            offset=0,
            timestamp=1,
            producer_id=producer_id,
            producer_epoch=0,
            coordinator_epoch=0,
        )
        self.log.write(marker)
        return self

    def read(self, *, at_a_time: int = 1 << 20) -> Restored:
        data, restored = self.log.data, Restored()
        while data:
            before = self.replay.next_offset
            list(self.replay.absorb(data[:at_a_time]))
            data = self.log._from(self.replay.next_offset, at_a_time)
            assert self.replay.next_offset > before
        list(restore(self.replay, restored))
        return restored


def test_the_last_value_of_a_key_is_left_and_tombstones_leave_nothing() -> None:
    written = Written().plain(commit(0, 1), commit(1, 1), group()).plain(commit(0, 2), forget(1))
    restored = written.read()
    assert restored.committed == {0: 2}
    assert restored.groups == {"readers": STABLE}
    assert written.replay.next_offset == written.replay.record_count == 5


def test_a_group_that_was_removed_is_not_left() -> None:
    restored = Written().plain(group(), commit(0, 1)).plain(group_tombstone("readers")).read()
    assert restored.groups == {}
    assert restored.committed == {0: 1}


@pytest.mark.parametrize("codec", list(Codec))
def test_batches_may_be_compressed(codec: Codec) -> None:
    records = [commit(number, number) for number in range(600)]
    restored = Written().plain(*records, codec=codec).read()
    assert restored.committed == {number: number for number in range(600)}


def test_a_log_may_be_read_in_pieces_that_cut_batches() -> None:
    written = Written()
    for number in range(40):
        written.plain(commit(number % 7, number), commit(50 + number, number))
    restored = written.read(at_a_time=333)
    assert {number: restored.committed[number] for number in range(7)} == {
        number % 7: number for number in range(33, 40)
    }
    assert written.replay.record_count == 80


def test_a_batch_that_was_read_before_is_not_counted_again() -> None:
    written = Written().plain(commit(0, 1)).plain(commit(0, 2))
    list(written.replay.absorb(written.log.data))
    list(written.replay.absorb(written.log.data))
    assert written.replay.record_count == 2


def test_a_transactions_offsets_wait_for_its_commit() -> None:
    written = Written().plain(commit(0, 1)).transactional(7, commit(0, 2), commit(1, 2))
    assert written.ends(7, ControlType.COMMIT).read().committed == {0: 2, 1: 2}


def test_an_aborted_transactions_offsets_are_dropped() -> None:
    written = Written().plain(commit(0, 1)).transactional(7, commit(0, 2))
    written.ends(7, ControlType.ABORT).ends(7, ControlType.COMMIT)
    assert written.read().committed == {0: 1}


def test_a_plain_commit_after_the_transactions_wins_also_if_the_transaction_ends_later() -> None:
    written = Written().transactional(7, commit(0, 2), commit(1, 2)).plain(commit(0, 3))
    assert written.ends(7, ControlType.COMMIT).read().committed == {0: 3, 1: 2}


def test_a_tombstone_in_a_transaction_takes_back_what_it_wrote_itself() -> None:
    written = Written().plain(commit(0, 1)).transactional(7, commit(0, 2))
    written.transactional(7, forget(0)).ends(7, ControlType.COMMIT)
    assert written.read().committed == {0: 1}


def test_an_open_transaction_stays_open_and_remembers_who_came_later() -> None:
    written = Written().transactional(7, commit(0, 2), commit(1, 2)).plain(commit(0, 3))
    restored = written.read()
    offsets = restored.offsets["readers"]
    assert offsets.producer_ids == [7]
    assert offsets.is_unstable(("orders", 1))
    assert restored.committed == {0: 3}
    offsets.end_transaction(7, committed=True)
    assert restored.committed == {0: 3, 1: 2}


def test_a_group_record_within_a_transaction_counts_at_once() -> None:
    assert Written().transactional(7, group()).read().groups == {"readers": STABLE}


def test_records_of_later_kinds_are_passed_over_in_silence(
    caplog: pytest.LogCaptureFixture,
) -> None:
    written = Written().plain(Record(b"\0\3\0\1g", b"consumer group"), commit(0, 1))
    assert written.read().committed == {0: 1}
    assert written.replay.unreadable == 0
    assert caplog.records == []


def test_what_cannot_be_read_is_passed_over_and_told_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.ERROR)
    written = Written().plain(
        commit(0, 1),
        Record(commit(1, 0).key, b"\0\3 cut off"),
        Record(b"\0\1\0\5abc", b"a key that is cut off"),
        Record(b"\0\1\0\1\xff\0\1t\0\0\0\1", offset_value(CommittedOffset(1, 1, "", 1))),
        commit(2, 2),
    )
    assert written.read().committed == {0: 1, 2: 2}
    assert written.replay.unreadable == 3
    assert len(caplog.records) == 1
    assert "offsets-0" in caplog.text


def test_a_batch_with_a_wrong_checksum_is_passed_over() -> None:
    written = Written().plain(commit(0, 1)).plain(commit(0, 2)).plain(commit(1, 3))
    size = len(written.log.data) // 3
    garbled = bytearray(written.log.data)
    garbled[2 * size - 1] ^= 1
    written.log.data = bytes(garbled)
    assert written.read().committed == {0: 1, 1: 3}
    assert written.replay.unreadable == 1


def test_a_batch_without_a_possible_length_ends_the_reading() -> None:
    written = Written().plain(commit(0, 1))
    with pytest.raises(ValueError, match="length 3 after offset 1"):
        list(written.replay.absorb(written.log.data + bytes(11) + b"\3" + bytes(40)))


def test_the_formats_before_batches_are_read_too() -> None:
    old = [record.Record(number, 5, *commit(number, number)) for number in range(3)]
    replay, restored = new_replay(), Restored()
    list(replay.absorb(build_message_set(old, magic=1)))
    list(restore(replay, restored))
    assert restored.committed == {0: 0, 1: 1, 2: 2}
    assert replay.next_offset == 3
