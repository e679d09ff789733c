"""ApiVersions, DescribeCluster, DescribeLogDirs, AlterReplicaLogDirs, ElectLeaders."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ottla.protocol.apis.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)
from ottla.protocol.apis.api_versions import ApiVersionsRequest
from ottla.protocol.apis.describe_cluster import DescribeClusterRequest
from ottla.protocol.apis.describe_log_dirs import (
    DescribableLogDirTopic,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
)
from ottla.protocol.apis.elect_leaders import ElectLeadersRequest, TopicPartitions
from tests.differential.case import Case, Given, Step, Topic, World, case, step, value_of
from tests.differential.requests import To, batch, mangled, produce

Partitions = Iterable[tuple[str, list[int]]]
NEWEST_VERSION = 4


def api_versions(version: int, name: str = "ottla-tests", software_version: str = "1.0") -> Step:
    return step(
        ApiVersionsRequest,
        version,
        lambda _: ApiVersionsRequest(
            client_software_name=name, client_software_version=software_version
        ),
    )


def with_version(number: int) -> Step:
    """A version nobody knows, in the header of one that exists."""
    asked = mangled(
        api_versions(3), lambda frame: frame[:6] + number.to_bytes(2, "big") + frame[8:]
    )
    return replace(asked, version=min(number, NEWEST_VERSION))


def describe_cluster(version: int, *, operations: bool = False, endpoint_type: int = 1) -> Step:
    return step(
        DescribeClusterRequest,
        version,
        lambda _: DescribeClusterRequest(
            include_cluster_authorized_operations=operations, endpoint_type=endpoint_type
        ),
    )


def describe_log_dirs(version: int, topics: Partitions | None) -> Step:
    return step(
        DescribeLogDirsRequest,
        version,
        lambda world: DescribeLogDirsRequest(
            topics=None
            if topics is None
            else [
                DescribableLogDirTopic(topic=world.name(topic), partitions=partitions)
                for topic, partitions in topics
            ]
        ),
    )


def the_log_dir(world: World) -> str:
    return world.last(DescribeLogDirsResponse).results[0].log_dir


def alter_log_dirs(version: int, path: Given[str], topics: Partitions) -> Step:
    return step(
        AlterReplicaLogDirsRequest,
        version,
        lambda world: AlterReplicaLogDirsRequest(
            dirs=[
                AlterReplicaLogDir(
                    path=value_of(path, world),
                    topics=[
                        AlterReplicaLogDirTopic(name=world.name(topic), partitions=partitions)
                        for topic, partitions in topics
                    ],
                )
            ]
        ),
    )


def elect_leaders(version: int, topics: Partitions | None, election_type: int = 0) -> Step:
    return step(
        ElectLeadersRequest,
        version,
        lambda world: ElectLeadersRequest(
            election_type=election_type,
            topic_partitions=None
            if topics is None
            else [
                TopicPartitions(topic=world.name(topic), partitions=partitions)
                for topic, partitions in topics
            ],
            timeout_ms=5_000,
        ),
    )


_VERSIONS = tuple(case(f"api-versions-v{v}", api_versions(v)) for v in range(NEWEST_VERSION + 1))
_API_VERSIONS = (
    *_VERSIONS,
    case("api-versions-too-new", with_version(5), api_versions(4)),
    case("api-versions-much-too-new", with_version(0x7FFF), api_versions(0)),
    case("api-versions-bad-name", api_versions(3, name="no name"), api_versions(3)),
    case("api-versions-empty-name", api_versions(3, name="")),
    case("api-versions-bad-software-version", api_versions(4, software_version="-1-")),
    case("api-versions-twice", api_versions(3), api_versions(0), api_versions(4)),
)
_CLUSTER = (
    case("describe-cluster-v0", describe_cluster(0)),
    case("describe-cluster-v1", describe_cluster(1)),
    case("describe-cluster-operations", describe_cluster(1, operations=True)),
    case("describe-cluster-controllers", describe_cluster(1, endpoint_type=2)),
    case("describe-cluster-unknown-endpoints", describe_cluster(1, endpoint_type=9)),
)
_TWO = Topic("t", partitions=2)
_LOG_DIRS = (
    *(
        case(
            f"describe-log-dirs-v{v}",
            produce(3, To(batch(b"a", b"b"))),
            describe_log_dirs(v, [("t", [0, 1])]),
            topics=[_TWO],
        )
        for v in range(5)
    ),
    case("describe-log-dirs-all", describe_log_dirs(4, None), topics=["t"]),
    case("describe-log-dirs-nothing", describe_log_dirs(4, []), topics=["t"]),
    case("describe-log-dirs-unknown", describe_log_dirs(4, [("missing", [0]), ("t", [7])]),
         topics=["t"]),
    *(
        case(
            f"alter-log-dirs-v{v}",
            describe_log_dirs(1, [("t", [0])]),
            alter_log_dirs(v, the_log_dir, [("t", [0])]),
            describe_log_dirs(1, [("t", [0])]),
            topics=["t"],
        )
        for v in range(3)
    ),
    case("alter-log-dirs-unknown-dir", alter_log_dirs(2, "/no/such/dir", [("t", [0])]),
         topics=["t"]),
    case("alter-log-dirs-relative-dir", alter_log_dirs(2, "data", [("t", [0])]), topics=["t"]),
    case(
        "alter-log-dirs-unknown-topic",
        describe_log_dirs(1, [("t", [0])]),
        alter_log_dirs(2, the_log_dir, [("missing", [0]), ("t", [3])]),
        topics=["t"],
    ),
)  # fmt: skip
_ELECTIONS = (
    *(
        case(f"elect-leaders-v{v}", elect_leaders(v, [("t", [0, 1])]), topics=[_TWO])
        for v in range(3)
    ),
    case("elect-leaders-unclean", elect_leaders(2, [("t", [0])], election_type=1), topics=["t"]),
    case("elect-leaders-unknown", elect_leaders(2, [("missing", [0]), ("t", [9])]), topics=["t"]),
    case("elect-leaders-nothing", elect_leaders(2, [])),
    case("elect-leaders-unknown-type", elect_leaders(2, [("t", [0])], election_type=7),
         topics=["t"]),
    case("elect-leaders-all", elect_leaders(2, None), topics=["t"]),
)  # fmt: skip

CASES: tuple[Case, ...] = (*_API_VERSIONS, *_CLUSTER, *_LOG_DIRS, *_ELECTIONS)
