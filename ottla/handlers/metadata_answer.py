"""The bytes of a Metadata answer. A topic that has not changed is not encoded again.

Clients ask for everything again and again; with thousands of topics the encoding would stop the
loop. So each topic is kept as bytes for each version and listener, and the rest put around it.
"""

from __future__ import annotations

from ottla.handlers.call import Call
from ottla.metadata.image import ClusterImage, PartitionImage, TopicImage
from ottla.protocol.apis.metadata import (
    MetadataResponse,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from ottla.protocol.errors import ErrorCode
from ottla.protocol.framing import encode_response
from ottla.protocol.internal.topics import INTERNAL_TOPICS
from ottla.protocol.varint import write_uvarint
from ottla.protocol.writer import Writer, compile_writer

_FLEXIBLE_FROM = 9
_CLUSTER_OPERATIONS = range(8, 11)
_writers: dict[int, Writer] = {}


def encode_metadata(
    call: Call,
    response: MetadataResponse,
    found: list[TopicImage],
    missing: list[MetadataResponseTopic],
    operations: int | None,
) -> bytes:
    """The whole frame; `response` comes without topics."""
    version = call.version
    empty = encode_response(response, version, correlation_id=call.correlation_id)
    # Behind the topics: the cluster's operations, and the tags of flexible versions.
    behind = 4 * (version in _CLUSTER_OPERATIONS) + (version >= _FLEXIBLE_FROM)
    count = len(found) + len(missing)
    if version >= _FLEXIBLE_FROM:
        count_bytes, number = 1, write_uvarint(count + 1)
    else:
        count_bytes, number = 4, count.to_bytes(4, "big")
    end = len(empty) - behind
    parts = [
        b"",
        empty[4 : end - count_bytes],
        number,
        *[_known(call, topic, operations) for topic in found],
        *[_encode_topic(topic, version) for topic in missing],
        empty[end:],
    ]
    parts[0] = sum(map(len, parts)).to_bytes(4, "big")
    return b"".join(parts)


def _known(call: Call, topic: TopicImage, operations: int | None) -> bytes:
    image, kept = call.services.metadata.image, call.services.topic_bytes
    key = (call.listener, call.version, operations)
    data = kept.get(topic, image.brokers, key)
    if data is None:
        response = topic_response(topic, image, call.listener, call.version)
        if operations is not None:
            response.topic_authorized_operations = operations
        data = _encode_topic(response, call.version)
        kept.put(topic, image.brokers, key, data)
    return data


def _encode_topic(topic: MetadataResponseTopic, version: int) -> bytes:
    writer = _writers.get(version)
    if writer is None:
        flexible = version >= _FLEXIBLE_FROM
        writer = _writers[version] = compile_writer(
            MetadataResponseTopic, version, flexible=flexible
        )
    parts: list[bytes] = []
    writer(topic, parts.append)
    return b"".join(parts)


def topic_response(
    topic: TopicImage, image: ClusterImage, listener: str, version: int
) -> MetadataResponseTopic:
    return MetadataResponseTopic(
        name=topic.name,
        topic_id=topic.topic_id,
        is_internal=topic.name in INTERNAL_TOPICS,
        partitions=[
            _partition_response(each, image, listener, version) for each in topic.partitions
        ],
    )


def _partition_response(
    partition: PartitionImage, image: ClusterImage, listener: str, version: int
) -> MetadataResponsePartition:
    replicas = list(partition.replicas)
    isr = list(partition.isr)
    alive = {id: broker for id, broker in image.brokers.items() if broker.endpoint(listener)}
    error, leader = ErrorCode.NONE, partition.leader
    if leader not in alive:
        leader = -1
        error = ErrorCode.LEADER_NOT_AVAILABLE
        if partition.leader in image.brokers and version >= 6:
            error = ErrorCode.LISTENER_NOT_FOUND
    elif not all(each in alive for each in (*replicas, *isr)):
        error = ErrorCode.REPLICA_NOT_AVAILABLE if version == 0 else ErrorCode.NONE
    if version == 0:
        replicas = [each for each in replicas if each in alive]
        isr = [each for each in isr if each in alive]
    return MetadataResponsePartition(
        error_code=error,
        partition_index=partition.index,
        leader_id=leader,
        leader_epoch=partition.leader_epoch,
        replica_nodes=replicas,
        isr_nodes=isr,
        offline_replicas=[
            # The controller also knows of failed disks; a broker that has gone is seen here first.
            each
            for each in partition.replicas
            if each in partition.offline_replicas or each not in image.brokers
        ],
    )
