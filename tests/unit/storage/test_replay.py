"""However the state came to be, append by append or from the log, it is the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.protocol.errors import KafkaError
from ottla.protocol.records.batch import build_batch, validate_batch
from ottla.protocol.records.control import ControlType, build_end_transaction, control_key
from ottla.protocol.records.record import Record
from ottla.protocol.records.record_set import read_batches
from ottla.storage.files import CorruptLog
from ottla.storage.producer import ProducerState
from ottla.storage.producers import ProducerStates
from ottla.storage.replay import rebuild
from ottla.storage.snapshots import encode_snapshot, parse_snapshot
from ottla.storage.transactions import CompletedTransaction


@dataclass
class Log:
    """A leader's log in memory, with the state kept beside it."""

    states: ProducerStates = field(default_factory=ProducerStates)
    data: bytes = b""
    end_offset: int = 0
    completed: list[CompletedTransaction] = field(default_factory=list)

    def produce(self, producer_id: int, *, count: int, is_transactional: bool, bump: bool) -> None:
        state = self.states.get(producer_id)
        epoch = state.epoch + bump if state else 0
        sequence = state.last_sequence + 1 if state and not bump else 0
        records = [Record(i, 1000 + self.end_offset, None, b"v") for i in range(count)]
        built = build_batch(
            [Record(r.offset + self.end_offset, r.timestamp, r.key, r.value) for r in records],
            producer_id=producer_id,
            producer_epoch=epoch,
            base_sequence=sequence,
            is_transactional=is_transactional,
        )
        header = validate_batch(built)
        try:
            if self.states.check(header, from_client=True) is not None:
                return
        except KafkaError:
            return
        self.states.append(header, base_offset=self.end_offset, max_timestamp=header.max_timestamp)
        self.data += built
        self.end_offset += count

    def end(self, producer_id: int, *, commit: bool, bump: bool) -> None:
        state = self.states.get(producer_id)
        epoch = state.epoch + bump if state else 0
        timestamp = 2000 + self.end_offset
        completed = self.states.end_transaction(
            producer_id=producer_id,
            producer_epoch=epoch,
            coordinator_epoch=7,
            offset=self.end_offset,
            timestamp=timestamp,
            is_aborted=not commit,
        )
        self.completed += [completed] if completed else []
        self.data += build_end_transaction(
            ControlType.COMMIT if commit else ControlType.ABORT,
            offset=self.end_offset,
            timestamp=timestamp,
            producer_id=producer_id,
            producer_epoch=epoch,
            coordinator_epoch=7,
        )
        self.end_offset += 1

    def plain(self) -> None:
        self.data += build_batch([Record(self.end_offset, 5, None, b"no producer")])
        self.end_offset += 1


IDS = st.integers(1, 4)
STEPS = st.one_of(
    st.builds(
        lambda id_, count, tx, bump: lambda log: log.produce(
            id_, count=count, is_transactional=tx, bump=bump
        ),
        IDS, st.integers(1, 3), st.booleans(), st.sampled_from([False, False, False, True]),
    ),
    st.builds(
        lambda id_, commit, bump: lambda log: log.end(id_, commit=commit, bump=bump),
        IDS, st.booleans(), st.sampled_from([False, False, True]),
    ),
    st.just(Log.plain),
)  # fmt: skip
Step = Callable[[Log], None]


def everything(states: ProducerStates) -> tuple[object, ...]:
    """All that can be asked of a state."""
    unstable = [states.first_unstable_offset(mark) for mark in range(states.end_offset + 2)]
    return sorted(states.active_producers()), unstable, states.end_offset


@given(st.lists(STEPS, max_size=25))
def test_replaying_the_log_gives_the_state_that_was_kept(steps: list[Step]) -> None:
    log = Log()
    for step in steps:
        step(log)
    states, completed = rebuild(read_batches(log.data), "log")
    assert everything(states) == everything(log.states)
    assert completed == log.completed


@given(st.lists(STEPS, max_size=25), st.data())
def test_a_snapshot_and_the_rest_of_the_log_give_the_same(
    steps: list[Step], data: st.DataObject
) -> None:
    log = Log()
    snapshots = [(0, encode_snapshot([]))]
    for step in steps:
        step(log)
        snapshots.append((log.end_offset, encode_snapshot(log.states.active_producers())))
    offset, snapshot = data.draw(st.sampled_from(snapshots))
    producers = parse_snapshot(snapshot, "snapshot")
    states, completed = rebuild(
        read_batches(log.data), "log", start_offset=offset, producers=producers
    )
    assert completed == [each for each in log.completed if each.last_offset >= offset]
    assert list(map(last_seen, in_order(states))) == list(map(last_seen, in_order(log.states)))
    # What ended before the snapshot counts as replicated.
    assert states.first_unstable_offset(offset) == log.states.first_unstable_offset(offset)


def in_order(states: ProducerStates) -> list[ProducerState]:
    return sorted(states.active_producers())


def last_seen(state: ProducerState) -> tuple[int, ...]:
    """What a snapshot keeps: of the batches only the last, and not when it came."""
    return (*state[:5], *(state.batches[-1][:3] if state.batches else ()))


@given(st.lists(STEPS, max_size=15), st.lists(STEPS, max_size=15))
def test_a_group_that_is_taken_back_leaves_no_trace(before: list[Step], group: list[Step]) -> None:
    log = Log()
    for step in before:
        step(log)
    kept = everything(log.states), [s.producer_id for s in log.states.active_producers()]
    log.states.begin()
    for step in group:
        step(log)
    log.states.rollback()
    assert (everything(log.states), [s.producer_id for s in log.states.active_producers()]) == kept


@given(st.lists(STEPS, max_size=25), st.integers(0, 3000))
def test_expiry_forgets_the_same_producers_in_both(steps: list[Step], now_ms: int) -> None:
    log = Log()
    for step in steps:
        step(log)
    states, _ = rebuild(read_batches(log.data), "log")
    for each in (states, log.states):
        each.remove_expired(now_ms=now_ms, expiration_ms=500)
    assert everything(states) == everything(log.states)


def test_other_marks_and_emptied_ones_change_nothing() -> None:
    record = Record(0, 5, control_key(ControlType.LEADER_CHANGE), b"")
    for records in ([record], []):
        data = build_batch(
            records, last_offset_delta=0, producer_id=1, producer_epoch=0, is_control=True
        )
        states, completed = rebuild(read_batches(data), "log")
        assert (states.active_producers(), completed) == ([], [])


def test_a_broken_marker_is_refused_where_it_is() -> None:
    first = build_batch([Record(0, 5, None, b"v")])
    record = Record(1, 5, control_key(ControlType.ABORT), b"\0")
    broken = build_batch([record], producer_id=1, producer_epoch=0, is_control=True)
    with pytest.raises(CorruptLog, match="broken marker") as refusal:
        rebuild(read_batches(first + broken), "log")
    assert refusal.value.position == len(first)


def test_snapshots_are_refused_when_any_byte_is_wrong() -> None:
    log = Log()
    log.produce(1, count=2, is_transactional=True, bump=False)
    log.end(2, commit=True, bump=False)
    data = encode_snapshot(log.states.active_producers())
    for position in range(len(data)):
        broken = bytearray(data)
        broken[position] ^= 1
        with pytest.raises(CorruptLog):
            parse_snapshot(bytes(broken), "x")
        with pytest.raises(CorruptLog):
            parse_snapshot(data[:position], "x")
    assert [left < right for left, right in pairwise(parse_snapshot(data, "x"))] == [True]
