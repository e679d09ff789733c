"""A commit that looks like the one before takes a shortcut, and nobody can tell."""

from __future__ import annotations

import pytest

from ottla.handlers import HANDLERS, handler
from ottla.handlers.commit_shortcut import CommitShortcut
from ottla.handlers.offset_shortcut import OffsetShortcut, shortcut_for
from ottla.network.connection import Connection
from ottla.protocol.apis.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse
from ottla.protocol.apis.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from ottla.protocol.errors import ErrorCode
from ottla.protocol.framing import encode_request
from ottla.protocol.plain_commit import read_plain_commit
from tests.unit.handlers.group_client import GROUP, Member, coordinated, member_of
from tests.unit.handlers.one_broker import OneBroker
from tests.virtual_time import on_virtual_time

NONE = ErrorCode.NONE
FEW, MANY = [3, 0], list(range(40))
Taken = list[int]  # the lengths of the requests that took the shortcut


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> Taken:
    seen: Taken = []
    for kind in (CommitShortcut, OffsetShortcut):
        note_taken(monkeypatch, kind, seen)
    return seen


def note_taken(monkeypatch: pytest.MonkeyPatch, kind: type[CommitShortcut], seen: Taken) -> None:
    serve = kind.serve

    def noting(self: CommitShortcut, connection: Connection, start: int, end: int) -> bool:
        is_served = serve(self, connection, start, end)
        seen.extend([end - start] * (is_served and type(self) is kind))
        return is_served

    monkeypatch.setattr(kind, "serve", noting)


def request(
    indexes: list[int], offset: int, *, member: Member | None = None, metadata: str | None = ""
) -> OffsetCommitRequest:
    rows = [
        OffsetCommitRequestPartition(
            partition_index=index,
            committed_offset=offset + index,
            committed_leader_epoch=offset,
            committed_metadata=metadata,
        )
        for index in indexes
    ]
    return OffsetCommitRequest(
        group_id=GROUP,
        member_id=member.id if member else "",
        generation_id_or_member_epoch=member.generation if member else -1,
        topics=[OffsetCommitRequestTopic(name="wide", partitions=rows)],
    )


async def codes(broker: OneBroker, wanted: OffsetCommitRequest, version: int = 8) -> set[ErrorCode]:
    """Of all its partitions, in the order that they were named in."""
    answer = await broker.ask(wanted, OffsetCommitResponse, version)
    rows = answer.topics[0].partitions
    assert [row.partition_index for row in rows] == [
        row.partition_index for row in wanted.topics[0].partitions
    ]
    return {ErrorCode(row.error_code) for row in rows}


def stored(broker: OneBroker, indexes: list[int]) -> list[tuple[int, int]]:
    _, found = broker.services.groups.fetch(GROUP, [("wide", index) for index in indexes])
    return [(each.offset, each.leader_epoch) for each in found.values()]


@pytest.mark.parametrize("indexes", [[5], FEW, MANY])
@pytest.mark.parametrize("version", [8, 9])
@on_virtual_time
async def test_only_the_offsets_are_new(indexes: list[int], version: int, taken: Taken) -> None:
    async with coordinated() as broker:
        await broker.create("wide", 40)
        for turn in range(4):
            metadata = None if turn == 3 else ""
            wanted = request(indexes, turn << 20, metadata=metadata)
            assert await codes(broker, wanted, version) == {NONE}
            assert stored(broker, indexes) == [((turn << 20) + i, turn << 20) for i in indexes]
            assert len(taken) == turn
        assert all(answer[:4] == (77).to_bytes(4, "big") for answer in broker.client.raw)
        assert broker.services.requests.by_version[8, version] == 4
        assert broker.services.groups.committed_count == 4 * len(indexes)


@pytest.mark.parametrize("indexes", [[5], FEW, MANY])
@on_virtual_time
async def test_a_member_of_yesterday_is_refused_as_on_the_long_way(
    indexes: list[int], taken: Taken
) -> None:
    async with coordinated() as broker:
        await broker.create("wide", 40)
        member = await member_of(broker)
        for _ in range(2):
            assert await codes(broker, request(indexes, 7, member=member)) == {NONE}
        await member.leave()
        refused = {ErrorCode.UNKNOWN_MEMBER_ID}
        assert await codes(broker, request(indexes, 8, member=member)) == refused
        assert len(taken) == 2
        assert stored(broker, indexes) == [(7 + index, 7) for index in indexes]


@on_virtual_time
async def test_what_is_new_goes_the_long_way(taken: Taken) -> None:
    async with coordinated() as broker:
        await broker.create("wide", 40)
        await codes(broker, request(FEW, 1))
        for other in (
            request([3, 1], 1),
            request([0, 3], 1),
            request(FEW, 1, metadata="x"),
            request([3], 1),
            request(MANY, 1),
            request(MANY[::-1], 1),
        ):
            assert await codes(broker, other) == {NONE}
        assert await codes(broker, request(MANY[::-1], 1), 9) == {NONE}
        assert taken == []


@on_virtual_time
async def test_a_topic_that_is_deleted_meanwhile_is_not_known_any_more(taken: Taken) -> None:
    async with coordinated() as broker:
        await broker.create("wide", 40)
        assert await codes(broker, request(FEW, 1)) == {NONE}
        deletion = DeleteTopicsRequest(topic_names=["wide"], timeout_ms=1000)
        await broker.ask(deletion, DeleteTopicsResponse, 3)
        await broker.settled()
        unknown = {ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}
        assert await codes(broker, request(FEW, 2)) == unknown
        assert taken == []


@on_virtual_time
async def test_bytes_after_a_request_are_not_taken_for_its_offsets() -> None:
    async with coordinated() as broker:
        await broker.create("wide", 40)
        frame = encode_request(request([0], 9), 8, correlation_id=77, client_id="test")[4:]
        assert shortcut_for(request([0], 9), broker.services, frame=frame, version=8)
        longer = frame + bytes(16) + b"\1\0" + b"\0\0"  # as if of partition 0, with offset 0
        assert not shortcut_for(request([0], 9), broker.services, frame=longer, version=8)
        assert not shortcut_for(request([0], 9), broker.services, frame=frame, version=7)
        many = encode_request(request(MANY, 9), 8, correlation_id=77, client_id="test")[4:]
        read = read_plain_commit(many, 8, many.index(b"test") + 5)
        assert read is not None
        assert shortcut_for(read, broker.services, frame=many, version=8)
        longer = many + (bytes(16) + b"\1\0") * len(MANY) + b"\0\0"
        assert not shortcut_for(read, broker.services, frame=longer, version=8)


def test_no_other_api_has_a_way_of_its_own_by_accident() -> None:
    assert [key for key in HANDLERS if handler(key).read or handler(key).shortcut] == [8, 12]
