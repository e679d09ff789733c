"""AlterReplicaLogDirs: partitions move between the log directories of this broker."""

from __future__ import annotations

from ottla.handlers.call import Call
from ottla.protocol.apis.alter_replica_log_dirs import (
    AlterReplicaLogDirPartitionResult,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopicResult,
)
from ottla.protocol.errors import ErrorCode, KafkaError
from ottla.replication.log_moves import check_log_dir
from ottla.storage.files import DiskFailed

Codes = dict[str, dict[int, ErrorCode]]


def handle_alter_replica_log_dirs(
    request: AlterReplicaLogDirsRequest, call: Call
) -> AlterReplicaLogDirsResponse:
    codes: Codes = {}
    for directory in request.dirs:
        for topic in directory.topics:
            of_topic = codes.setdefault(topic.name, {})
            for index in topic.partitions:
                of_topic[index] = _move(call, topic.name, index, directory.path)
    return _response(codes)


def _move(call: Call, topic: str, index: int, path: str) -> ErrorCode:
    """The move only begins here; DescribeLogDirs shows how far it is."""
    services = call.services
    try:
        check_log_dir(services.replicas, path)
        services.log_moves.move(services.replicas.get(topic, index), path)
    except KafkaError as error:
        if error.code is not ErrorCode.NOT_LEADER_OR_FOLLOWER:
            return error.code
        # It may come soon: tools ask for the place before the replica is there.
        services.replicas.directories.preferred[topic, index] = path
        return ErrorCode.REPLICA_NOT_AVAILABLE
    except DiskFailed as failed:
        services.replicas.disk_failed(failed)
        return ErrorCode.KAFKA_STORAGE_ERROR
    except OSError:
        return ErrorCode.KAFKA_STORAGE_ERROR
    return ErrorCode.NONE


def _response(codes: Codes) -> AlterReplicaLogDirsResponse:
    return AlterReplicaLogDirsResponse(
        results=[
            AlterReplicaLogDirTopicResult(
                topic_name=name,
                partitions=[
                    AlterReplicaLogDirPartitionResult(partition_index=index, error_code=code)
                    for index, code in partitions.items()
                ],
            )
            for name, partitions in codes.items()
        ]
    )


def refuse(request: AlterReplicaLogDirsRequest, error: KafkaError) -> AlterReplicaLogDirsResponse:
    codes: Codes = {}
    for directory in request.dirs:
        for topic in directory.topics:
            codes.setdefault(topic.name, {}).update(dict.fromkeys(topic.partitions, error.code))
    return _response(codes)
