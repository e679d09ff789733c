"""Commits on their way into the log, and fetches beside them."""

from __future__ import annotations

import pytest

from ottla.coordinators.groups.answers import FetchedOffset, OffsetToCommit
from ottla.coordinators.groups.records import (
    CommittedOffset,
    offset_key,
    offset_key_start,
    offset_value,
)
from ottla.protocol.errors import ErrorCode
from tests.unit.coordinators.coordinated_world import BEGINNING_MS
from tests.unit.coordinators.groups.world import NONE, World
from tests.virtual_time import on_virtual_time

G = "readers"
PLACE = ("orders", 0)
E = ErrorCode


@on_virtual_time
async def test_a_commit_is_stored_as_kafka_stores_it_and_answered_when_it_is_safe() -> None:
    world = await World().start()
    log = world.log_of(G)
    log.commits_at_once = False
    answers = world.ask_commit(G, OffsetToCommit("orders", 0, 42, 3, "note"))
    await world.settle()
    key = offset_key(offset_key_start(G), "orders", 0)
    value = offset_value(CommittedOffset(42, 3, "note", BEGINNING_MS))
    assert log.appends == [[(key, value)]]
    assert log.timeouts_ms == [5_000]
    assert answers == []
    assert world.committed(G) == {}
    log.commit()
    assert answers == [{PLACE: NONE}]
    assert world.coordinator.fetch(G, [PLACE]) == (NONE, {PLACE: FetchedOffset(42, 3, "note")})


@on_virtual_time
async def test_whoever_wants_stable_offsets_is_told_that_one_is_on_its_way() -> None:
    world = await World().start()
    await world.commit(G, "orders", 0, 1)
    world.log_of(G).commits_at_once = False
    world.ask_commit(G, OffsetToCommit("orders", 0, 2))
    await world.settle()
    error, found = world.coordinator.fetch(G, [PLACE], require_stable=True)
    assert (error, found[PLACE].error) == (NONE, E.UNSTABLE_OFFSET_COMMIT)
    assert world.committed(G) == {PLACE: 1}


@on_virtual_time
async def test_commits_of_all_groups_in_one_round_share_one_batch_for_each_partition() -> None:
    world = await World().start()
    groups = [f"group-{number}" for number in range(40)]
    answers = [
        world.ask_commit(group, OffsetToCommit("orders", 0, 1), OffsetToCommit("orders", 1, 2))
        for group in groups
        if world.coordinator.partition_for(group) != 3
    ]
    await world.settle()
    assert [len(log.appends) for log in world.logs] == [1, 1, 1, 0]
    assert sum(len(log.appends[0]) for log in world.logs[:3]) == 2 * len(answers)
    assert all(answer == [{PLACE: NONE, ("orders", 1): NONE}] for answer in answers)


@on_virtual_time
async def test_unknown_groups_and_partitions_have_no_offset_which_is_no_error() -> None:
    world = await World().start()
    nothing = {PLACE: FetchedOffset(-1, -1, "", NONE)}
    assert world.coordinator.fetch(G, [PLACE]) == (NONE, nothing)
    assert world.coordinator.fetch(G, None) == (NONE, {})
    await world.commit(G, "orders", 1, 1)
    assert world.coordinator.fetch(G, [PLACE], require_stable=True) == (NONE, nothing)


@on_virtual_time
async def test_a_text_that_is_too_long_is_refused_alone() -> None:
    world = await World().start()
    answers = world.ask_commit(
        G,
        OffsetToCommit("orders", 0, 1, metadata="x" * 4096),
        OffsetToCommit("orders", 1, 1, metadata="x" * 4097),
        OffsetToCommit("orders", 2, 1, metadata="\N{GRINNING FACE}" * 2048),
        OffsetToCommit("orders", 3, 1, metadata="\N{GRINNING FACE}" * 2048 + "x"),
        OffsetToCommit("orders", 4, 1, metadata="ü" * 4096),
        OffsetToCommit("orders", 5, 1, metadata=None),
    )
    await world.settle()
    large = E.OFFSET_METADATA_TOO_LARGE
    assert list(answers[0].values()) == [NONE, large, NONE, large, NONE, NONE]
    assert list(world.committed(G)) == [("orders", number) for number in (0, 2, 4, 5)]


@on_virtual_time
async def test_with_nothing_to_store_the_answer_comes_at_once() -> None:
    world = await World().start()
    [answer] = world.ask_commit(G, OffsetToCommit("orders", 0, 1, metadata="x" * 5000))
    assert answer == {PLACE: E.OFFSET_METADATA_TOO_LARGE}
    assert world.ask_commit(G) == [{}]
    assert world.log_of(G).appends == []


