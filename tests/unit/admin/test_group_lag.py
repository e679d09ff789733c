"""A look at a group: how far it is, how old what it has not read is, and what was seen before."""

from __future__ import annotations

from ottla.admin.cluster import Cluster, TopicPartition
from ottla.admin.group_lag import GroupLag, LagWatch
from ottla.admin.lag import Status
from ottla.admin.unread import unread_timestamps
from ottla.protocol.apis.fetch import (
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    PartitionData,
)
from ottla.protocol.errors import ErrorCode, KafkaError
from ottla.protocol.records.batch import build_batch
from ottla.protocol.records.record import Record
from ottla.protocol.schema import Message
from tests.unit.admin.cluster import ScriptedCluster
from tests.unit.admin.groups import TOPICS, ScriptedGroup, assignment, member

FIRST, SECOND = TopicPartition("orders", 0), TopicPartition("orders", 1)


class Clock:
    def __init__(self, *moments: int) -> None:
        self._moments = list(moments)

    def now_ms(self) -> int:
        return self._moments.pop(0)


def looks(group: ScriptedGroup, *moments: int) -> list[GroupLag]:
    async def look(cluster: Cluster) -> list[GroupLag]:
        watch = LagWatch(cluster, "billing", Clock(*moments))
        return [await watch.look() for _ in moments]

    return group.cluster.run(look)


def test_the_lag_is_counted_in_records_and_in_time() -> None:
    (found,) = looks(ScriptedGroup(), 100_000)
    assert [each.partition for each in found.partitions] == [FIRST, SECOND]
    assert [each.lag for each in found.partitions] == [60, 0]
    assert [each.age_ms for each in found.partitions] == [60_000, 0]


def test_later_looks_are_judged_by_those_before_them() -> None:
    first, second = looks(ScriptedGroup(), 100_000, 101_000)
    assert (first.samples, second.samples) == (1, 2)
    assert second.status is Status.ERROR
    assert [each.status for each in second.partitions] == [Status.STOPPED, Status.OK]


def test_with_a_member_the_same_is_stalled() -> None:
    group = ScriptedGroup(member("a", assignment({"orders": [0]})))
    found = looks(group, 100_000, 101_000)[-1]
    assert [each.status for each in found.partitions] == [Status.STALLED, Status.OK]
    assert [each.owner and each.owner.client_id for each in found.partitions] == ["a", None]


def test_what_is_held_and_never_committed_is_shown_without_a_lag() -> None:
    group = ScriptedGroup(member("a", assignment({"orders": [0, 1]})))
    group.offsets = {}
    (found,) = looks(group, 100_000)
    assert [(each.offset, each.end_offset, each.lag) for each in found.partitions] == [
        (None, 100, None)
    ] * 2
    assert found.status is Status.OK


def test_offsets_of_a_topic_that_is_gone_are_not_waited_for() -> None:
    group = ScriptedGroup()
    group.offsets = {("payments", 0): 7}
    (found,) = looks(group, 100_000)
    (payments,) = found.partitions
    assert (payments.offset, payments.end_offset, payments.age_ms) == (7, None, None)
    assert "ListOffsets" not in group.cluster.kinds()


def test_records_deleted_before_they_were_read_are_passed_over() -> None:
    scripted = ScriptedGroup().cluster
    found = scripted.run(lambda cluster: unread_timestamps(cluster, {FIRST: 3, SECOND: 55}))
    assert found == {FIRST: 10_000, SECOND: 55_000}


def served(*batches: bytes) -> ScriptedCluster:
    """Each fetch gets the next of these; then there is no more."""
    left = list(batches)

    def answer(broker: int, message: Message) -> Message:
        assert isinstance(message, FetchRequest)
        data = PartitionData(
            partition_index=0, high_watermark=9, records=left.pop(0) if left else b""
        )
        topic = FetchableTopicResponse(topic="orders", partitions=[data])
        return FetchResponse(responses=[topic])

    return ScriptedCluster(answer, topics=TOPICS)


def record(offset: int, timestamp: int) -> Record:
    return Record(offset=offset, timestamp=timestamp, key=b"k", value=b"v")


def test_markers_and_what_compaction_left_are_passed_over() -> None:
    marker = build_batch([record(5, 1)], is_control=True, is_transactional=True, producer_id=1)
    compacted = build_batch([record(4, 2)], last_offset_delta=3)
    scripted = served(marker, compacted, build_batch([record(8, 3)]))
    found = scripted.run(lambda cluster: unread_timestamps(cluster, {FIRST: 5}))
    assert found == {FIRST: 3}
    offsets = [
        message.topics[0].partitions[0].fetch_offset
        for _, message in scripted.asked
        if isinstance(message, FetchRequest)
    ]
    assert offsets == [5, 6, 8]


def test_the_time_at_which_the_leader_appended_is_that_of_the_record() -> None:
    scripted = served(build_batch([record(5, 1)], log_append_time=77))
    assert scripted.run(lambda cluster: unread_timestamps(cluster, {FIRST: 5})) == {FIRST: 77}


def test_without_a_record_or_a_time_there_is_no_age() -> None:
    assert served().run(lambda cluster: unread_timestamps(cluster, {FIRST: 5})) == {FIRST: None}
    timeless = served(build_batch([record(5, -1)]))
    assert timeless.run(lambda cluster: unread_timestamps(cluster, {FIRST: 5})) == {FIRST: None}


def test_a_refusal_is_told_for_its_partition() -> None:
    def refuse(broker: int, message: Message) -> Message:
        code = ErrorCode.TOPIC_AUTHORIZATION_FAILED
        data = PartitionData(partition_index=0, error_code=code, high_watermark=-1, records=None)
        topic = FetchableTopicResponse(topic="orders", partitions=[data])
        return FetchResponse(responses=[topic])

    scripted = ScriptedCluster(refuse, topics=TOPICS)
    found = scripted.run(lambda cluster: unread_timestamps(cluster, {FIRST: 5}))[FIRST]
    assert isinstance(found, KafkaError)
    assert found.code is ErrorCode.TOPIC_AUTHORIZATION_FAILED
