"""A scripted cluster with one group: its members, its offsets, and the log they are in."""

from __future__ import annotations

from collections.abc import Mapping

from ottla.protocol.apis.consumer_group_describe import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
)
from ottla.protocol.apis.consumer_group_describe import DescribedGroup as ModernGroup
from ottla.protocol.apis.delete_groups import (
    DeletableGroupResult,
    DeleteGroupsRequest,
    DeleteGroupsResponse,
)
from ottla.protocol.apis.describe_groups import (
    DescribedGroup,
    DescribedGroupMember,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)
from ottla.protocol.apis.fetch import (
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    PartitionData,
)
from ottla.protocol.apis.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from ottla.protocol.apis.list_groups import ListedGroup, ListGroupsRequest, ListGroupsResponse
from ottla.protocol.apis.list_offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from ottla.protocol.apis.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from ottla.protocol.apis.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)
from ottla.protocol.apis.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchResponse,
    OffsetFetchResponsePartition,
    OffsetFetchResponseTopic,
)
from ottla.protocol.codec import encode
from ottla.protocol.errors import ErrorCode
from ottla.protocol.internal.consumer_protocol import ConsumerProtocolAssignment, TopicPartition
from ottla.protocol.records.batch import build_batch
from ottla.protocol.records.record import Record
from ottla.protocol.schema import Message
from tests.unit.admin.cluster import ScriptedCluster

COORDINATOR = 1
EARLIEST, LATEST = 10, 100
TOPICS = {"orders": [(0, [0], [0]), (0, [0], [0])]}


def assignment(topics: Mapping[str, list[int]], *, version: int = 1) -> bytes:
    assigned = [TopicPartition(topic=topic, partitions=held) for topic, held in topics.items()]
    body = encode(ConsumerProtocolAssignment(assigned_partitions=assigned), min(version, 3))
    return version.to_bytes(2, "big") + body


def member(name: str, assigned: bytes) -> DescribedGroupMember:
    return DescribedGroupMember(
        member_id=f"{name}-1",
        client_id=name,
        client_host="/10.0.0.1",
        member_metadata=b"",
        member_assignment=assigned,
    )


