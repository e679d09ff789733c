"""A client cannot tell, and nor can the log, whether one offset took its shortcut or not."""

from __future__ import annotations

import asyncio
from typing import NamedTuple

import pytest

from ottla.coordinators.groups.repeated_commit import RepeatedCommit
from ottla.handlers.offset_shortcut import OffsetShortcut
from ottla.network.connection import Connection
from ottla.protocol.apis.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from ottla.protocol.apis.offset_fetch import OffsetFetchRequest, OffsetFetchRequestTopic
from ottla.protocol.errors import ErrorCode
from ottla.protocol.internal.topics import GROUP_METADATA_TOPIC
from tests.unit.handlers.group_client import GROUP, Member, coordinated, member_of
from tests.unit.handlers.one_broker import OneBroker
from tests.virtual_time import on_virtual_time

E = ErrorCode


def request(offset: int, member: Member | None = None) -> OffsetCommitRequest:
    row = OffsetCommitRequestPartition(
        partition_index=1,
        committed_offset=offset,
        committed_leader_epoch=offset % 5,
        committed_metadata="" if offset % 2 else None,
    )
    return OffsetCommitRequest(
        group_id=GROUP,
        member_id=member.id if member else "",
        generation_id_or_member_epoch=member.generation if member else -1,
        topics=[OffsetCommitRequestTopic(name="orders", partitions=[row])],
    )


async def commit(broker: OneBroker, offset: int, member: Member | None = None) -> ErrorCode:
    answer = await broker.ask(request(offset, member), OffsetCommitResponse, 8)
    return E(answer.topics[0].partitions[0].error_code)


class Seen(NamedTuple):
    """Of a whole life, by its clients and on its disk."""

    codes: list[ErrorCode]
    answers: list[bytes]
    log: bytes
    counted: tuple[int, int]


@on_virtual_time
async def live(seen: list[Seen]) -> None:
    """Commits that succeed, and every way in which one like the last may not."""
    async with coordinated(offsets_topic_num_partitions="1") as broker:
        codes = [await commit(broker, offset) for offset in range(5)]
        broker.disk.fill_up()
        codes += [await commit(broker, offset) for offset in (5, 6)]
        broker.disk.make_room()
        codes += [await commit(broker, offset) for offset in (7, 8)]
        member = await member_of(broker)
        codes += [await commit(broker, 9), await commit(broker, 10)]
        for offset in range(11, 16):
            codes.append(await commit(broker, offset, member))
            await asyncio.sleep(8)  # of a session of ten seconds
        await asyncio.sleep(8)
        codes += [
            await commit(broker, 16, member),
            await commit(broker, 17),
            await commit(broker, 18),
        ]
        codes += [await commit(broker, 19), await commit(broker, 20)]
        log = broker.services.replicas.get(GROUP_METADATA_TOPIC, 0).local_log()
        slice = log.read(0, max_bytes=1 << 20, up_to=log.next_offset)
        assert slice is not None
        groups, requests = broker.services.groups, broker.services.requests
        counted = groups.committed_count, requests.by_version[8, 8]
        seen.append(Seen(codes, broker.client.raw, slice.read(), counted))


def test_a_life_with_it_is_the_life_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    seen, taken, begin = list[Seen](), list[bool](), RepeatedCommit.begin

    def noting(self: RepeatedCommit, *to_commit: object) -> bool:
        taken.append(begin(self, *to_commit))  # type: ignore[arg-type]
        return taken[-1]

    monkeypatch.setattr(RepeatedCommit, "begin", noting)
    live(seen)
    assert sum(taken) >= 10
    taken.clear()
    monkeypatch.setattr(OffsetShortcut, "serve", lambda self, connection, start, end: False)
    live(seen)
    assert not taken
    short, plain = seen
    assert short == plain
    assert {*short.codes} == {E.NONE, E.NOT_COORDINATOR, E.UNKNOWN_MEMBER_ID}


@on_virtual_time
async def test_a_fetch_that_was_sent_right_behind_it_sees_it() -> None:
    async with coordinated() as broker:
        topics = [OffsetFetchRequestTopic(name="orders", partition_indexes=[1])]
        for offset in range(4):
            committed = broker.client.ask(request(offset), 8)
            found = broker.client.ask(OffsetFetchRequest(group_id=GROUP, topics=topics), 5)
            again = broker.client.ask(request(offset + 100), 8)
            twice = broker.client.ask(request(offset + 200), 8)
            await asyncio.gather(committed, found, again, twice)
            assert f"committed_offset={offset}," in repr(found.result())


@on_virtual_time
async def test_a_client_that_closed_meanwhile_is_answered_no_more_and_its_offset_counts() -> None:
    async with coordinated() as broker:
        for offset in range(3):
            await commit(broker, offset)
        connection: Connection = broker.client.connection
        broker.client.ask(request(3), 8)
        connection.close()
        await asyncio.sleep(1)
        assert not connection.outgoing
        _, found = broker.services.groups.fetch(GROUP, [("orders", 1)])
        assert found["orders", 1].offset == 3
