"""What a real broker tells at its HTTP port of what was done with it."""

from __future__ import annotations

import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ottla.protocol.apis.fetch import FetchResponse
from ottla.protocol.errors import ErrorCode
from tests.hostile.client import (
    FETCH_VERSION,
    PRODUCE_VERSION,
    Client,
    batch_of,
    create_topics,
    fetch_request,
    fetched,
    produce,
    read_all,
)
from tests.hostile.process import BrokerProcess, until

TOPIC = "kafka_server_BrokerTopicMetrics_"
REQUEST = "kafka_network_RequestMetrics_"
REPLICAS = "kafka_server_ReplicaManager_"
CONTROLLER = "kafka_controller_KafkaController_"
SMALL, LARGE = batch_of(b"a", b"b"), batch_of(bytes(3_000))

COUNTERS = """
kafka.controller:type=ControllerStats,name=UncleanLeaderElectionsPerSec
kafka.network:type=RequestMetrics,name=ErrorsPerSec
kafka.network:type=RequestMetrics,name=RequestsPerSec
kafka.server:type=BrokerTopicMetrics,name=BytesInPerSec
kafka.server:type=BrokerTopicMetrics,name=BytesOutPerSec
kafka.server:type=BrokerTopicMetrics,name=BytesRejectedPerSec
kafka.server:type=BrokerTopicMetrics,name=FailedFetchRequestsPerSec
kafka.server:type=BrokerTopicMetrics,name=FailedProduceRequestsPerSec
kafka.server:type=BrokerTopicMetrics,name=FetchMessageConversionsPerSec
kafka.server:type=BrokerTopicMetrics,name=MessagesInPerSec
kafka.server:type=BrokerTopicMetrics,name=ProduceMessageConversionsPerSec
kafka.server:type=BrokerTopicMetrics,name=ReplicationBytesOutPerSec
kafka.server:type=BrokerTopicMetrics,name=TotalFetchRequestsPerSec
kafka.server:type=BrokerTopicMetrics,name=TotalProduceRequestsPerSec
kafka.server:type=FetchSessionCache,name=IncrementalFetchSessionEvictionsPerSec
kafka.server:type=ReplicaManager,name=IsrExpandsPerSec
kafka.server:type=ReplicaManager,name=IsrShrinksPerSec
"""
GAUGES = """
kafka.cluster:type=Partition,name=InSyncReplicasCount
kafka.cluster:type=Partition,name=ReplicasCount
kafka.cluster:type=Partition,name=UnderMinIsr
kafka.cluster:type=Partition,name=UnderReplicated
kafka.controller:type=ControllerChannelManager,name=QueueSize
kafka.controller:type=ControllerEventManager,name=EventQueueSize
kafka.controller:type=KafkaController,name=ActiveControllerCount
kafka.controller:type=KafkaController,name=ControllerState
kafka.controller:type=KafkaController,name=GlobalPartitionCount
kafka.controller:type=KafkaController,name=GlobalTopicCount
kafka.controller:type=KafkaController,name=OfflinePartitionsCount
kafka.controller:type=KafkaController,name=PreferredReplicaImbalanceCount
kafka.coordinator.group:type=GroupMetadataManager,name=NumGroups
kafka.coordinator.group:type=GroupMetadataManager,name=NumGroupsCompletingRebalance
kafka.coordinator.group:type=GroupMetadataManager,name=NumGroupsDead
kafka.coordinator.group:type=GroupMetadataManager,name=NumGroupsEmpty
kafka.coordinator.group:type=GroupMetadataManager,name=NumGroupsPreparingRebalance
kafka.coordinator.group:type=GroupMetadataManager,name=NumGroupsStable
kafka.coordinator.group:type=GroupMetadataManager,name=NumOffsets
kafka.coordinator.transaction:type=TransactionMarkerChannelManager,name=LogAppendRetryQueueSize
kafka.coordinator.transaction:type=TransactionMarkerChannelManager,name=UnknownDestinationQueueSize
kafka.log:type=Log,name=LogEndOffset
kafka.log:type=Log,name=LogStartOffset
kafka.log:type=Log,name=NumLogSegments
kafka.log:type=Log,name=Size
kafka.log:type=LogCleaner,name=cleaner-recopy-percent
kafka.log:type=LogCleanerManager,name=max-dirty-percent
kafka.log:type=LogManager,name=LogDirectoryOffline
kafka.log:type=LogManager,name=OfflineLogDirectoryCount
kafka.network:type=SocketServer,name=MemoryPoolAvailable
kafka.network:type=SocketServer,name=MemoryPoolUsed
kafka.network:type=SocketServer,name=NetworkProcessorAvgIdlePercent
kafka.server:type=DelayedOperationPurgatory,name=NumDelayedOperations
kafka.server:type=DelayedOperationPurgatory,name=PurgatorySize
kafka.server:type=FetchSessionCache,name=NumIncrementalFetchPartitionsCached
kafka.server:type=FetchSessionCache,name=NumIncrementalFetchSessions
kafka.server:type=KafkaRequestHandlerPool,name=RequestHandlerAvgIdlePercent
kafka.server:type=ReplicaManager,name=LeaderCount
kafka.server:type=ReplicaManager,name=OfflineReplicaCount
kafka.server:type=ReplicaManager,name=PartitionCount
kafka.server:type=ReplicaManager,name=UnderMinIsrPartitionCount
kafka.server:type=ReplicaManager,name=UnderReplicatedPartitions
"""
HISTOGRAMS = """
kafka.controller:type=ControllerEventManager,name=EventQueueTimeMs
kafka.controller:type=ControllerStats,name=LeaderElectionRateAndTimeMs
kafka.network:type=RequestMetrics,name=LocalTimeMs
kafka.network:type=RequestMetrics,name=RemoteTimeMs
kafka.network:type=RequestMetrics,name=RequestBytes
kafka.network:type=RequestMetrics,name=ThrottleTimeMs
kafka.network:type=RequestMetrics,name=TotalTimeMs
"""


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrokerProcess]:
    """One that wrote three times, refused once, and was read."""
    folder: Path = tmp_path_factory.mktemp("broker")
    settings = {"message.max.bytes": "1000", "auto.create.topics.enable": "false"}
    with BrokerProcess(folder, settings=settings) as process:
        with Client(process.address) as client:
            assert (
                create_topics(client, ["orders", "payments"], partitions=2) == [ErrorCode.NONE] * 2
            )
            for _ in range(3):
                assert not produce(client, "orders", SMALL).error_code
            answer = produce(client, "orders", LARGE)
            assert answer.error_code == ErrorCode.MESSAGE_TOO_LARGE
            assert len(read_all(client, "orders")) == 6
        yield process