class ScriptedGroup:
    """The group `billing`, coordinated by broker 1. Both partitions of `orders` hold 10 to 99,
    each record a second after the one before it, from the time 0 on."""

    def __init__(self, *members: DescribedGroupMember, state: str = "") -> None:
        self.members = list(members)
        self.state = state or ("Stable" if members else "Empty")
        self.protocol_type = "consumer"
        self.offsets: dict[tuple[str, int], int] = {("orders", 0): 40, ("orders", 1): 100}
        self.refuse = ErrorCode.NONE
        self.not_coordinator = 0
        self.modern: ModernGroup | None = None
        self.cluster = ScriptedCluster(self._answer, topics=TOPICS)

    def _answer(self, broker: int, message: Message) -> Message:
        match message:
            case FindCoordinatorRequest():
                return FindCoordinatorResponse(node_id=COORDINATOR)
            case ListGroupsRequest():
                return self._list(broker)
            case FetchRequest():
                return _fetched(message)
            case ListOffsetsRequest():
                return _listed(message)
        assert broker == COORDINATOR
        return self._answer_as_coordinator(message)

    def _answer_as_coordinator(self, message: Message) -> Message:
        match message:
            case DescribeGroupsRequest():
                return DescribeGroupsResponse(groups=[self._describe(message.groups[0])])
            case ConsumerGroupDescribeRequest():
                missing = ModernGroup(
                    error_code=ErrorCode.GROUP_ID_NOT_FOUND, group_id="", group_state="",
                    group_epoch=0, assignment_epoch=0, assignor_name="", members=[],
                )  # fmt: skip
                return ConsumerGroupDescribeResponse(groups=[self.modern or missing])
            case OffsetFetchRequest():
                return self._fetch_offsets()
            case OffsetCommitRequest():
                return self._commit(message)
            case OffsetDeleteRequest():
                return self._forget(message)
            case DeleteGroupsRequest():
                (name,) = message.groups_names
                code = self.refuse if name == "billing" else ErrorCode.GROUP_ID_NOT_FOUND
                result = DeletableGroupResult(group_id=name, error_code=code)
                return DeleteGroupsResponse(results=[result])
        raise AssertionError(message)

    def _list(self, broker: int) -> ListGroupsResponse:
        name, protocol_type = {0: ("audit", ""), 1: ("billing", self.protocol_type)}[broker]
        listed = ListedGroup(
            group_id=name,
            protocol_type=protocol_type,
            group_state="Empty" if broker == 0 else self.state,
            group_type="classic",
        )
        return ListGroupsResponse(groups=[listed])

    def _describe(self, name: str) -> DescribedGroup:
        code = ErrorCode.NONE
        if self.not_coordinator:
            self.not_coordinator -= 1
            code = ErrorCode.NOT_COORDINATOR
        is_known = name == "billing" and self.modern is None
        return DescribedGroup(
            error_code=code,
            group_id=name,
            group_state=self.state if is_known else "Dead",
            protocol_type=self.protocol_type if is_known else "",
            protocol_data="range" if self.members else "",
            members=self.members if is_known else [],
        )

    def _fetch_offsets(self) -> OffsetFetchResponse:
        topics = [
            OffsetFetchResponseTopic(
                name=topic,
                partitions=[
                    OffsetFetchResponsePartition(
                        partition_index=index, committed_offset=offset, metadata=""
                    )
                ],
            )
            for (topic, index), offset in self.offsets.items()
        ]
        return OffsetFetchResponse(topics=topics)

    def _commit(self, message: OffsetCommitRequest) -> OffsetCommitResponse:
        assert message.generation_id_or_member_epoch == -1
        topics = []
        for topic in message.topics:
            for each in topic.partitions:
                self.offsets[topic.name, each.partition_index] = each.committed_offset
            partitions = [
                OffsetCommitResponsePartition(
                    partition_index=each.partition_index, error_code=self.refuse
                )
                for each in topic.partitions
            ]
            topics.append(OffsetCommitResponseTopic(name=topic.name, partitions=partitions))
        return OffsetCommitResponse(topics=topics)

    def _forget(self, message: OffsetDeleteRequest) -> OffsetDeleteResponse:
        topics = [
            OffsetDeleteResponseTopic(
                name=topic.name,
                partitions=[
                    OffsetDeleteResponsePartition(
                        partition_index=each.partition_index, error_code=self.refuse
                    )
                    for each in topic.partitions
                ],
            )
            for topic in message.topics
        ]
        return OffsetDeleteResponse(topics=topics)


def _listed(message: ListOffsetsRequest) -> ListOffsetsResponse:
    answers = []
    for each in message.topics[0].partitions:
        offset = {-2: EARLIEST, -1: LATEST}.get(each.timestamp, each.timestamp // 1000)
        is_late = offset >= LATEST and each.timestamp >= 0
        answers.append(
            ListOffsetsPartitionResponse(
                partition_index=each.partition_index,
                offset=-1 if is_late else max(offset, EARLIEST),
            )
        )
    topic = ListOffsetsTopicResponse(name=message.topics[0].name, partitions=answers)
    return ListOffsetsResponse(topics=[topic])


def _fetched(message: FetchRequest) -> FetchResponse:
    (topic,) = message.topics
    (wanted,) = topic.partitions
    offset = wanted.fetch_offset
    records = b""
    if EARLIEST <= offset < LATEST:
        first = offset // 10 * 10  # batches of ten
        found = [
            Record(offset=number, timestamp=number * 1000, key=None, value=b"v")
            for number in range(first, first + 10)
        ]
        records = build_batch(found)
    in_range = EARLIEST <= offset <= LATEST
    data = PartitionData(
        partition_index=wanted.partition,
        error_code=ErrorCode.NONE if in_range else ErrorCode.OFFSET_OUT_OF_RANGE,
        high_watermark=LATEST,
        records=records,
    )
    return FetchResponse(responses=[FetchableTopicResponse(topic=topic.topic, partitions=[data])])
