"""Commits and fetches of many offsets take a shorter way, and nobody can tell."""

from __future__ import annotations

from typing import Any

import pytest

from ottla.handlers import dispatch, offset_fetch, offset_rows
from ottla.handlers.call import Call
from ottla.handlers.offset_rows import reply_flexible
from ottla.protocol.apis.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from ottla.protocol.apis.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchResponse,
)
from ottla.protocol.errors import ErrorCode
from ottla.protocol.schema import Message
from tests.unit.handlers.group_client import GROUP, coordinated, member_of
from tests.unit.handlers.one_broker import OneBroker
from tests.virtual_time import on_virtual_time

NONE = ErrorCode.NONE
COUNT = 100


def committing(
    indexes: list[int], *, metadata: str = "", member_id: str = "", generation: int = -1
) -> OffsetCommitRequest:
    rows = [
        OffsetCommitRequestPartition(
            partition_index=index,
            committed_offset=index << 33 | 5,
            committed_leader_epoch=index,
            committed_metadata=metadata,
        )
        for index in indexes
    ]
    topic = OffsetCommitRequestTopic(name="wide", partitions=rows)
    return OffsetCommitRequest(
        group_id=GROUP,
        member_id=member_id,
        generation_id_or_member_epoch=generation,
        topics=[topic],
    )


async def codes(broker: OneBroker, request: OffsetCommitRequest) -> dict[int, ErrorCode]:
    answer = await broker.ask(request, OffsetCommitResponse, 8)
    assert [topic.name for topic in answer.topics] == ["wide"]
    return {row.partition_index: ErrorCode(row.error_code) for row in answer.topics[0].partitions}


def fetching(version: int, *topics: tuple[str, list[int]]) -> OffsetFetchRequest:
    """Without topics: all that are there."""
    named = [OffsetFetchRequestTopic(name=name, partition_indexes=rows) for name, rows in topics]
    if version < 8:
        return OffsetFetchRequest(group_id=GROUP, topics=named or None)
    groups = [OffsetFetchRequestGroup(group_id=name, topics=named or None) for name in (GROUP, "g")]
    return OffsetFetchRequest(groups=groups[: version - 7])


async def offsets(broker: OneBroker, indexes: list[int]) -> list[tuple[int, int, str | None, int]]:
    answer = await broker.ask(fetching(7, ("wide", indexes)), OffsetFetchResponse, 7)
    return [
        (row.committed_offset, row.committed_leader_epoch, row.metadata, row.error_code)
        for row in answer.topics[0].partitions
    ]


class Throttled(Call):
    """By a quota, whatever is answered."""

    def throttle(self, response: Message) -> None:
        assert isinstance(response, OffsetCommitResponse | OffsetFetchResponse)
        response.throttle_time_ms = 250


@on_virtual_time
async def test_many_offsets_are_stored_and_told() -> None:
    async with coordinated() as broker:
        await broker.create("wide", COUNT)
        indexes = list(range(COUNT))[::-1]
        assert await codes(broker, committing(indexes)) == dict.fromkeys(indexes, NONE)
        assert await offsets(broker, indexes) == [(i << 33 | 5, i, "", NONE) for i in indexes]
        assert broker.services.groups.committed_count == COUNT
        # And they are in the log, from where they are loaded.
        broker.services.groups.resigned(0, 100)
        broker.services.groups.resigned(1, 100)
        for partition in range(2):
            broker.services.groups.elected(partition, 101)
        await broker.until(lambda: not broker.services.groups.partitions.is_loading)
        assert await offsets(broker, indexes) == [(i << 33 | 5, i, "", NONE) for i in indexes]


