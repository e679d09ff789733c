"""When consuming is enough: after so many records, or where every partition ends."""

from __future__ import annotations

from collections.abc import Sequence

from ottla.admin.cluster import TopicPartition
from ottla.admin.consuming import (
    EndReached,
    IncomingRecord,
    batches,
    offsets_before_end,
    starting_offsets,
)
from ottla.protocol.apis.list_offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from ottla.protocol.schema import Message
from tests.unit.admin.cluster import ScriptedCluster

FIRST, SECOND = TopicPartition("orders", 0), TopicPartition("orders", 1)
Event = IncomingRecord | EndReached


def record(offset: int, partition: TopicPartition = FIRST) -> IncomingRecord:
    return IncomingRecord(
        partition=partition,
        offset=offset,
        timestamp=None,
        is_append_time=False,
        key=None,
        value=b"",
        headers=(),
    )


class Playback:
    """Plays polls; the assignment comes with the poll that has it, as in a group."""

    def __init__(self, *polls: Sequence[Event], assigned_after: int = 0) -> None:
        self._polls = list(polls)
        self._assigned_after = assigned_after
        self.polled = 0

    def poll(self, timeout_s: float) -> Sequence[Event]:
        self.polled += 1
        return self._polls.pop(0)

    def assigned(self) -> Sequence[TopicPartition]:
        return [FIRST, SECOND] if self.polled > self._assigned_after else []


def offsets(source: Playback, *, at_most: int | None, stop_at_end: bool) -> list[int]:
    found = batches(source, at_most=at_most, stop_at_end=stop_at_end, is_stopped=lambda: False)
    return [each.offset for batch in found for each in batch]


def test_it_stops_after_so_many_records_in_the_middle_of_a_poll() -> None:
    source = Playback([record(0)], [], [record(1), record(2), record(3)])
    assert offsets(source, at_most=3, stop_at_end=False) == [0, 1, 2]


def test_it_stops_when_all_partitions_have_ended() -> None:
    source = Playback([record(0), EndReached(FIRST)], [record(7, SECOND)], [EndReached(SECOND)])
    assert offsets(source, at_most=None, stop_at_end=True) == [0, 7]


def test_a_partition_that_goes_on_after_its_end_has_not_ended() -> None:
    source = Playback(
        [EndReached(FIRST)],
        [record(1)],
        [EndReached(SECOND)],
        [record(2), EndReached(FIRST)],
    )
    assert offsets(source, at_most=None, stop_at_end=True) == [1, 2]


def test_a_group_that_has_assigned_nothing_yet_is_not_at_its_end() -> None:
    source = Playback([], [], [EndReached(FIRST), EndReached(SECOND)], assigned_after=2)
    assert offsets(source, at_most=None, stop_at_end=True) == []
    assert source.polled == 3


def test_it_stops_when_somebody_says_so() -> None:
    source = Playback([record(0)], [record(1)])
    found = batches(source, at_most=None, stop_at_end=False, is_stopped=lambda: source.polled == 1)
    assert [len(batch) for batch in found] == [1]


def log(broker: int, message: Message) -> Message:
    """Partition 0 holds 10 to 19, partition 1 holds 3 alone; times are as offsets."""
    assert isinstance(message, ListOffsetsRequest)
    bounds = {0: (10, 20), 1: (3, 4)}
    answers = []
    for each in message.topics[0].partitions:
        first, end = bounds[each.partition_index]
        at = {-2: first, -1: end}.get(each.timestamp, each.timestamp)
        offset = -1 if at >= end and each.timestamp >= 0 else max(at, first)
        answers.append(
            ListOffsetsPartitionResponse(partition_index=each.partition_index, offset=offset)
        )
    topic = ListOffsetsTopicResponse(name="orders", partitions=answers)
    return ListOffsetsResponse(topics=[topic])


TOPICS = {"orders": [(0, [0], [0]), (0, [0], [0])]}


def test_a_time_after_the_last_record_means_the_end() -> None:
    scripted = ScriptedCluster(log, topics=TOPICS)
    found = scripted.run(lambda cluster: starting_offsets(cluster, [FIRST, SECOND], 15))
    assert found == {FIRST: 15, SECOND: 4}


def test_counting_from_the_end_stops_at_the_beginning() -> None:
    scripted = ScriptedCluster(log, topics=TOPICS)
    found = scripted.run(lambda cluster: offsets_before_end(cluster, [FIRST, SECOND], 5))
    assert found == {FIRST: 15, SECOND: 3}