@pytest.fixture
def idle_broker(tmp_path: Path) -> Iterator[BrokerProcess]:
    with BrokerProcess(tmp_path) as process:
        yield process


def page(broker: BrokerProcess, path: str = "/metrics") -> str:
    with urllib.request.urlopen(f"{broker.facts['http']}{path}", timeout=60) as answer:
        assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
        text: str = answer.read().decode()
        return text


def samples(broker: BrokerProcess) -> dict[str, float]:
    lines = [line for line in page(broker).splitlines() if not line.startswith("#")]
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}


def test_topics_tell_what_came_in_what_went_out_and_what_was_refused(
    broker: BrokerProcess,
) -> None:
    found = samples(broker)
    for name, number in (
        ("MessagesInPerSec", 6),
        ("BytesInPerSec", 3 * len(SMALL)),
        ("BytesOutPerSec", 3 * len(SMALL)),
        ("BytesRejectedPerSec", len(LARGE)),
        ("TotalProduceRequestsPerSec", 4),
        ("FailedProduceRequestsPerSec", 0),  # the producer was told, and can mend it
        ("TotalFetchRequestsPerSec", 2),
        ("FailedFetchRequestsPerSec", 0),
        ("ProduceMessageConversionsPerSec", 0),
        ("FetchMessageConversionsPerSec", 0),
    ):
        assert found[f"{TOPIC}{name}_total"] == number, name
        assert found[f'{TOPIC}{name}_total{{topic="orders"}}'] == number, name
    assert found[f"{TOPIC}ReplicationBytesOutPerSec_total"] == 0