@on_virtual_time
async def test_partitions_that_are_not_there_or_named_twice_are_judged_one_by_one() -> None:
    async with coordinated() as broker:
        await broker.create("wide", COUNT)
        found = await codes(broker, committing([-1, *range(COUNT + 1)]))
        unknown = [index for index in found if found[index]]
        assert unknown == [-1, COUNT]
        assert {found[index] for index in unknown} == {ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}
        twice = await codes(broker, committing([*range(COUNT), 7]))
        assert twice == dict.fromkeys(range(COUNT), NONE)


@on_virtual_time
async def test_all_of_a_stranger_s_offsets_are_refused() -> None:
    async with coordinated() as broker:
        await broker.create("wide", COUNT)
        unheard = committing(list(range(COUNT)), generation=3, member_id="x")
        assert set((await codes(broker, unheard)).values()) == {ErrorCode.ILLEGAL_GENERATION}
        member = await member_of(broker)
        now = member.generation
        stranger = committing(list(range(COUNT)), member_id="x", generation=now)
        assert set((await codes(broker, stranger)).values()) == {ErrorCode.UNKNOWN_MEMBER_ID}
        itself = committing(list(range(COUNT)), member_id=member.id, generation=now)
        assert set((await codes(broker, itself)).values()) == {NONE}


@on_virtual_time
async def test_while_many_are_on_their_way_they_are_unstable() -> None:
    async with coordinated() as broker:
        await broker.create("wide", COUNT)
        groups = broker.services.groups
        await codes(broker, committing(list(range(COUNT))))
        waiting = broker.ask(committing(list(range(50))), OffsetCommitResponse, 8)
        [(_, hosted)] = groups.partitions.hosted()
        hosted.offsets.stage_together("another", [[("wide", 7)]])
        _, found = groups.fetch(GROUP, [("wide", 7), ("wide", 60)], require_stable=True)
        assert found["wide", 7].error is ErrorCode.UNSTABLE_OFFSET_COMMIT
        assert found["wide", 60].error is NONE
        assert groups.fetch_plain(GROUP, None, require_stable=True) is None
        assert groups.fetch_plain(GROUP, None) is not None
        hosted.offsets.unstage_together("another")
        assert set(row.error_code for row in (await waiting).topics[0].partitions) == {NONE}


@pytest.mark.parametrize("version", range(1, 10))
@pytest.mark.parametrize("metadata", ["", "note"])
@on_virtual_time
async def test_many_offsets_are_told_in_every_version_as_few_are(
    version: int, metadata: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Call] = []

    def noting(call: Call, *rest: Any) -> None:
        seen.append(call)
        reply_flexible(call, *rest)

    async with coordinated() as broker:
        await broker.create("wide", COUNT)
        await codes(broker, committing(list(range(COUNT))))
        await codes(broker, committing([50], metadata=metadata))
        asked = [("wide", list(range(COUNT + 20))), ("unheard", [1, 2])]
        cases = [fetching(version, *asked)]
        cases += [fetching(version)] if version > 1 else []
        cases += [fetching(version, ("wide", [*range(COUNT), 3])), fetching(version, ("wide", []))]
        monkeypatch.setattr(offset_rows, "reply_flexible", noting)
        quick = [await broker.ask(each, OffsetFetchResponse, version) for each in cases]
        assert len(seen) == (2 if version >= 6 and not metadata else 0)
        monkeypatch.setattr(offset_fetch, "reply_in_rows", lambda *_: False)
        slow = [await broker.ask(each, OffsetFetchResponse, version) for each in cases]
        assert quick == slow


@on_virtual_time
async def test_whoever_is_throttled_hears_it(monkeypatch: pytest.MonkeyPatch) -> None:
    async with coordinated() as broker:
        await broker.create("wide", COUNT)
        monkeypatch.setattr(dispatch, "Call", Throttled)
        indexes = list(range(COUNT))
        stored = await broker.ask(committing(indexes), OffsetCommitResponse, 8)
        told = await broker.ask(fetching(7, ("wide", indexes)), OffsetFetchResponse, 7)
        assert stored.throttle_time_ms == told.throttle_time_ms == 250
