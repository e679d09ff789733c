"""What members and other committers ask of a coordinator, for the raw driver to repeat."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from benchmarks.drivers.frames import MARKED_CODE, RawRequest
from ottla.protocol.apis.heartbeat import HeartbeatRequest, HeartbeatResponse
from ottla.protocol.apis.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from ottla.protocol.apis.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponseTopic,
)
from ottla.protocol.framing import encode_request, encode_response
from ottla.protocol.schema import Message

COMMIT_VERSION = 8
FETCH_VERSION = 8
HEARTBEAT_VERSION = 4
OFFSET, LEADER_EPOCH = 1_234_567, 5


class Committer(NamedTuple):
    """A member of a group; or nobody, who commits without one."""

    group: str
    member_id: str = ""
    generation: int = -1


def heartbeats(committers: Sequence[Committer]) -> RawRequest:
    def request(who: Committer) -> Message:
        return HeartbeatRequest(
            group_id=who.group, generation_id=who.generation, member_id=who.member_id
        )

    answer = HeartbeatResponse(error_code=MARKED_CODE)
    return _each(committers, request, answer, HEARTBEAT_VERSION)


def commits(committers: Sequence[Committer], topic: str, *, partitions: int) -> RawRequest:
    """One request for each, of the first so many partitions of the topic."""

    def request(who: Committer) -> Message:
        offsets = [
            OffsetCommitRequestPartition(
                partition_index=index,
                committed_offset=OFFSET,
                committed_leader_epoch=LEADER_EPOCH,
                committed_metadata="",
            )
            for index in range(partitions)
        ]
        return OffsetCommitRequest(
            group_id=who.group,
            generation_id_or_member_epoch=who.generation,
            member_id=who.member_id,
            topics=[OffsetCommitRequestTopic(name=topic, partitions=offsets)],
        )

    codes = [
        OffsetCommitResponsePartition(partition_index=index, error_code=MARKED_CODE)
        for index in range(partitions)
    ]
    answer = OffsetCommitResponse(topics=[OffsetCommitResponseTopic(name=topic, partitions=codes)])
    return _each(committers, request, answer, COMMIT_VERSION)


def offset_fetch(
    group: str, topics: Sequence[str], *, partitions: int, names_them: bool
) -> RawRequest:
    """So many partitions of each topic; if not named, as all that the group has."""
    wanted = None
    if names_them:
        indexes = list(range(partitions))
        wanted = [OffsetFetchRequestTopic(name=name, partition_indexes=indexes) for name in topics]
    request = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id=group, topics=wanted)])
    found = [
        OffsetFetchResponsePartition(
            partition_index=index,
            committed_offset=OFFSET,
            committed_leader_epoch=LEADER_EPOCH,
            metadata="",
            error_code=MARKED_CODE,
        )
        for index in range(partitions)
    ]
    answers = [OffsetFetchResponseTopic(name=name, partitions=found) for name in topics]
    answer = OffsetFetchResponse(groups=[OffsetFetchResponseGroup(group_id=group, topics=answers)])
    return _each([Committer(group)], lambda _: request, answer, FETCH_VERSION)


def _each(
    committers: Sequence[Committer],
    request: Callable[[Committer], Message],
    answer: Message,
    version: int,
) -> RawRequest:
    frames = [
        encode_request(request(who), version, correlation_id=1, client_id="raw")
        for who in committers
    ]
    assert len({len(frame) for frame in frames}) == 1, "the frames are of different lengths"
    response = encode_response(answer, version, correlation_id=1)
    error_at = response.index(MARKED_CODE.to_bytes(2, "big"))
    return RawRequest(b"".join(frames), error_at + 2, error_at, frames=len(frames))
