"""One fault of each kind, put into a good history. None where the history has no place for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from random import Random
from typing import TypeVar

from ottla.verify.findings import Kind
from ottla.verify.history import (
    Ended,
    Event,
    Fenced,
    FinalRead,
    History,
    Isolation,
    OffsetsFetched,
    OffsetsSent,
    Outcome,
    Read,
    Seeked,
    Sent,
    TopicPartition,
)
from tests.unit.verify.model import GROUP

T = TypeVar("T")
Fault = Callable[[History, Random], History | None]
COMMITTED = Isolation.READ_COMMITTED


def lose_a_write(history: History, random: Random) -> History | None:
    return _without_sightings(history, _one(random, _committed_sends(history)))


def tear_one_in_doubt(history: History, random: Random) -> History | None:
    """One record of several goes, of a transaction that took place and nobody heard of it."""
    visible = _visible(history)
    in_doubt = _ends(history, is_commit=True, outcome=Outcome.UNKNOWN)
    found: dict[str | None, list[Sent]] = {}
    for send in _sends(history):
        if send.transaction in in_doubt and send.value in visible and send.outcome is Outcome.OK:
            found.setdefault(send.transaction, []).append(send)
    several = [sends[0] for sends in found.values() if len(sends) > 1]
    return _without_sightings(history, _one(random, several))


def double_a_record(history: History, random: Random) -> History | None:
    send = _one(random, _committed_sends(history))
    return None if send is None else _appended(history, send.partition, send.value)


def invent_a_record(history: History, random: Random) -> History | None:
    return _appended(history, TopicPartition("input", 0), "never sent")


def invent_a_failed_record(history: History, random: Random) -> History | None:
    send = _one(random, _committed_sends(history))
    return None if send is None else _with(history, {send: send._replace(outcome=Outcome.FAILED)})


def change_a_record(history: History, random: Random) -> History | None:
    read = _one(random, _reads(history))
    return None if read is None else _with(history, {read: read._replace(value="other")})


def acknowledge_another_offset(history: History, random: Random) -> History | None:
    send = _one(random, _committed_sends(history))
    if send is None or send.offset is None:
        return None
    return _with(history, {send: send._replace(offset=send.offset + 1)})


def show_an_aborted_record(history: History, random: Random) -> History | None:
    aborted = _ends(history, is_commit=False, outcome=Outcome.OK)
    found = [each for each in _sends(history) if each.transaction in aborted]
    send = _one(random, [each for each in found if each.offset is not None])
    if send is None or send.offset is None:
        return None
    return _shown(history, send.partition, send.offset, send.value)


def show_an_open_record(history: History, random: Random) -> History | None:
    """A consumer has it before the commit is asked for."""
    asked = {each.transaction: each.asked for each in _all_ends(history) if each.is_commit}
    owners = {each.value: each.transaction for each in _sends(history)}
    read = _one(random, [each for each in _reads(history) if owners.get(each.value) in asked])
    if read is None:
        return None
    earlier = read._replace(at=asked[owners[read.value] or ""] - 1)
    return _with(history, {read: earlier})


def swap_two_records(history: History, random: Random) -> History | None:
    """Of one producer, in what everybody sees and in what it was told."""
    pairs: dict[tuple[str, TopicPartition], list[Sent]] = {}
    for send in _committed_sends(history):
        key = (send.client, send.partition)
        if key in pairs and len(pairs[key]) == 1:
            pairs[key] = [*pairs[key], send]
        pairs.setdefault(key, [send])
    pair = _one(random, [each for each in pairs.values() if len(each) == 2])
    if pair is None:
        return None
    first, second = pair
    names = {first.value: second.value, second.value: first.value}
    told: dict[Event, Event | None] = {
        first: first._replace(offset=second.offset),
        second: second._replace(offset=first.offset),
    }
    return _renamed(_with(history, told), names)


def read_backwards(history: History, random: Random) -> History | None:
    found = []
    reads = list(_reads(history))
    for one, other in pairwise(reads):
        is_next = (one.client, one.partition) == (other.client, other.partition)
        if is_next and one.offset < other.offset:
            found.append((one, other))
    pair = _one(random, found)
    if pair is None:
        return None
    return _with(history, {pair[0]: pair[1], pair[1]: pair[0]})


def pass_a_record_by(history: History, random: Random) -> History | None:
    """Any but the last that a consumer read of a partition."""
    ahead: dict[tuple[str, TopicPartition], int] = {}
    found = []
    for event in reversed(history.events):
        if isinstance(event, Seeked):
            ahead[event.client, event.partition] = 0
        elif isinstance(event, Read) and event.isolation is COMMITTED:
            if event.offset < ahead.get((event.client, event.partition), 0):
                found.append(event)
            ahead[event.client, event.partition] = event.offset
    chosen = _one(random, found)
    return None if chosen is None else _with(history, {chosen: None})


def set_offsets_back(history: History, random: Random) -> History | None:
    """The last fetch hears less than the last acknowledged commit."""
    acknowledged = _ends(history, is_commit=True, outcome=Outcome.OK)
    sent = [each for each in history.events if isinstance(each, OffsetsSent)]
    final = _final_fetch(history)
    for each in reversed(sent):
        if each.transaction in acknowledged and each.offsets[0] in final.offsets:
            partition = each.offsets[0][0]
            told = tuple((p, -1 if p == partition else offset) for p, offset in final.offsets)
            return _with(history, {final: final._replace(offsets=told)})
    return None


def keep_offsets_of_an_aborted_one(history: History, random: Random) -> History | None:
    aborted = _ends(history, is_commit=False, outcome=Outcome.OK)
    kept = {}
    for each in history.events:
        if isinstance(each, OffsetsSent):
            for place in each.offsets:
                kept[place] = each.transaction in aborted
    chosen = _one(random, [each for each, is_aborted in kept.items() if is_aborted])
    if chosen is None:
        return None
    final = _final_fetch(history)
    told = tuple(chosen if each == chosen[0] else (each, o) for each, o in final.offsets)
    return None if told == final.offsets else _with(history, {final: final._replace(offsets=told)})


def commit_lower_offsets(history: History, random: Random) -> History | None:
    acknowledged = _ends(history, is_commit=True, outcome=Outcome.OK)
    high: dict[TopicPartition, int] = {}
    for each in history.events:
        if isinstance(each, OffsetsSent) and each.transaction in acknowledged:
            partition = each.offsets[0][0]
            if high.get(partition, 0) > 0:
                return _with(history, {each: each._replace(offsets=((partition, 0),))})
            high |= dict(each.offsets)
    return None


def leave_an_input_out(history: History, random: Random) -> History | None:
    outputs = [each for each in _committed_sends(history) if each.source is not None]
    send = _one(random, outputs)
    if send is None:
        return None
    without = _without_sightings(history, send)
    return None if without is None else _with(without, {send: None})


def transform_twice(history: History, random: Random) -> History | None:
    outputs = [each for each in _committed_sends(history) if each.source is not None]
    if len(outputs) < 2:
        return None
    one, other = random.sample(outputs, 2)
    return _with(history, {other: other._replace(source=one.source)})


def let_a_zombie_commit(history: History, random: Random) -> History | None:
    """One whose next of the same id was ready before it asked."""
    ends = [each for each in _all_ends(history) if each.outcome is Outcome.UNKNOWN]
    fenced = {each.client: None for each in history.events if isinstance(each, Fenced)}
    zombie = _one(random, [each for each in ends if each.client in fenced])
    return None if zombie is None else _with(history, {zombie: zombie._replace(outcome=Outcome.OK)})


def end_both_ways(history: History, random: Random) -> History | None:
    ended = _one(random, [each for each in _all_ends(history) if each.outcome is Outcome.OK])
    if ended is None:
        return None
    other = ended._replace(is_commit=not ended.is_commit, asked=ended.answered)
    return history._replace(events=(*history.events, other))


FAULTS: dict[Fault, Kind] = {
    lose_a_write: Kind.LOST_WRITE,
    tear_one_in_doubt: Kind.TORN_TRANSACTION,
    double_a_record: Kind.DUPLICATE,
    invent_a_record: Kind.INVENTED,
    invent_a_failed_record: Kind.INVENTED,
    change_a_record: Kind.CHANGED,
    acknowledge_another_offset: Kind.CHANGED,
    show_an_aborted_record: Kind.ABORTED_READ,
    show_an_open_record: Kind.DIRTY_READ,
    swap_two_records: Kind.REORDERED,
    read_backwards: Kind.REORDERED,
    pass_a_record_by: Kind.MISSED_READ,
    set_offsets_back: Kind.OFFSETS_BACKWARDS,
    commit_lower_offsets: Kind.OFFSETS_BACKWARDS,
    keep_offsets_of_an_aborted_one: Kind.TORN_TRANSACTION,
    leave_an_input_out: Kind.NOT_TRANSFORMED,
    transform_twice: Kind.TRANSFORMED_TWICE,
    let_a_zombie_commit: Kind.ZOMBIE,
    end_both_ways: Kind.CONTRADICTION,
}


def _one(random: Random, found: list[T]) -> T | None:
    return random.choice(found) if found else None


def _sends(history: History) -> Iterator[Sent]:
    return (each for each in history.events if isinstance(each, Sent))


def _reads(history: History) -> list[Read]:
    reads = (each for each in history.events if isinstance(each, Read))
    return [each for each in reads if each.isolation is COMMITTED]


def _all_ends(history: History) -> Iterator[Ended]:
    return (each for each in history.events if isinstance(each, Ended))


def _ends(history: History, *, is_commit: bool, outcome: Outcome) -> dict[str | None, None]:
    found = (each for each in _all_ends(history) if each.outcome is outcome)
    return {each.transaction: None for each in found if each.is_commit is is_commit}


def _committed_sends(history: History) -> list[Sent]:
    """Acknowledged, in transactions whose commit was acknowledged."""
    committed = _ends(history, is_commit=True, outcome=Outcome.OK)
    acknowledged = (each for each in _sends(history) if each.outcome is Outcome.OK)
    return [each for each in acknowledged if each.transaction in committed]


def _visible(history: History) -> dict[str, None]:
    finals = (each for each in history.events if isinstance(each, FinalRead))
    return {value: None for each in finals if each.isolation is COMMITTED for _, value in each[2]}


def _final_fetch(history: History) -> OffsetsFetched:
    fetches = [each for each in history.events if isinstance(each, OffsetsFetched)]
    return [each for each in fetches if each.group == GROUP][-1]


def _with(history: History, changes: dict[Event, Event | None]) -> History:
    """Each event replaced, or left out."""
    found = (changes.get(each, each) for each in history.events)
    return history._replace(events=tuple(each for each in found if each is not None))


def _in_finals(history: History, change: Callable[[FinalRead], list[tuple[int, str]]]) -> History:
    return history._replace(
        events=tuple(
            each._replace(records=tuple(change(each))) if isinstance(each, FinalRead) else each
            for each in history.events
        )
    )


def _without_sightings(history: History, send: Sent | None) -> History | None:
    if send is None:
        return None
    left = _with(history, {e: None for e in _reads(history) if e.value == send.value})
    return _in_finals(left, lambda final: [r for r in final.records if r[1] != send.value])


def _appended(history: History, partition: TopicPartition, value: str) -> History:
    return _shown(history, partition, 1_000_000, value)


def _shown(history: History, partition: TopicPartition, offset: int, value: str) -> History:
    """In the final read of what is committed."""

    def change(final: FinalRead) -> list[tuple[int, str]]:
        is_here = final.partition == partition and final.isolation is COMMITTED
        return sorted([*final.records, (offset, value)]) if is_here else list(final.records)

    return _in_finals(history, change)


def _renamed(history: History, names: dict[str, str]) -> History:
    """What everybody sees, under other names."""
    seen = (each for each in history.events if isinstance(each, Read) and each.value in names)
    reads: dict[Event, Event | None] = {e: e._replace(value=names[e.value]) for e in seen}
    return _in_finals(
        _with(history, reads),
        lambda final: [(offset, names.get(value, value)) for offset, value in final.records],
    )
