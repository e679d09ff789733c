"""DescribeLogDirs: what lies in the log directories of this broker, and how large it is."""

from __future__ import annotations

from ottla.handlers.call import Call
from ottla.handlers.slices import Slices
from ottla.protocol.apis.describe_log_dirs import (
    DescribeLogDirsPartition,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)
from ottla.protocol.errors import ErrorCode, KafkaError
from ottla.storage.checkpoints import TopicPartition
from ottla.storage.directory import LogDirectory
from ottla.storage.files import DiskFailed, Room

_NO_LAG = -1  # of a partition that this broker has files of, but is no replica of
_UNKNOWN = Room(-1, -1)


async def handle_describe_log_dirs(
    request: DescribeLogDirsRequest, call: Call
) -> DescribeLogDirsResponse:
    wanted = _wanted(request)
    directories = call.services.replicas.directories
    results = []
    for directory in list(directories.online.values()):
        try:
            results.append(await _describe(call, directory, wanted))
        except DiskFailed as failed:
            call.services.replicas.disk_failed(failed)
    offline = ErrorCode.KAFKA_STORAGE_ERROR
    results += [
        DescribeLogDirsResult(error_code=offline, log_dir=path, topics=[])
        for path in directories.offline
    ]
    return DescribeLogDirsResponse(results=results)


def _wanted(request: DescribeLogDirsRequest) -> dict[TopicPartition, None] | None:
    if request.topics is None:
        return None
    return {(topic.topic, index): None for topic in request.topics for index in topic.partitions}


async def _describe(
    call: Call, directory: LogDirectory, wanted: dict[TopicPartition, None] | None
) -> DescribeLogDirsResult:
    topics: dict[str, list[DescribeLogDirsPartition]] = {}
    slices = Slices(call.services.timer)
    for future in (False, True):
        for partition in list(directory.future_folders if future else directory.folders):
            if wanted is None or partition in wanted:
                described = (_future if future else _current)(call, directory, partition)
                if described is not None:
                    topics.setdefault(partition[0], []).append(described)
                await slices.breathe()
    room = _room(directory)
    return DescribeLogDirsResult(
        log_dir=directory.path,
        topics=[DescribeLogDirsTopic(name=name, partitions=each) for name, each in topics.items()],
        total_bytes=room.total_bytes,
        usable_bytes=room.usable_bytes,
    )


def _current(
    call: Call, directory: LogDirectory, partition: TopicPartition
) -> DescribeLogDirsPartition | None:
    if partition not in directory.folders:
        return None  # gone while others had their turn
    log = directory.logs.get(partition)
    lag = max(0, log.high_watermark - log.next_offset) if log is not None else 0
    if partition not in call.services.replicas.partitions:
        lag = _NO_LAG
    return DescribeLogDirsPartition(
        partition_index=partition[1],
        partition_size=directory.size_bytes(partition),
        offset_lag=lag,
        is_future_key=False,
    )


def _future(
    call: Call, directory: LogDirectory, partition: TopicPartition
) -> DescribeLogDirsPartition | None:
    """A copy in the making: how far it is behind the log it is made of."""
    replicas = call.services.replicas
    move = replicas.directories.moves.get(partition)
    if move is None or move.target is not directory:
        return None
    known = replicas.partitions.get(partition)
    lag = _NO_LAG
    if known is not None and known.log is not None:
        lag = max(0, known.log.next_offset - move.future.next_offset)
    return DescribeLogDirsPartition(
        partition_index=partition[1],
        partition_size=move.future.size_bytes,
        offset_lag=lag,
        is_future_key=True,
    )


def _room(directory: LogDirectory) -> Room:
    try:
        return directory.disk.room(directory.path)
    except OSError:
        return _UNKNOWN


def refuse(request: DescribeLogDirsRequest, error: KafkaError) -> DescribeLogDirsResponse:
    return DescribeLogDirsResponse(error_code=error.code, results=[])
