"""TxnOffsetCommit: who may, what is verified before, and when the offsets are there."""

from __future__ import annotations

import asyncio

import pytest

from ottla.protocol.apis.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchResponse,
)
from ottla.protocol.apis.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponse,
)
from ottla.protocol.errors import ErrorCode
from ottla.protocol.internal.topics import GROUP_METADATA_TOPIC
from ottla.protocol.records.control import ControlType
from ottla.protocol.schema import Message
from ottla.simulation.store import MemoryTree
from tests.unit.handlers.group_client import GROUP, commit, committed, coordinated, member_of
from tests.unit.handlers.one_broker import NOW_MS, OneBroker
from tests.unit.handlers.test_write_txn_markers import marker, write
from tests.unit.handlers.verifying import Verifier
from tests.virtual_time import on_virtual_time

E = ErrorCode
NONE = ErrorCode.NONE
NEWEST = 4


def request(
    offset: int,
    *partitions: int,
    topic: str = "orders",
    group: str = GROUP,
    member_id: str = "",
    generation: int = -1,
    epoch: int = 0,
) -> TxnOffsetCommitRequest:
    rows = [
        TxnOffsetCommitRequestPartition(
            partition_index=index, committed_offset=offset, committed_metadata="note"
        )
        for index in partitions or (0,)
    ]
    return TxnOffsetCommitRequest(
        transactional_id="x",
        group_id=group,
        producer_id=7,
        producer_epoch=epoch,
        generation_id=generation,
        member_id=member_id,
        topics=[TxnOffsetCommitRequestTopic(name=topic, partitions=rows)],
    )


def codes(answer: Message) -> list[ErrorCode]:
    assert isinstance(answer, TxnOffsetCommitResponse)
    return [ErrorCode(each.error_code) for topic in answer.topics for each in topic.partitions]


async def ask(
    broker: OneBroker, asked: TxnOffsetCommitRequest, version: int = NEWEST
) -> list[ErrorCode]:
    return codes(await broker.client.ask(asked, version))


async def stable(broker: OneBroker) -> tuple[int, ErrorCode]:
    """As a consumer of today asks."""
    topics = [OffsetFetchRequestTopic(name="orders", partition_indexes=[0])]
    groups = [OffsetFetchRequestGroup(group_id=GROUP, topics=topics)]
    wanted = OffsetFetchRequest(groups=groups, require_stable=True)
    answer = await broker.ask(wanted, OffsetFetchResponse, 8)
    [found] = answer.groups[0].topics[0].partitions
    return found.committed_offset, ErrorCode(found.error_code)


async def end(broker: OneBroker, *, commits: bool = True) -> None:
    number = broker.services.groups.partition_for(GROUP)
    ended = marker(number, topic=GROUP_METADATA_TOPIC, commits=commits)
    assert list((await write(broker, ended)).values()) == [NONE]


@pytest.mark.parametrize("version", range(NEWEST + 1))
@on_virtual_time
async def test_an_offset_is_there_when_its_transaction_is_committed(version: int) -> None:
    async with coordinated() as broker:
        verifier = Verifier(broker)
        assert await commit(broker, 1) is NONE
        assert await ask(broker, request(5), version) == [NONE]
        assert await committed(broker) == (1, NONE)
        assert await stable(broker) == (-1, E.UNSTABLE_OFFSET_COMMIT)
        await end(broker)
        assert await committed(broker) == await stable(broker) == (5, NONE)
        number = broker.services.groups.partition_for(GROUP)
        assert verifier.asked == [("x", 7, 0, [(GROUP_METADATA_TOPIC, number)])]


@on_virtual_time
async def test_an_offset_of_an_aborted_transaction_never_was() -> None:
    async with coordinated() as broker:
        Verifier(broker)
        assert await ask(broker, request(5)) == [NONE]
        assert await ask(broker, request(6)) == [NONE]
        await end(broker, commits=False)
        assert await committed(broker) == await stable(broker) == (-1, NONE)


@on_virtual_time
async def test_partitions_that_are_not_there_are_refused_alone() -> None:
    async with coordinated() as broker:
        Verifier(broker)
        unknown = E.UNKNOWN_TOPIC_OR_PARTITION
        assert await ask(broker, request(5, 0, 9)) == [NONE, unknown]
        assert await ask(broker, request(5, 0, topic="nothing")) == [unknown]