@on_virtual_time
async def test_an_explicit_retention_or_time_is_stored_with_the_offset() -> None:
    world = await World().start()
    world.ask_commit(G, OffsetToCommit("orders", 0, 1, 5), retention_ms=70)
    world.ask_commit(G, OffsetToCommit("orders", 0, 2, 5, "", 123))
    await world.settle()
    [[(_, explicit), (_, dated)]] = world.log_of(G).appends
    assert explicit == offset_value(CommittedOffset(1, 5, "", BEGINNING_MS, BEGINNING_MS + 70))
    assert dated == offset_value(CommittedOffset(2, 5, "", 123))


@pytest.mark.parametrize(
    ("error", "heard"),
    [
        (E.UNKNOWN_TOPIC_OR_PARTITION, E.COORDINATOR_NOT_AVAILABLE),
        (E.NOT_ENOUGH_REPLICAS, E.COORDINATOR_NOT_AVAILABLE),
        (E.NOT_ENOUGH_REPLICAS_AFTER_APPEND, E.COORDINATOR_NOT_AVAILABLE),
        (E.NOT_LEADER_OR_FOLLOWER, E.NOT_COORDINATOR),
        (E.KAFKA_STORAGE_ERROR, E.NOT_COORDINATOR),
        (E.MESSAGE_TOO_LARGE, E.INVALID_COMMIT_OFFSET_SIZE),
        (E.RECORD_LIST_TOO_LARGE, E.INVALID_COMMIT_OFFSET_SIZE),
        (E.INVALID_FETCH_SIZE, E.INVALID_COMMIT_OFFSET_SIZE),
        (E.REQUEST_TIMED_OUT, E.REQUEST_TIMED_OUT),
        (E.NETWORK_EXCEPTION, E.COORDINATOR_LOAD_IN_PROGRESS),
        (E.CORRUPT_MESSAGE, E.CORRUPT_MESSAGE),
    ],
)
def test_what_the_log_refuses_is_told_in_a_clients_words(
    error: ErrorCode, heard: ErrorCode
) -> None:
    @on_virtual_time
    async def test() -> None:
        world = await World().start()
        await world.commit(G, "orders", 0, 1)
        world.log_of(G).refuses_with = error
        answers = world.ask_commit(
            G, OffsetToCommit("orders", 0, 2), OffsetToCommit("orders", 1, 2, metadata="x" * 5000)
        )
        await world.settle()
        assert answers == [{PLACE: heard, ("orders", 1): E.OFFSET_METADATA_TOO_LARGE}]
        assert world.committed(G) == {PLACE: 1}
        _, found = world.coordinator.fetch(G, [PLACE], require_stable=True)
        assert found[PLACE].offset == 1

    test()


@on_virtual_time
async def test_a_commit_without_a_generation_makes_the_group() -> None:
    world = await World().start()
    assert await world.commit(G, "orders", 0, 1) is NONE
    assert world.listed() == {G: "Empty"}
    assert world.coordinator.describe(G).protocol_type == ""


@on_virtual_time
async def test_a_commit_of_a_generation_that_nobody_remembers_is_refused() -> None:
    world = await World().start()
    assert await world.commit(G, "orders", 0, 1, generation=0) is E.ILLEGAL_GENERATION
    assert world.listed() == {}


@on_virtual_time
async def test_of_a_group_with_members_only_they_commit() -> None:
    world = await World().start()
    member_id = await world.formed(G)
    assert await world.commit(G, "orders", 0, 1) is E.UNKNOWN_MEMBER_ID
    wrong = await world.commit(G, "orders", 0, 1, member_id=member_id, generation=2)
    assert wrong is E.ILLEGAL_GENERATION
    assert await world.commit(G, "orders", 0, 1, member_id=member_id, generation=1) is NONE
    assert world.committed(G) == {PLACE: 1}


@on_virtual_time
async def test_a_commit_that_is_to_last_longer_than_time_is_kept_for_ever() -> None:
    world = await World().start()
    answers = world.ask_commit(G, OffsetToCommit("orders", 0, 1, 5), retention_ms=2**63 - 1)
    await world.settle()
    assert answers == [{PLACE: NONE}]
    [[(_, value)]] = world.log_of(G).appends
    assert value == offset_value(CommittedOffset(1, 5, "", BEGINNING_MS, 2**63 - 1))