def test_requests_are_counted_timed_and_told_by_their_errors(broker: BrokerProcess) -> None:
    found = samples(broker)

    def requests(request: str, version: int) -> float:
        labels = f'{{request="{request}",version="{version}"}}'
        return found[f"{REQUEST}RequestsPerSec_total{labels}"]

    assert requests("Produce", PRODUCE_VERSION) == 4
    assert requests("Fetch", FETCH_VERSION) == requests("FetchConsumer", FETCH_VERSION) == 2
    assert requests("FetchFollower", FETCH_VERSION) == 0
    refused = '{error="MESSAGE_TOO_LARGE",request="Produce"}'
    assert found[f"{REQUEST}ErrorsPerSec_total{refused}"] == 1
    assert found[f'{REQUEST}ErrorsPerSec_total{{error="bug"}}'] == 0
    for name in ("TotalTimeMs", "LocalTimeMs", "RemoteTimeMs", "RequestBytes"):
        assert found[f'{REQUEST}{name}_count{{request="Fetch"}}'] == 2, name
        assert found[f'{REQUEST}{name}_count{{request="FetchConsumer"}}'] == 2, name
        assert found[f'{REQUEST}{name}_count{{request="FetchFollower"}}'] == 0, name
        # The first, and the one that was refused: the others were known by the one before them.
        assert found[f'{REQUEST}{name}_count{{request="Produce"}}'] == 2, name
    assert found[f'{REQUEST}RemoteTimeMs_sum{{request="Fetch"}}'] == 0
    assert found[f'{REQUEST}TotalTimeMs_sum{{request="Fetch"}}'] > 0
    assert found[f'{REQUEST}RequestBytes_sum{{request="Produce"}}'] > len(SMALL) + len(LARGE)
    assert found[f'{REQUEST}ThrottleTimeMs_count{{request="Produce"}}'] == 0


def test_the_broker_tells_what_it_holds_and_what_it_controls(broker: BrokerProcess) -> None:
    found = samples(broker)
    for name, number in (
        (f"{REPLICAS}PartitionCount", 4),
        (f"{REPLICAS}LeaderCount", 4),
        (f"{REPLICAS}UnderReplicatedPartitions", 0),
        (f"{REPLICAS}UnderMinIsrPartitionCount", 0),
        (f"{REPLICAS}OfflineReplicaCount", 0),
        (f"{REPLICAS}IsrShrinksPerSec_total", 0),
        (f"{REPLICAS}IsrExpandsPerSec_total", 0),
        (f"{CONTROLLER}ActiveControllerCount", 1),
        (f"{CONTROLLER}GlobalTopicCount", 2),
        (f"{CONTROLLER}GlobalPartitionCount", 4),
        (f"{CONTROLLER}OfflinePartitionsCount", 0),
        (f"{CONTROLLER}PreferredReplicaImbalanceCount", 0),
        (f"{CONTROLLER}ControllerState", 0),
        ("kafka_controller_ControllerStats_UncleanLeaderElectionsPerSec_total", 0),
        ("kafka_controller_ControllerEventManager_EventQueueSize", 0),
        ('kafka_controller_ControllerChannelManager_QueueSize{broker_id="0"}', 0),
        ("kafka_server_FetchSessionCache_NumIncrementalFetchSessions", 0),
        ("kafka_log_LogManager_OfflineLogDirectoryCount", 0),
        (f'kafka_log_LogManager_LogDirectoryOffline{{logDirectory="{broker.data}"}}', 0),
    ):
        assert found[name] == number, name
    for name in (
        "kafka_network_SocketServer_NetworkProcessorAvgIdlePercent",
        "kafka_server_KafkaRequestHandlerPool_RequestHandlerAvgIdlePercent",
    ):
        assert 0 <= found[name] <= 1, name


