"""What becomes of dead letters and of lost records, told to any cluster: ours, or a real Kafka."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from ottla.pipelines.folder import LocalFolder
from ottla.pipelines.kafka import Cluster, Place
from ottla.pipelines.repair.checkpoint import Checkpoint
from ottla.pipelines.repair.dead_letters import DeadLetters, Wanted
from ottla.pipelines.repair.guard import Guard
from ottla.pipelines.repair.ledger import Ledger
from ottla.pipelines.repair.letter import DeadLetter
from ottla.pipelines.repair.letter_records import ATTEMPTS, to_records
from ottla.pipelines.repair.losses import Cause, DataLoss, Loss
from ottla.pipelines.repair.markers import Marker, State
from ottla.pipelines.repair.topic_compare import compare_topics, recount
from ottla.pipelines.topic_records import NoSuchTopic, Record, places_of, read_records
from ottla.pipelines.transactional import Fenced
from ottla.timing.clock import SystemClock

_TIMEOUT_S = 30.0
EVERY = Wanted()
_LONG_AGO_MS = 1_699_999_980_000  # the beginning of a minute


class Stage:
    """A cluster to play on, and names that no other story uses."""

    def __init__(self, bootstrap: str, name: str, folder: Path) -> None:
        self.cluster = Cluster(bootstrap)
        self.admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
        self.source, self.letters_topic = name, f"{name}.dlq"
        self.folder = LocalFolder(str(folder))

    def create(self, topic: str, partitions: int) -> str:
        self._wait_until(lambda: self._is_created(NewTopic(topic, partitions, 1)))
        self._wait_until(lambda: topic in self.cluster.topics([topic]))
        return topic

    def _is_created(self, topic: NewTopic) -> bool:
        """False as long as a topic of that name is being deleted."""
        try:
            self._done(self.admin.create_topics([topic]))
        except KafkaException as cause:
            if cause.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                raise
            return False
        return True

    def delete(self, topic: str) -> None:
        self._done(self.admin.delete_topics([topic]))
        self._wait_until(lambda: topic not in self.cluster.topics([topic]))

    def delete_records(self, place: Place, before: int) -> None:
        self._done(self.admin.delete_records([TopicPartition(*place, before)]))

    def produce(self, topic: str, records: Sequence[dict[str, Any]]) -> None:
        producer = Producer({"bootstrap.servers": self.cluster.bootstrap, "log_level": 0})
        for record in records:
            producer.produce(topic, **record)
        assert producer.flush(_TIMEOUT_S) == 0

    def lay_aside(self, letters: Sequence[DeadLetter]) -> None:
        self.produce(
            self.letters_topic,
            [
                {"key": key, "value": value, "headers": headers, "partition": 0}
                for key, value, headers in to_records(letters, pipeline="views")
            ],
        )

    def all(self, topic: str) -> list[Record]:
        places = places_of(self.cluster, topic)
        starts, ends = self.cluster.starts(places), self.cluster.ends(places)
        ranges = {place: (starts[place], ends[place]) for place in places}
        return sorted(read_records(self.cluster, ranges))

    def letters(self) -> DeadLetters:
        return DeadLetters(self.cluster, self.letters_topic, SystemClock())

    def redrive(self, wanted: Wanted = EVERY, **how: Any) -> int:
        """How many."""
        sent = sum(map(len, self.letters().redrive(wanted, **how)))
        self.settle(f"ottla.redrive.{self.letters_topic}")
        return sent

    def settle(self, transactional_id: str) -> None:
        """A commit is only decided when it returns; who comes after it waits until it is done."""
        next_one = self.cluster.producer({"transactional.id": transactional_id})
        next_one.init_transactions(_TIMEOUT_S)

    def states(self, wanted: Wanted = EVERY) -> list[tuple[int, str]]:
        found = self.letters().find(wanted)
        return [(letter.offset, letter.state.value) for letter in found]

    def _done(self, asked: dict[Any, Any]) -> None:
        for answer in asked.values():
            answer.result(_TIMEOUT_S)

    def _wait_until(self, condition: Callable[[], bool]) -> None:
        assert any(condition() for _ in range(1_000))


def _letter(offset: int, *, rule: str = "malformed", partition: int = 1, topic: str) -> DeadLetter:
    return DeadLetter(
        topic=topic,
        partition=partition,
        offset=offset,
        timestamp_ms=1_700_000_000_000 + offset,
        key=None if offset == 1 else b"key",
        value=None if offset == 2 else b"\xff%d" % offset,
        headers=(("trace", b"1"), ("none", None)),
        rule=rule,
        error="it is no JSON",
    )


def _laid_aside(stage: Stage, count: int) -> None:
    stage.create(stage.source, 2)
    stage.create(stage.letters_topic, 2)
    stage.lay_aside([_letter(offset, topic=stage.source) for offset in range(count)])


def letters_are_found_by_what_they_say(stage: Stage) -> None:
    stage.create(stage.letters_topic, 2)
    stage.lay_aside(
        [
            _letter(0, topic="a"),
            _letter(1, topic="a", rule="not_null(id)"),
            _letter(2, topic="b", partition=0),
        ]
    )
    stage.produce(stage.letters_topic, [{"value": b"of somebody else", "partition": 1}])
    letters = stage.letters()
    found = list(letters.find(EVERY))
    assert [each.stored.letter for each in found] == [
        _letter(0, topic="a"),
        _letter(1, topic="a", rule="not_null(id)"),
        _letter(2, topic="b", partition=0),
    ]
    assert letters.strangers == 1
    waiting = State.WAITING.value
    assert stage.states(Wanted(rule="not_null(id)")) == [(1, waiting)]
    assert stage.states(Wanted(topic="a", partition=1)) == [(0, waiting), (1, waiting)]
    assert stage.states(Wanted(partition=0)) == [(2, waiting)]
    assert stage.states(Wanted(limit=1)) == [(0, waiting)]
    assert stage.states(Wanted(state=State.REDRIVEN)) == []
    assert stage.states(Wanted(from_ms=found[0].laid_aside_ms + 3_600_000)) == []
    assert stage.states(Wanted(to_ms=found[0].laid_aside_ms)) == []
    assert stage.letters().get(0, 1) == found[1]
    assert stage.letters().get(0, 3) is None
    assert stage.letters().get(7, 0) is None


def a_redriven_letter_is_where_it_was_and_as_it_was(stage: Stage) -> None:
    _laid_aside(stage, 3)
    assert [len(chunk) for chunk in stage.letters().redrive(EVERY, at_once=2)] == [2, 1]
    assert stage.redrive() == 0
    back = stage.all(stage.source)
    wanted = [_letter(offset, topic=stage.source) for offset in range(3)]
    assert [(each.key, each.value, each.timestamp_ms, each.partition) for each in back] == [
        (each.key, each.value, each.timestamp_ms, each.partition) for each in wanted
    ]
    assert {each.headers for each in back} == {(("trace", b"1"), ("none", None), (ATTEMPTS, b"1"))}
    redriven = State.REDRIVEN.value
    assert stage.states() == [(0, redriven), (1, redriven), (2, redriven)]


def nothing_is_redriven_twice_unless_it_is_meant(stage: Stage) -> None:
    _laid_aside(stage, 2)
    first = Wanted(limit=1)
    for _ in range(3):
        assert stage.redrive(first) <= 1
    assert len(stage.all(stage.source)) == 2
    stage.create(f"{stage.source}.other", 1)
    assert stage.redrive(first, to=f"{stage.source}.other", again=True) == 1
    assert len(stage.all(f"{stage.source}.other")) == 1
    [found] = stage.letters().find(first)
    assert found.marker is not None
    assert (found.marker.times, found.marker.to) == (2, f"{stage.source}.other")


def discarded_letters_stay_and_are_not_redriven(stage: Stage) -> None:
    _laid_aside(stage, 2)
    assert [len(chunk) for chunk in stage.letters().discard(Wanted(limit=1))] == [1]
    assert list(stage.letters().discard(Wanted(state=State.DISCARDED, limit=0))) == []
    assert stage.redrive() == 1
    assert stage.states() == [(0, "discarded"), (1, "redriven")]
    assert [each.offset for each in stage.all(stage.source)] == [0]


def who_is_killed_while_redriving_has_sent_nothing(stage: Stage) -> None:
    _laid_aside(stage, 2)
    stage.create(f"{stage.letters_topic}.redriven", 1)
    killed = stage.cluster.producer({"transactional.id": f"ottla.redrive.{stage.letters_topic}"})
    killed.init_transactions(_TIMEOUT_S)
    killed.begin_transaction()
    marker = Marker(State.REDRIVEN, 1, stage.source, 1, f"{stage.source}:1:0")
    killed.produce(stage.source, b"half sent")
    killed.produce(
        f"{stage.letters_topic}.redriven", marker.value(), f"{stage.letters_topic}:0:0".encode()
    )
    assert killed.flush(_TIMEOUT_S) == 0
    assert stage.states() == [(0, "waiting"), (1, "waiting")]
    assert stage.redrive() == 2
    assert {each.value for each in stage.all(stage.source)} == {b"\xff0", b"\xff1"}


def of_two_who_redrive_at_once_the_first_is_fenced(stage: Stage) -> None:
    _laid_aside(stage, 4)
    first = stage.letters().redrive(EVERY, at_once=1)
    assert [each.offset for each in next(first)] == [0]
    second = stage.letters().redrive(EVERY, at_once=1)
    assert [each.offset for each in next(second)] == [1]
    with pytest.raises(Fenced):
        next(first)
    assert [len(chunk) for chunk in second] == [1, 1]
    assert stage.redrive() == 0
    assert sorted(each.value or b"" for each in stage.all(stage.source)) == sorted(
        _letter(offset, topic=stage.source).value or b"" for offset in range(4)
    )


def markers_of_a_topic_that_is_gone_are_of_no_letter_of_its_successor(stage: Stage) -> None:
    _laid_aside(stage, 1)
    assert stage.redrive() == 1
    stage.delete(stage.letters_topic)
    stage.create(stage.letters_topic, 2)
    stage.lay_aside([_letter(17, topic=stage.source)])
    assert stage.states() == [(0, "waiting")]


def markers_of_letters_that_were_deleted_are_forgotten(stage: Stage) -> None:
    _laid_aside(stage, 3)
    assert stage.redrive() == 3
    stage.delete_records((stage.letters_topic, 0), 2)
    assert stage.redrive() == 0
    markers = {each.key: each.value for each in stage.all(f"{stage.letters_topic}.redriven")}
    letters = [f"{stage.letters_topic}:0:{offset}".encode() for offset in range(3)]
    assert [markers[letter] is None for letter in letters] == [True, True, False]
    assert stage.states() == [(2, "redriven")]


def topics_that_are_gone_are_named(stage: Stage) -> None:
    with pytest.raises(NoSuchTopic, match=f"has no topic {stage.letters_topic}$"):
        list(stage.letters().redrive(EVERY))
    stage.create(stage.letters_topic, 1)
    stage.lay_aside([_letter(0, topic=f"{stage.source}.gone")])
    with pytest.raises(NoSuchTopic, match=rf"{stage.source}\.gone to send letters to"):
        list(stage.letters().redrive(EVERY))
    assert stage.states() == [(0, "waiting")]


def _lost(guard: Guard, places: dict[Place, int]) -> tuple[Loss, ...]:
    with pytest.raises(DataLoss) as caught:
        guard.check(places)
    return caught.value.losses


def deleted_records_stop_the_pipeline_with_their_range(stage: Stage) -> None:
    topic = stage.create(stage.source, 2)
    records = [{"value": b"%d" % each, "timestamp": 1_000 + each} for each in range(10)]
    stage.produce(topic, [{**record, "partition": 1} for record in records])
    guard = Guard(stage.folder, stage.cluster, Ledger(stage.folder))
    next_offsets = {(topic, 0): 0, (topic, 1): 4}
    guard.check(next_offsets)
    stage.delete_records((topic, 1), 7)
    expected = Loss(topic, 1, 4, 7, Cause.DELETED, 7, before_ms=1_007)
    assert _lost(guard, next_offsets) == (expected,)


def a_topic_made_anew_stops_the_pipeline_until_that_is_accepted(stage: Stage) -> None:
    topic = stage.create(stage.source, 1)
    stage.produce(topic, [{"value": b"old"}] * 5)
    guard = Guard(stage.folder, stage.cluster, Ledger(stage.folder))
    guard.check({(topic, 0): 3})
    stage.delete(topic)
    stage.create(topic, 2)
    # As full as before: by its offsets alone nobody could tell.
    stage.produce(topic, [{"value": b"new", "partition": 0, "timestamp": 5_000}] * 9)
    lost = Loss(topic, 0, 3, 5, Cause.RECREATED, 0, before_ms=5_000)
    assert _lost(guard, {(topic, 0): 3})[0] == lost
    stage.folder.write("ck/offsets/0", f'v1\n{{}}\n{{"{topic}":{{"0":3}}}}'.encode())
    stage.folder.write("ck/commits/0", b"v1\n{}")
    checkpoint = Checkpoint(LocalFolder(f"{stage.folder.path}/ck"))
    guard.accept(checkpoint, Ledger(stage.folder), now_ms=1)
    assert checkpoint.offsets(0) == {(topic, 0): 0, (topic, 1): 0}
    guard.check(checkpoint.offsets(0))


def a_copy_agrees_with_its_topic_minute_by_minute(stage: Stage) -> None:
    left, right = stage.create(stage.source, 1), stage.create(f"{stage.source}.copy", 3)
    records = [
        {"key": b"%d" % each, "value": b"v", "timestamp": _LONG_AGO_MS + 20_000 * each}
        for each in range(9)
    ]
    stage.produce(left, [*records, {"value": b"v", "timestamp": _LONG_AGO_MS}])
    stage.produce(right, [{"value": b"v", "timestamp": _LONG_AGO_MS}, *reversed(records)])
    aborted = stage.cluster.producer({"transactional.id": stage.source})
    aborted.init_transactions(_TIMEOUT_S)
    aborted.begin_transaction()
    aborted.produce(right, b"never", timestamp=_LONG_AGO_MS)
    assert aborted.flush(_TIMEOUT_S) == 0
    aborted.abort_transaction(_TIMEOUT_S)
    stage.settle(stage.source)
    same = compare_topics(stage.cluster, left=left, right=right)
    assert same.differences == []
    assert [total.records for total in same.totals] == [10, 10]
    stage.produce(right, [{**records[4], "key": b"other"}])
    stage.produce(left, [records[4]])
    other = compare_topics(stage.cluster, left=left, right=right)
    [wrong] = other.differences
    assert wrong.minute == (_LONG_AGO_MS + 80_000) // 60_000
    assert (wrong.left.records, wrong.right.records) == (4, 4)
    assert wrong.left.key_sum != wrong.right.key_sum
    before_it = compare_topics(
        stage.cluster, left=left, right=right, from_ms=_LONG_AGO_MS, to_ms=_LONG_AGO_MS + 60_000
    )
    assert before_it.differences == []
    assert before_it.totals[0].records == 4
    with pytest.raises(NoSuchTopic, match="has no topic nowhere"):
        compare_topics(stage.cluster, left=left, right="nowhere")


def offsets_without_records_are_counted_again(stage: Stage) -> None:
    place = (stage.create(stage.source, 1), 0)
    producer = stage.cluster.producer({"transactional.id": stage.source})
    producer.init_transactions(_TIMEOUT_S)
    for number in range(2):
        producer.begin_transaction()
        producer.produce(stage.source, b"%d" % number)
        producer.commit_transaction(_TIMEOUT_S)
    stage.settle(stage.source)
    # Each of the two is followed by the mark of its end.
    assert stage.cluster.ends([place]) == {place: 4}
    assert recount(stage.cluster, place, 0, 4) == 2
    assert recount(stage.cluster, place, 1, 2) == 0
    stage.delete_records(place, 1)
    assert recount(stage.cluster, place, 0, 4) is None
    assert recount(stage.cluster, ("nowhere", 0), 0, 4) is None


STORIES: list[Callable[[Stage], None]] = [
    letters_are_found_by_what_they_say,
    a_redriven_letter_is_where_it_was_and_as_it_was,
    nothing_is_redriven_twice_unless_it_is_meant,
    discarded_letters_stay_and_are_not_redriven,
    who_is_killed_while_redriving_has_sent_nothing,
    of_two_who_redrive_at_once_the_first_is_fenced,
    markers_of_a_topic_that_is_gone_are_of_no_letter_of_its_successor,
    markers_of_letters_that_were_deleted_are_forgotten,
    topics_that_are_gone_are_named,
    a_copy_agrees_with_its_topic_minute_by_minute,
    offsets_without_records_are_counted_again,
    deleted_records_stop_the_pipeline_with_their_range,
    a_topic_made_anew_stops_the_pipeline_until_that_is_accepted,
]
