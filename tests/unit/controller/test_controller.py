"""The controller on a store in memory: what it writes, and what brokers hear, in which order."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import get_args

import pytest

from ottla.controller import events, senders
from ottla.controller.context import TopicPartition
from ottla.controller.controller import Controller
from ottla.controller.events import ElectionType
from ottla.controller.fence import ControllerMoved
from ottla.controller.stats import state_number
from ottla.protocol.apis.leader_and_isr import LeaderAndIsrRequest
from ottla.protocol.apis.stop_replica import StopReplicaRequest
from ottla.protocol.apis.update_metadata import UpdateMetadataRequest
from ottla.protocol.errors import ErrorCode, KafkaError
from ottla.store import paths
from ottla.store.port import Write
from ottla.store.znodes import IsrChange, LogDirEvent, PartitionState, PreferredReplicaElection
from tests.unit.controller.cluster import Cluster, cluster

ORDERS = TopicPartition("orders", 0)


def run(brokers: int, scenario: Callable[[Cluster], Awaitable[None]]) -> None:
    async def whole() -> None:
        async with cluster(brokers) as made:
            await scenario(made)

    asyncio.run(whole())


def test_the_first_broker_becomes_controller_with_epoch_one() -> None:
    async def scenario(made: Cluster) -> None:
        assert made.running[1].controller.is_active
        assert not made.running[2].controller.is_active
        assert made.running[2].controller.active_id == 1
        assert await made.data(paths.CONTROLLER_EPOCH) == b"1"
        assert await made.data(paths.CONTROLLER) == (
            b'{"version":2,"brokerid":1,"timestamp":"1700000000000","kraftControllerEpoch":-1}'
        )
        assert await made.data(paths.FEATURE) == b'{"features":{},"version":2,"status":1}'

    run(2, scenario)


def test_a_new_topic_gets_its_znodes_then_its_brokers_hear_of_it() -> None:
    async def scenario(made: Cluster) -> None:
        await made.create("assigned", {0: [1, 2], 1: [2, 1]})
        assert await made.data("/brokers/topics/assigned") == (
            b'{"partitions":{"0":[1,2],"1":[2,1]},"topic_id":"AAAAAAAAAAAAAAAAAAAAAQ",'
            b'"adding_replicas":{},"removing_replicas":{},"version":3}'
        )
        assert await made.data("/config/topics/assigned") == b'{"version":1,"config":{}}'
        assert await made.data("/brokers/topics/assigned/partitions/1/state") == (
            b'{"controller_epoch":1,"leader":2,"version":1,"leader_epoch":0,"isr":[2,1]}'
        )
        [request] = made.brokers.of(LeaderAndIsrRequest, 2)
        assert [leader.broker_id for leader in request.live_leaders] == [1, 2]
        assert request.broker_epoch == made.running[2].registration.epoch
        assert made.brokers.told_leaders(2) == {
            TopicPartition("assigned", 0): (1, 0, True),
            TopicPartition("assigned", 1): (2, 0, True),
        }
        heard = made.brokers.take()
        for broker in (1, 2):
            kinds = [kind for to, kind in heard if to == broker]
            assert kinds == ["LeaderAndIsr", "UpdateMetadata"]

    run(2, scenario)


def test_brokers_without_a_replica_hear_of_the_topic_only() -> None:
    async def scenario(made: Cluster) -> None:
        await made.create("orders", {0: [1]})
        assert made.brokers.of(LeaderAndIsrRequest, 2) == []
        assert made.brokers.known_leaders(2) == {ORDERS: 1}

    run(2, scenario)


def test_an_old_topic_gets_the_id_it_lacks() -> None:
    async def scenario(made: Cluster) -> None:
        await made.admin.create("/brokers/topics/old", b'{"version":1,"partitions":{"0":[1]}}')
        await made.settled()
        data = await made.data("/brokers/topics/old")
        assert data is not None
        assert b'"topic_id":"AAAAAAAAAAAAAAAAAAAAAQ"' in data

    run(1, scenario)


def test_a_topic_whose_brokers_are_away_gets_its_leader_when_one_comes() -> None:
    async def scenario(made: Cluster) -> None:
        await made.create("orders", {0: [2], 1: [1]})
        assert await made.data(paths.partition_state("orders", 0)) is None
        assert (await made.state("orders", 1)).leader == 1
        await made.start(2)
        assert (await made.state("orders", 0)).leader == 2

    run(1, scenario)


def test_a_dead_leader_is_replaced_and_leaves_the_in_sync_set() -> None:
    async def scenario(made: Cluster) -> None:
        await made.create("orders", {0: [2, 3, 1]})
        await made.create("solo", {0: [2]})
        made.brokers.requests.clear()
        await made.kill(2)
        assert await made.state("orders", 0) == PartitionState(3, 1, (3, 1), 1)
        # Nobody else has its records: it stays the one in sync, and there is no leader.
        assert await made.state("solo", 0) == PartitionState(-1, 1, (2,), 1)
        assert made.brokers.told_leaders(3) == {ORDERS: (3, 1, False)}
        assert made.brokers.known_leaders(1) == {ORDERS: 3, TopicPartition("solo", 0): -1}
        assert {to for to, _ in made.brokers.take()} == {1, 3}

    run(3, scenario)


def test_a_dead_follower_leaves_the_in_sync_set() -> None:
    async def scenario(made: Cluster) -> None:
        await made.create("orders", {0: [1, 2]})
        await made.kill(2)
        assert await made.state("orders", 0) == PartitionState(1, 1, (1,), 1)

    run(2, scenario)


def test_a_broker_that_returns_hears_of_everything_before_its_part() -> None:
    async def scenario(made: Cluster) -> None:
        await made.create("orders", {0: [2, 1]})
        await made.create("solo", {0: [2]})
        await made.kill(2)
        made.brokers.requests.clear()
        await made.start(2)
        assert made.brokers.told_leaders(2) == {
            ORDERS: (1, 1, False),
            TopicPartition("solo", 0): (2, 2, False),
        }
        kinds = [kind for to, kind in made.brokers.take() if to == 2]
        assert kinds[:2] == ["UpdateMetadata", "LeaderAndIsr"]

    run(2, scenario)


def test_a_broker_with_a_new_epoch_was_away() -> None:
    async def scenario(made: Cluster) -> None:
        await made.create("orders", {0: [2, 1]})
        before = made.running[2].registration.epoch
        made.running[2].store.expire()
        await made.settled()
        assert made.running[2].registration.epoch > before
        state = await made.state("orders", 0)
        assert (state.leader, state.isr) == (1, (1,))

    run(2, scenario)


def test_an_unclean_leader_is_elected_only_where_it_is_allowed() -> None:
    async def scenario(made: Cluster) -> None:
        made.unclean["loose"] = None
        await made.create("strict", {0: [2, 3]})
        await made.create("loose", {0: [2, 3]})
        await made.kill(3)
        await made.kill(2)
        await made.start(3)
        assert (await made.state("strict", 0)).leader == -1
        loose = await made.state("loose", 0)
        assert (loose.leader, loose.isr, loose.leader_recovery_state) == (3, (3,), 1)
        controller = made.running[1].controller
        assert controller.stats.unclean_elections == 1
        assert controller.stats.elections_ms.count == 5  # two came before, and see above
        assert controller.stats.queued_ms.count > 3
        assert (controller.state_number, controller.waiting_count) == (0, 0)
        assert controller.unsent_counts() == {1: 0, 3: 0}

    run(3, scenario)


def test_the_next_controller_takes_over_with_a_higher_epoch() -> None:
    async def scenario(made: Cluster) -> None:
        await made.create("orders", {0: [1, 2]})
        made.brokers.requests.clear()
        await made.kill(1)
        assert made.running[2].controller.is_active
        assert await made.data(paths.CONTROLLER_EPOCH) == b"2"
        # One epoch for the replica that is gone, one for the election.
        assert await made.state("orders", 0) == PartitionState(2, 2, (2,), 2)
        first = made.brokers.requests[0][1]
        assert isinstance(first, UpdateMetadataRequest)
        assert first.controller_epoch == 2
        await made.create("later", {0: [2]})
        assert (await made.state("later", 0)).controller_epoch == 2

    run(2, scenario)


def test_a_controller_whose_node_is_deleted_competes_again() -> None:
    async def scenario(made: Cluster) -> None:
        await made.admin.delete(paths.CONTROLLER)
        await made.settled()
        assert await made.data(paths.CONTROLLER_EPOCH) == b"2"
        assert [b.controller.is_active for b in made.running.values()].count(True) == 1

    run(2, scenario)


def test_a_stale_controller_cannot_write() -> None:
    async def scenario(made: Cluster) -> None:
        stale = made.running[1].controller
        fence = stale.fence
        await made.admin.write(paths.CONTROLLER_EPOCH, b"7")
        with pytest.raises(ControllerMoved):
            await fence.multi([Write(paths.FEATURE, b"{}")])
        with pytest.raises(KafkaError, match="NOT_CONTROLLER"):
            await made.create("orders", {0: [1]})
        # Its next event finds out, and it starts over in an epoch of its own.
        await made.admin.create("/brokers/topics/t", b'{"version":1,"partitions":{"0":[1]}}')
        await made.settled()
        assert await made.data(paths.CONTROLLER_EPOCH) == b"8"
        assert (await made.state("t", 0)).controller_epoch == 8

    run(1, scenario)


def test_a_lost_session_means_a_new_registration_and_a_new_term() -> None:
    async def scenario(made: Cluster) -> None:
        await made.create("orders", {0: [1]})
        made.running[1].store.expire()
        await made.settled()
        assert made.running[1].controller.is_active
        assert await made.data(paths.broker(1)) is not None
        assert (await made.state("orders", 0)).leader == 1

    run(1, scenario)


def test_a_store_that_was_away_is_read_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ottla.controller.controller.STORE_BACKOFF_SECONDS", 0)

    async def scenario(made: Cluster) -> None:
        broker = made.running[1]
        broker.store.cut_off()
        await made.admin.create("/brokers/topics/t", b'{"version":1,"partitions":{"0":[1]}}')
        broker.store.reconnect()
        await made.settled()
        assert (await made.state("t", 0)).leader == 1

    run(1, scenario)


def test_a_store_that_fails_half_way_means_a_new_term(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ottla.controller.controller.STORE_BACKOFF_SECONDS", 0)

    async def scenario(made: Cluster) -> None:
        active = await _with_leader_moved(made)
        made.running[1].store.cut_off()
        with pytest.raises(KafkaError, match="NOT_CONTROLLER"):
            await active.elect_leaders(ElectionType.PREFERRED, [ORDERS])
        assert not active.is_active
        made.running[1].store.reconnect()
        await made.settled()
        assert made.active.context.epoch == 2
        results = await made.active.elect_leaders(ElectionType.PREFERRED, [ORDERS])
        assert results[ORDERS].code == ErrorCode.NONE

    run(2, scenario)


def test_a_bug_at_one_event_means_a_new_term(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("ottla.controller.controller.BUG_BACKOFF_SECONDS", 0)

    async def scenario(made: Cluster) -> None:
        await made.create("orders", {0: [1]})
        children = made.running[1].store.children

        async def fail_once(path: str) -> list[str]:
            made.running[1].store.children = children  # type: ignore[method-assign]
            raise LookupError("a bug")

        made.running[1].store.children = fail_once  # type: ignore[method-assign]
        await made.admin.create("/brokers/topics/t", b'{"version":1,"partitions":{"0":[1]}}')
        await made.settled()
        assert made.active.context.epoch == 2
        assert (await made.state("t", 0)).leader == 1

    run(1, scenario)
    assert "TopicChange" in caplog.text
    assert "LookupError: a bug" in caplog.text


def test_a_broker_that_does_not_answer_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(senders, "RETRY_BACKOFF_SECONDS", 0)

    async def scenario(made: Cluster) -> None:
        made.brokers.failures = 3
        await made.create("orders", {0: [1]})
        assert made.brokers.take() == [(1, "LeaderAndIsr"), (1, "UpdateMetadata")]

    run(1, scenario)


def test_in_sync_sets_that_leaders_write_are_told_to_everybody() -> None:
    async def scenario(made: Cluster) -> None:
        await made.create("orders", {0: [1, 2]})
        made.brokers.requests.clear()
        path = paths.partition_state("orders", 0)
        await made.admin.write(path, PartitionState(1, 0, (1,), 1).encode())
        change = IsrChange((("orders", 0),))
        await made.admin.create(paths.ISR_CHANGE, change.encode(), sequential=True)
        await made.settled()
        for broker in (1, 2):
            [request] = made.brokers.of(UpdateMetadataRequest, broker)
            assert request.topic_states[0].partition_states[0].isr == [1]
        assert await made.admin.children(paths.ISR_CHANGES) == []

    run(2, scenario)


def test_an_election_sees_what_the_leader_has_written_since() -> None:
    async def scenario(made: Cluster) -> None:
        await made.create("orders", {0: [2, 1, 3]})
        path = paths.partition_state("orders", 0)
        await made.admin.write(path, PartitionState(2, 0, (2, 3), 1).encode())
        await made.kill(2)
        assert await made.state("orders", 0) == PartitionState(3, 1, (3,), 1)

    run(3, scenario)


def test_a_failed_disk_takes_its_replicas_offline_until_they_answer_again() -> None:
    async def scenario(made: Cluster) -> None:
        await made.create("orders", {0: [2, 1]})
        made.brokers.broken[2, ORDERS] = None
        event = LogDirEvent(2)
        await made.admin.create(paths.LOG_DIR_EVENT, event.encode(), sequential=True)
        await made.settled()
        assert await made.state("orders", 0) == PartitionState(1, 1, (1,), 1)
        assert await made.admin.children(paths.LOG_DIR_EVENTS) == []
        last = made.brokers.of(UpdateMetadataRequest, 1)[-1]
        assert last.topic_states == [] or (
            last.topic_states[0].partition_states[0].offline_replicas == [2]
        )

    run(2, scenario)


def test_a_broker_that_goes_in_good_order_leads_nothing_any_more() -> None:
    async def scenario(made: Cluster) -> None:
        await made.create("orders", {0: [2, 1], 1: [1, 2]})
        await made.create("solo", {0: [2]})
        made.brokers.requests.clear()
        epoch = made.running[2].registration.epoch
        remaining = await made.active.controlled_shutdown(2, broker_epoch=epoch)
        await made.settled()
        assert remaining == []
        assert await made.state("orders", 0) == PartitionState(1, 1, (1,), 1)
        assert await made.state("orders", 1) == PartitionState(1, 1, (1,), 1)
        [stopped] = made.brokers.of(StopReplicaRequest, 2)
        assert stopped.topic_states[0].partition_states[0].leader_epoch == 1
        assert not stopped.topic_states[0].partition_states[0].delete_partition

    run(2, scenario)


def test_a_shutdown_is_refused_to_strangers_and_to_earlier_lives() -> None:
    async def scenario(made: Cluster) -> None:
        with pytest.raises(KafkaError, match="Broker id 9 does not exist"):
            await made.active.controlled_shutdown(9, broker_epoch=-1)
        with pytest.raises(KafkaError, match="STALE_BROKER_EPOCH"):
            await made.active.controlled_shutdown(1, broker_epoch=0)
        with pytest.raises(KafkaError, match="NOT_CONTROLLER"):
            await made.running[2].controller.controlled_shutdown(2, broker_epoch=-1)

    run(2, scenario)


def test_what_nobody_else_can_lead_remains() -> None:
    async def scenario(made: Cluster) -> None:
        await made.create("orders", {0: [2, 1]})
        await made.kill(1)
        remaining = await made.active.controlled_shutdown(2, broker_epoch=-1)
        assert remaining == [ORDERS]

    run(2, scenario)


async def _with_leader_moved(made: Cluster) -> Controller:
    await made.create("orders", {0: [2, 1]})
    await made.kill(2)
    await made.start(2)
    path = paths.partition_state("orders", 0)
    await made.admin.write(path, PartitionState(1, 1, (1, 2), 1).encode())
    change = IsrChange((("orders", 0),))
    await made.admin.create(paths.ISR_CHANGE, change.encode(), sequential=True)
    await made.settled()
    return made.active


def test_the_preferred_leader_is_elected_when_asked_for() -> None:
    async def scenario(made: Cluster) -> None:
        active = await _with_leader_moved(made)
        unknown = TopicPartition("nothing", 0)
        results = await active.elect_leaders(ElectionType.PREFERRED, [ORDERS, unknown])
        assert results[ORDERS].code == ErrorCode.NONE
        assert results[unknown].code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        assert await made.state("orders", 0) == PartitionState(2, 2, (1, 2), 1)
        again = await active.elect_leaders(ElectionType.PREFERRED, None)
        assert again[ORDERS].code == ErrorCode.ELECTION_NOT_NEEDED
        assert again[ORDERS].message == "Leader election not needed for topic partition."

    run(2, scenario)


def test_a_preferred_leader_that_is_not_in_sync_is_not_elected() -> None:
    async def scenario(made: Cluster) -> None:
        await made.create("orders", {0: [2, 1]})
        await made.kill(2)
        results = await made.active.elect_leaders(ElectionType.PREFERRED, [ORDERS])
        assert results[ORDERS].code == ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE

    run(2, scenario)


def test_an_unclean_election_is_held_when_asked_for() -> None:
    async def scenario(made: Cluster) -> None:
        await made.create("orders", {0: [2, 1]})
        await made.admin.write(
            paths.partition_state("orders", 0), PartitionState(2, 0, (2,), 1).encode()
        )
        await made.kill(2)
        assert (await made.state("orders", 0)).leader == -1
        results = await made.active.elect_leaders(ElectionType.UNCLEAN, None)
        assert results[ORDERS].code == ErrorCode.NONE
        state = await made.state("orders", 0)
        assert (state.leader, state.isr) == (1, (1,))

    run(2, scenario)


def test_kafkas_old_tool_asks_by_a_node() -> None:
    async def scenario(made: Cluster) -> None:
        await _with_leader_moved(made)
        asked = PreferredReplicaElection((("orders", 0),))
        await made.admin.create(paths.PREFERRED_REPLICA_ELECTION, asked.encode())
        await made.settled()
        assert (await made.state("orders", 0)).leader == 2
        assert await made.data(paths.PREFERRED_REPLICA_ELECTION) is None

    run(2, scenario)


def test_leadership_goes_back_to_where_it_belongs_by_itself() -> None:
    async def scenario(made: Cluster) -> None:
        await _with_leader_moved(made)
        timer = made.running[1].timer
        delay_ms, balance = timer.calls[-1]
        assert delay_ms == 5_000
        balance()
        await made.settled()
        assert (await made.state("orders", 0)).leader == 2
        assert timer.calls[-1][0] == 300_000

    run(2, scenario)


def test_every_event_has_a_number_of_kafkas() -> None:
    for kind in get_args(events.Event):
        assert 0 < state_number(object.__new__(kind)) <= 11, kind
    assert state_number(None) == 0
