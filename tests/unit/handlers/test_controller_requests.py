"""What the controller sends: LeaderAndIsr, StopReplica, UpdateMetadata; in old forms, and stale."""

from __future__ import annotations

import pytest

from ottla.protocol.apis.leader_and_isr import (
    LeaderAndIsrLiveLeader,
    LeaderAndIsrPartitionError,
    LeaderAndIsrPartitionState,
    LeaderAndIsrRequest,
    LeaderAndIsrResponse,
    LeaderAndIsrTopicState,
)
from ottla.protocol.apis.stop_replica import (
    StopReplicaPartitionState,
    StopReplicaPartitionV0,
    StopReplicaRequest,
    StopReplicaResponse,
    StopReplicaTopicState,
    StopReplicaTopicV1,
)
from ottla.protocol.apis.update_metadata import UpdateMetadataRequest, UpdateMetadataResponse
from ottla.protocol.errors import ErrorCode
from tests.unit.handlers.one_broker import OneBroker, one_broker
from tests.virtual_time import on_virtual_time

GROUPED_FROM = 2
TOPIC_IDS_FROM = 5
NEWER = 5  # a controller epoch beyond that of the broker's own controller


def state(index: int, *, epoch: int, name: str = "") -> LeaderAndIsrPartitionState:
    return LeaderAndIsrPartitionState(
        topic_name=name,
        partition_index=index,
        controller_epoch=NEWER,
        leader=1,
        leader_epoch=epoch,
        isr=[1],
        partition_epoch=1,
        replicas=[1],
    )


def lead_both(topic_id: bytes, version: int) -> LeaderAndIsrRequest:
    """Partition 0 with a new epoch; partition 1 with one that is not new."""
    ungrouped, grouped = [], []
    if version < GROUPED_FROM:
        ungrouped = [state(index, epoch=1 - index, name="orders") for index in range(2)]
    else:
        states = [state(index, epoch=1 - index) for index in range(2)]
        given_id = topic_id if version >= TOPIC_IDS_FROM else bytes(16)
        grouped = [
            LeaderAndIsrTopicState(topic_name="orders", topic_id=given_id, partition_states=states)
        ]
    return LeaderAndIsrRequest(
        controller_id=1,
        controller_epoch=NEWER,
        ungrouped_partition_states=ungrouped,
        topic_states=grouped,
        live_leaders=[LeaderAndIsrLiveLeader(broker_id=1, host_name="", port=1)],
    )


@pytest.mark.parametrize("version", range(8))
@on_virtual_time
async def test_every_version_of_leader_and_isr_is_followed_and_answered_in_its_form(
    version: int,
) -> None:
    async with one_broker() as broker:
        await broker.create("orders", partitions=2)
        topic_id = broker.services.metadata.image.topics["orders"].topic_id
        answer = await broker.ask(lead_both(topic_id, version), LeaderAndIsrResponse, version)
        partitions = broker.services.replicas.partitions
        assert [partitions["orders", index].leader_epoch for index in range(2)] == [1, 0]
        assert answer.error_code == ErrorCode.NONE
        by_name = version < TOPIC_IDS_FROM
        expected = [
            LeaderAndIsrPartitionError(
                topic_name="orders" if by_name else "", partition_index=index, error_code=code
            )
            for index, code in enumerate((ErrorCode.NONE, ErrorCode.STALE_CONTROLLER_EPOCH))
        ]
        if by_name:
            assert (answer.partition_errors, answer.topics) == (expected, [])
        else:
            (topic,) = answer.topics
            assert (topic.topic_id, topic.partition_errors) == (topic_id, expected)


def stop(version: int, *indexes: int, deletes: bool) -> StopReplicaRequest:
    request = StopReplicaRequest(controller_id=1, controller_epoch=NEWER)
    if version == 0:
        request.ungrouped_partitions = [
            StopReplicaPartitionV0(topic_name="orders", partition_index=each) for each in indexes
        ]
    elif version <= 2:
        request.topics = [StopReplicaTopicV1(name="orders", partition_indexes=list(indexes))]
    else:
        states = [
            StopReplicaPartitionState(partition_index=each, delete_partition=deletes)
            for each in indexes
        ]
        request.topic_states = [StopReplicaTopicState(topic_name="orders", partition_states=states)]
    request.delete_partitions = deletes and version <= 2
    return request


@pytest.mark.parametrize("deletes", [False, True])
@pytest.mark.parametrize("version", range(5))
@on_virtual_time
async def test_every_version_of_stop_replica_lets_go_of_partitions_or_deletes_them(
    version: int, deletes: bool
) -> None:
    async with one_broker() as broker:
        await broker.create("orders", partitions=3)
        request = stop(version, 0, 2, deletes=deletes)
        answer = await broker.ask(request, StopReplicaResponse, version)
        told = [
            (each.topic_name, each.partition_index, each.error_code)
            for each in answer.partition_errors
        ]
        assert (answer.error_code, told) == (0, [("orders", 0, 0), ("orders", 2, 0)])
        replicas = broker.services.replicas
        assert [name for name in replicas.partitions if name[0] == "orders"] == [("orders", 1)]
        assert (replicas.directories.find(("orders", 0)) is None) == deletes


async def codes(broker: OneBroker, *, controller_epoch: int, broker_epoch: int) -> list[int]:
    """Of LeaderAndIsr, StopReplica and UpdateMetadata, which would all change something."""
    topic_id = broker.services.metadata.image.topics["orders"].topic_id
    lead, let_go = lead_both(topic_id, 7), stop(4, 0, deletes=True)
    update = UpdateMetadataRequest(controller_id=9, controller_epoch=0, live_brokers=[])
    for request in (lead, let_go, update):
        request.controller_epoch = controller_epoch
        request.broker_epoch = broker_epoch
    return [
        (await broker.ask(lead, LeaderAndIsrResponse)).error_code,
        (await broker.ask(let_go, StopReplicaResponse)).error_code,
        (await broker.ask(update, UpdateMetadataResponse)).error_code,
    ]


@on_virtual_time
async def test_a_controller_that_was_followed_by_another_changes_nothing() -> None:
    async with one_broker() as broker:
        await broker.create("orders", partitions=2)
        image = broker.services.metadata.image
        found = await codes(broker, controller_epoch=0, broker_epoch=-1)
        assert found == [ErrorCode.STALE_CONTROLLER_EPOCH] * 3
        assert broker.services.metadata.image is image
        assert broker.services.replicas.get("orders", 0).leader_epoch == 0


@on_virtual_time
async def test_what_was_meant_for_the_broker_before_its_restart_changes_nothing() -> None:
    async with one_broker() as broker:
        await broker.create("orders", partitions=2)
        image = broker.services.metadata.image
        over = broker.services.broker_epoch() - 1
        assert over >= 0
        found = await codes(broker, controller_epoch=NEWER, broker_epoch=over)
        assert found == [ErrorCode.STALE_BROKER_EPOCH] * 3
        assert broker.services.metadata.image is image
        replicas = broker.services.replicas
        assert replicas.get("orders", 0).leader_epoch == 0
        assert replicas.controller_epoch < NEWER, "nor is the controller taken for the newest"
