"""Who coordinates a group: a topic that is made when somebody asks, led here or not any more."""

from __future__ import annotations

import sys

import pytest

from ottla.protocol.apis.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopic,
)
from ottla.protocol.apis.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse
from ottla.protocol.apis.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from ottla.protocol.apis.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from ottla.protocol.apis.stop_replica import (
    StopReplicaPartitionState,
    StopReplicaRequest,
    StopReplicaResponse,
    StopReplicaTopicState,
)
from ottla.protocol.errors import ErrorCode
from ottla.protocol.internal.topics import GROUP_METADATA_TOPIC
from tests.unit.handlers.group_client import (
    GROUP,
    commit,
    committed,
    coordinated,
    find,
    member_of,
    until_found,
)
from tests.unit.handlers.one_broker import OneBroker, lead, one_broker
from tests.virtual_time import on_virtual_time

NONE = ErrorCode.NONE
NOT_AVAILABLE = ErrorCode.COORDINATOR_NOT_AVAILABLE


async def metadata_of(broker: OneBroker, topic: str) -> ErrorCode:
    request = MetadataRequest(topics=[MetadataRequestTopic(name=topic)])
    [found] = (await broker.ask(request, MetadataResponse)).topics
    assert found.is_internal
    return ErrorCode(found.error_code)


@on_virtual_time
async def test_the_first_who_asks_has_the_topic_created() -> None:
    async with one_broker() as broker:
        first = await find(broker)
        assert (first.error_code, first.node_id, first.host, first.port) == (
            NOT_AVAILABLE, -1, "", -1,
        )  # fmt: skip
        await until_found(broker)
        found = await find(broker)
        assert (found.error_code, found.node_id, found.host) == (NONE, 1, "127.0.0.1")
        topic = broker.services.metadata.image.topics[GROUP_METADATA_TOPIC]
        assert len(topic.partitions) == 50
        log = broker.services.replicas.get(GROUP_METADATA_TOPIC, 7).local_log()
        assert (log.config.compacts, log.config.deletes) == (True, False)
        assert log.config.segment_bytes == 100 * 1024 * 1024


@on_virtual_time
async def test_too_few_brokers_for_its_replicas_are_told_of() -> None:
    async with one_broker({"offsets.topic.replication.factor": "3"}) as broker:
        assert (await find(broker)).error_code == NOT_AVAILABLE
        await broker.settled()
        assert (await find(broker)).error_code == NOT_AVAILABLE
        refused = await metadata_of(broker, GROUP_METADATA_TOPIC)
        assert refused is ErrorCode.INVALID_REPLICATION_FACTOR


@on_virtual_time
async def test_asking_for_the_topic_itself_creates_it_too() -> None:
    async with one_broker() as broker:
        first = await metadata_of(broker, GROUP_METADATA_TOPIC)
        assert first is ErrorCode.LEADER_NOT_AVAILABLE
        topics = broker.services.metadata
        await broker.until(lambda: GROUP_METADATA_TOPIC in topics.image.topics)
        assert await metadata_of(broker, GROUP_METADATA_TOPIC) is NONE


@on_virtual_time
async def test_groups_are_found_one_by_one_or_together() -> None:
    async with coordinated() as broker:
        request = FindCoordinatorRequest(coordinator_keys=["a", "b"])
        response = await broker.ask(request, FindCoordinatorResponse)
        found = [(each.key, each.node_id, each.error_code) for each in response.coordinators]
        assert found == [("a", 1, NONE), ("b", 1, NONE)]


@on_virtual_time
async def test_what_nobody_coordinates_is_refused() -> None:
    async with coordinated() as broker:
        for key_type, version, error in (
            (2, 5, ErrorCode.INVALID_REQUEST),
            (2, 6, NOT_AVAILABLE),
            (9, 6, ErrorCode.INVALID_REQUEST),
        ):
            request = FindCoordinatorRequest(key="x", key_type=key_type)
            if version >= 4:
                request = FindCoordinatorRequest(coordinator_keys=["x"], key_type=key_type)
            response = await broker.ask(request, FindCoordinatorResponse, version)
            codes = [each.error_code for each in response.coordinators] or [response.error_code]
            assert codes == [error]


@on_virtual_time
async def test_internal_records_are_not_deleted_from_the_start() -> None:
    async with coordinated() as broker:
        partitions = [DeleteRecordsPartition(partition_index=0, offset=0)]
        topics = [DeleteRecordsTopic(name=GROUP_METADATA_TOPIC, partitions=partitions)]
        request = DeleteRecordsRequest(topics=topics, timeout_ms=1000)
        response = await broker.ask(request, DeleteRecordsResponse)
        code = response.topics[0].partitions[0].error_code
        assert code == ErrorCode.INVALID_TOPIC_EXCEPTION