@on_virtual_time
async def test_from_version_three_on_only_members_commit() -> None:
    async with coordinated() as broker:
        Verifier(broker)
        member = await member_of(broker)
        mine = request(1, member_id=member.id, generation=member.generation)
        assert await ask(broker, mine, 3) == [NONE]
        late = request(2, member_id=member.id, generation=member.generation + 1)
        assert await ask(broker, late, 3) == [E.ILLEGAL_GENERATION]
        stranger = request(3, member_id="stranger", generation=member.generation)
        assert await ask(broker, stranger, 3) == [E.UNKNOWN_MEMBER_ID]
        assert await ask(broker, request(4), 2) == [NONE]


@pytest.mark.parametrize(
    ("code", "version", "heard"),
    [
        (E.TRANSACTION_ABORTABLE, 3, E.INVALID_TXN_STATE),
        (E.TRANSACTION_ABORTABLE, 4, E.TRANSACTION_ABORTABLE),
        (E.PRODUCER_FENCED, 4, E.INVALID_PRODUCER_EPOCH),
        (E.INVALID_PRODUCER_ID_MAPPING, 4, E.INVALID_PRODUCER_ID_MAPPING),
        (E.CONCURRENT_TRANSACTIONS, 4, E.CONCURRENT_TRANSACTIONS),
        (E.NETWORK_EXCEPTION, 4, E.COORDINATOR_LOAD_IN_PROGRESS),
        (E.NETWORK_EXCEPTION, 1, E.COORDINATOR_NOT_AVAILABLE),
        (E.COORDINATOR_LOAD_IN_PROGRESS, 1, E.COORDINATOR_NOT_AVAILABLE),
        (E.NOT_COORDINATOR, 2, E.NOT_COORDINATOR),
    ],
)
@on_virtual_time
async def test_a_refusal_is_told_in_words_of_the_version(
    code: ErrorCode, version: int, heard: ErrorCode
) -> None:
    async with coordinated() as broker:
        Verifier(broker, code)
        assert await ask(broker, request(5, 0, 9), version) == [heard, E.UNKNOWN_TOPIC_OR_PARTITION]
        assert await stable(broker) == (-1, NONE)


@on_virtual_time
async def test_what_the_group_cannot_do_is_told_before_anybody_is_asked() -> None:
    async with coordinated() as broker:
        verifier = Verifier(broker, E.TRANSACTION_ABORTABLE)
        assert await ask(broker, request(5, group="")) == [E.INVALID_GROUP_ID]
        broker.services.groups.resigned(broker.services.groups.partition_for(GROUP), None)
        assert await ask(broker, request(5)) == [E.NOT_COORDINATOR]
        assert verifier.asked == []


@on_virtual_time
async def test_an_old_epoch_is_refused_by_the_log_itself() -> None:
    async with coordinated(transaction_partition_verification_enable="false") as broker:
        assert await ask(broker, request(5, epoch=3)) == [NONE]
        assert await ask(broker, request(6, epoch=2)) == [E.INVALID_PRODUCER_EPOCH]


@pytest.mark.parametrize(("is_marked", "code"), [(False, NONE), (True, E.INVALID_TXN_STATE)])
@on_virtual_time
async def test_an_answer_that_comes_late_counts_unless_a_marker_came_first(
    is_marked: bool, code: ErrorCode
) -> None:
    async with coordinated() as broker:
        verifier = Verifier(broker)
        verifier.holds = True
        waiting = broker.client.ask(request(5))
        await asyncio.sleep(1)
        number = broker.services.groups.partition_for(GROUP)
        partition = broker.services.replicas.get(GROUP_METADATA_TOPIC, number)
        if is_marked:
            partition.append_marker(
                ControlType.ABORT,
                producer_id=7,
                producer_epoch=0,
                coordinator_epoch=0,
                now_ms=NOW_MS,
            )
        verifier.answer()
        assert codes(await waiting) == [code]
        assert partition.is_in_transaction(7, epoch=0) == (not is_marked)


@on_virtual_time
async def test_offsets_outlive_the_broker_as_their_transaction_left_them() -> None:
    tree = MemoryTree()
    async with coordinated(tree=tree) as broker:
        Verifier(broker)
        disk = broker.disk
        assert await ask(broker, request(5, 0)) == [NONE]
        await end(broker)
        assert await ask(broker, request(6, 1)) == [NONE]
    async with coordinated(disk=disk, tree=tree) as broker:
        Verifier(broker)
        assert await committed(broker) == (5, NONE)
        assert await committed(broker, partition=1) == (-1, NONE)
        assert await ask(broker, request(7, 1)) == [NONE]  # the transaction is open still
        await end(broker)
        assert await committed(broker, partition=1) == (7, NONE)