def test_partitions_tell_how_large_they_are_unless_nobody_wants_to_know(
    broker: BrokerProcess,
) -> None:
    found = samples(broker)

    def of_orders(name: str) -> list[float]:
        return [found[f'{name}{{topic="orders",partition="{index}"}}'] for index in (0, 1)]

    assert of_orders("kafka_log_Log_Size") == [3 * len(SMALL), 0]
    assert of_orders("kafka_log_Log_LogStartOffset") == [0, 0]
    assert of_orders("kafka_log_Log_LogEndOffset") == [6, 0]
    assert of_orders("kafka_log_Log_NumLogSegments") == [1, 1]
    assert of_orders("kafka_cluster_Partition_InSyncReplicasCount") == [1, 1]
    assert of_orders("kafka_cluster_Partition_ReplicasCount") == [1, 1]
    assert not [name for name in found if name.startswith("kafka_cluster_Partition_Under")]
    short = page(broker, "/metrics?partitions=none")
    assert "kafka_log_Log_Size" not in short
    assert f"{TOPIC}BytesInPerSec" in short
    with pytest.raises(urllib.error.HTTPError, match="400"):
        page(broker, "/metrics?partitions=some")


def test_a_fetch_that_waits_is_in_purgatory_and_its_wait_is_remote_time(
    idle_broker: BrokerProcess,
) -> None:
    broker = idle_broker
    parked = 'kafka_server_DelayedOperationPurgatory_NumDelayedOperations{delayedOperation="Fetch"}'
    waited = f'{REQUEST}RemoteTimeMs_sum{{request="FetchConsumer"}}'
    with Client(broker.address) as reader, Client(broker.address) as writer:
        assert create_topics(writer, ["orders"]) == [ErrorCode.NONE]
        reader.send(fetch_request("orders", 0, max_wait_ms=60_000), FETCH_VERSION)
        until(lambda: samples(broker)[parked] == 1, what="the fetch waits")
        assert samples(broker)[waited] == 0
        assert not produce(writer, "orders", SMALL).error_code
        assert len(fetched(reader.receive(FetchResponse))) == 2
    found = samples(broker)
    assert found[parked] == 0
    assert found[waited] > 0


def test_every_name_has_kafkas_name_in_its_help_and_the_right_type(broker: BrokerProcess) -> None:
    types, helps = {}, {}
    for line in page(broker).splitlines():
        match line.split(" ", 3):
            case ["#", "TYPE", name, kind]:
                assert name not in types, f"{name} stands there twice"
                types[name] = kind
            case ["#", "HELP", name, text]:
                helps[name] = text
    for kind, beans in (("counter", COUNTERS), ("gauge", GAUGES), ("histogram", HISTOGRAMS)):
        for bean in beans.split():
            name = prometheus_name(bean) + ("_total" if kind == "counter" else "")
            assert types.get(name) == kind, bean
            assert helps[name].partition(": ")[0] == bean


def prometheus_name(bean: str) -> str:
    domain, _, listed = bean.partition(":")
    group, name = (pair.partition("=")[2] for pair in listed.split(","))
    return f"{domain}_{group}_{name}".replace(".", "_").replace("-", "_")


def test_a_broker_whose_disks_work_is_healthy(broker: BrokerProcess) -> None:
    health: Any = broker.get("/healthz")
    assert health == {
        "status": "ok",
        "broker_id": 0,
        "bootstrap": broker.bootstrap,
        "offline_log_dirs": {},
    }