@on_virtual_time
async def test_who_leads_no_more_coordinates_no_more_until_it_leads_again() -> None:
    async with coordinated() as broker:
        member = await member_of(broker)
        assert await commit(broker, 5, partition=1) is ErrorCode.UNKNOWN_MEMBER_ID
        await lead(broker, GROUP_METADATA_TOPIC, leader=2, epoch=5)
        assert await member.heartbeat() is ErrorCode.NOT_COORDINATOR
        assert await committed(broker) == (-1, ErrorCode.NOT_COORDINATOR)
        assert await committed(broker, version=1) == (-1, ErrorCode.NOT_COORDINATOR)
        await lead(broker, GROUP_METADATA_TOPIC, leader=1, epoch=6)
        await until_found(broker)
        assert await member.heartbeat() is NONE


async def stop(broker: OneBroker, *, epoch: int, deletes: bool = False) -> ErrorCode:
    """The replica in which the group is."""
    index = broker.services.groups.partition_for(GROUP)
    state = StopReplicaPartitionState(
        partition_index=index, leader_epoch=epoch, delete_partition=deletes
    )
    topic = StopReplicaTopicState(topic_name=GROUP_METADATA_TOPIC, partition_states=[state])
    request = StopReplicaRequest(controller_id=1, controller_epoch=1, topic_states=[topic])
    [stopped] = (await broker.ask(request, StopReplicaResponse)).partition_errors
    return ErrorCode(stopped.error_code)


@on_virtual_time
async def test_who_is_stopped_coordinates_no_more_until_it_leads_again() -> None:
    async with coordinated() as broker:
        member = await member_of(broker)
        await lead(broker, GROUP_METADATA_TOPIC, leader=1, epoch=5)
        await until_found(broker)
        assert await stop(broker, epoch=4) is ErrorCode.FENCED_LEADER_EPOCH
        assert await member.heartbeat() is NONE
        assert await stop(broker, epoch=5) is NONE
        assert await member.heartbeat() is ErrorCode.NOT_COORDINATOR
        await lead(broker, GROUP_METADATA_TOPIC, leader=1, epoch=5)
        await until_found(broker)
        assert await member.heartbeat() is NONE


@pytest.mark.parametrize("is_broken", [True, False], ids=["broken", "refusing"])
@on_virtual_time
async def test_a_replica_whose_files_stay_is_stopped_all_the_same(is_broken: bool) -> None:
    async with coordinated() as broker:
        member = await member_of(broker)
        faults = broker.disk.faults
        if is_broken:
            broker.disk.break_file("/data/a")
            broker.disk.break_file("/data/b")
        else:
            faults.refused_operations = range(faults.operation_count + 1, sys.maxsize)
        stopped = await stop(broker, epoch=-2, deletes=True)
        faults.refused_operations = range(0)
        assert stopped is ErrorCode.KAFKA_STORAGE_ERROR
        assert await member.heartbeat() is ErrorCode.NOT_COORDINATOR
        assert await committed(broker) == (-1, ErrorCode.NOT_COORDINATOR)


@on_virtual_time
async def test_a_topic_that_is_deleted_takes_its_offsets_with_it() -> None:
    async with coordinated() as broker:
        await broker.create("gone")
        assert await commit(broker, 5) is NONE
        assert await commit(broker, 6, topic="gone") is NONE
        request = DeleteTopicsRequest(topic_names=["gone"], timeout_ms=10_000)
        assert (await broker.ask(request, DeleteTopicsResponse, 5)).responses[0].error_code == NONE
        await broker.settled()
        assert await committed(broker) == (5, NONE)
        assert await committed(broker, topic="gone") == (-1, NONE)
        assert broker.services.groups.describe(GROUP).state == "Empty"


@on_virtual_time
async def test_a_coordinator_whose_disk_fails_is_one_no_more() -> None:
    async with coordinated() as broker:
        member = await member_of(broker)
        for folder in ("/data/a", "/data/b"):
            broker.disk.break_file(folder)
        assert (await member.sync(all=b"all")).error_code == NONE  # nothing is written for it
        assert await commit(broker, 5) is ErrorCode.UNKNOWN_MEMBER_ID
        left = await member.leave()
        assert left is NONE
        await broker.until(lambda: bool(broker.services.groups.describe(GROUP).error))
        assert await member.heartbeat() is ErrorCode.NOT_COORDINATOR


@on_virtual_time
async def test_the_topic_can_be_deleted_and_is_created_anew() -> None:
    async with coordinated() as broker:
        assert await commit(broker, 5) is NONE
        request = DeleteTopicsRequest(topic_names=[GROUP_METADATA_TOPIC], timeout_ms=10_000)
        assert (await broker.ask(request, DeleteTopicsResponse, 5)).responses[0].error_code == NONE
        assert await committed(broker) == (-1, ErrorCode.NOT_COORDINATOR)
        await until_found(broker)
        assert await committed(broker) == (-1, NONE)
        assert await commit(broker, 6) is NONE
