"""Groups and offsets that a real Kafka stored are Ottla's with the log, and the other way round."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Protocol

import pytest

from ottla.protocol.apis.create_topics import CreatableTopic, CreateTopicsRequest
from ottla.protocol.apis.delete_groups import DeleteGroupsRequest
from ottla.protocol.apis.describe_groups import DescribeGroupsRequest
from ottla.protocol.apis.find_coordinator import FindCoordinatorRequest
from ottla.protocol.apis.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from ottla.protocol.apis.list_groups import ListGroupsRequest
from ottla.protocol.apis.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from ottla.protocol.apis.offset_fetch import OffsetFetchRequest
from ottla.protocol.apis.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from ottla.protocol.errors import ErrorCode
from ottla.protocol.internal.topics import GROUP_METADATA_TOPIC
from ottla.protocol.readable import to_json
from ottla.protocol.schema import Message
from ottla.storage.checkpoints import CLEAN_SHUTDOWN, PARTITION_METADATA
from tests.differential.case import DEFAULT, SETTINGS
from tests.kafka.peer import KafkaPeer
from tests.targets.connection import ask
from tests.targets.ottla_program import OttlaProgram

SUBSCRIPTION = b"\0\0\0\0\0\1\0\6orders\xff\xff\xff\xff"
_TRIES = 2000


class Broker(Protocol):
    """Started and stopped as often as one likes; its log directory stays."""

    log_directory: Path

    @property
    def bootstrap(self) -> str: ...

    def start(self) -> None: ...

    def stop(self) -> None: ...


class Ottla:
    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self._program = OttlaProgram(folder, SETTINGS[DEFAULT])
        self.log_directory = self._program.log_directory

    @property
    def bootstrap(self) -> str:
        return self._program.bootstrap

    def start(self) -> None:
        self._program.__enter__()

    def stop(self) -> None:
        self._program.__exit__(None, None, None)


def until(broker: Broker, request: Message, version: int, is_done: Callable[[Any], bool]) -> Any:
    for _ in range(_TRIES):
        answer = ask(broker.bootstrap, request, version)
        if is_done(answer):
            return answer
    raise AssertionError(f"{request} is answered with {answer}")


def prepare(broker: Broker) -> None:
    """A topic, and a coordinator that has loaded what there is."""
    orders = CreatableTopic(
        name="orders", num_partitions=2, replication_factor=1, assignments=[], configs=[]
    )
    ask(broker.bootstrap, CreateTopicsRequest(topics=[orders]), 4)
    find = FindCoordinatorRequest(key="readers")
    until(broker, find, 0, lambda answer: not answer.error_code)
    listing = ListGroupsRequest()
    until(broker, listing, 0, lambda answer: not answer.error_code)


def commit(broker: Broker, group: str, *offsets: int, metadata: str = "") -> None:
    partitions = [
        OffsetCommitRequestPartition(
            partition_index=index, committed_offset=offset, committed_metadata=metadata
        )
        for index, offset in enumerate(offsets)
    ]
    topics = [OffsetCommitRequestTopic(name="orders", partitions=partitions)]
    request = OffsetCommitRequest(group_id=group, topics=topics)
    until(broker, request, 7, lambda answer: not answer.topics[0].partitions[0].error_code)


def join(broker: Broker, group: str, instance_id: str) -> None:
    """A static member: it stays though its connection goes."""
    protocols = [JoinGroupRequestProtocol(name="range", metadata=SUBSCRIPTION)]
    request = JoinGroupRequest(
        group_id=group,
        session_timeout_ms=600_000,
        rebalance_timeout_ms=60_000,
        member_id="",
        group_instance_id=instance_id,
        protocol_type="consumer",
        protocols=protocols,
    )
    joined = ask(broker.bootstrap, request, 5)
    assert joined.error_code == ErrorCode.NONE
    mine = SyncGroupRequestAssignment(member_id=joined.member_id, assignment=b"all of it")
    sync = SyncGroupRequest(
        group_id=group,
        generation_id=joined.generation_id,
        member_id=joined.member_id,
        group_instance_id=instance_id,
        assignments=[mine],
    )
    assert ask(broker.bootstrap, sync, 3).error_code == ErrorCode.NONE


def fill(broker: Broker) -> None:
    commit(broker, "readers", 1, 2)
    commit(broker, "readers", 17, metadata="a note")
    commit(broker, "gone", 5)
    join(broker, "workers", "worker-1")
    ask(broker.bootstrap, DeleteGroupsRequest(groups_names=["gone"]), 1)


def told(broker: Broker) -> list[Any]:
    """Everything that clients can hear of the groups."""
    groups = ["readers", "workers", "gone"]
    requests: list[tuple[Message, int]] = [
        (ListGroupsRequest(), 4),
        (DescribeGroupsRequest(groups=groups), 5),
        *((OffsetFetchRequest(group_id=group, topics=None), 7) for group in groups),
    ]
    answers = [to_json(ask(broker.bootstrap, each, version), version) for each, version in requests]
    answers[0]["groups"].sort(key=lambda group: group["groupId"])
    for answer in answers[2:]:
        for topic in answer["topics"]:
            topic["partitions"].sort(key=lambda each: each["partitionIndex"])
    return answers


def hand_over(giver: Broker, taker: Broker) -> None:
    """The log of groups, of a broker that was stopped to one that was; it trusts nothing of it."""
    name = f"{GROUP_METADATA_TOPIC}-0"
    folder = taker.log_directory / name
    for file in folder.iterdir():
        if file.name != PARTITION_METADATA:
            file.unlink()
    for segment in (giver.log_directory / name).glob("*.log"):
        shutil.copy(segment, folder)
    (taker.log_directory / CLEAN_SHUTDOWN).unlink()


@pytest.fixture
def kafka(classpath: str, tmp_path: Path) -> Iterator[KafkaPeer]:
    (tmp_path / "kafka").mkdir()
    peer = KafkaPeer(classpath, tmp_path / "kafka", SETTINGS[DEFAULT])
    yield peer
    peer.close()


@pytest.mark.parametrize("giver", ["kafka", "ottla"])
def test_groups_go_over_with_their_log(giver: str, kafka: KafkaPeer, tmp_path: Path) -> None:
    ottla = Ottla(tmp_path / "ottla")
    order: tuple[Broker, Broker] = (kafka, ottla) if giver == "kafka" else (ottla, kafka)
    for broker in order:
        broker.start()
        prepare(broker)
        if broker is order[0]:
            fill(broker)
            before = told(broker)
        broker.stop()
    hand_over(*order)
    order[1].start()
    prepare(order[1])
    after = told(order[1])
    order[1].stop()
    assert after == before
    assert [group["groupId"] for group in after[0]["groups"]] == ["readers", "workers"]
