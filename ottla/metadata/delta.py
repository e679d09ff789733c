"""An UpdateMetadata request, of any version, as a change from one cluster image to the next."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ottla.metadata.image import (
    LEADER_DURING_DELETE,
    BrokerImage,
    ClusterImage,
    Endpoint,
    PartitionImage,
    TopicImage,
)
from ottla.protocol.apis.update_metadata import (
    UpdateMetadataBroker,
    UpdateMetadataPartitionState,
    UpdateMetadataRequest,
)
from ottla.protocol.errors import ErrorCode, KafkaError
from ottla.protocol.primitives import ZERO_UUID

SECURITY_PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
# The request of a KRaft controller that tells everything: what it does not name is gone.
FULL_UPDATE = 2

Update = tuple[str, bytes, Sequence[UpdateMetadataPartitionState]]


def apply(
    image: ClusterImage, request: UpdateMetadataRequest
) -> tuple[ClusterImage, tuple[str, ...]]:
    """The image after the request, and the names of the topics that are not as before.

    A topic's partitions are touched only when the request names the topic; the rest is shared.
    """
    topics, topic_names = image.topics, image.topic_names
    changed: dict[str, TopicImage | None] = {}
    if request.is_k_raft_controller and request.type == FULL_UPDATE:
        named = {update[0] for update in _updates(request)}
        changed = {name: None for name in image.topics if name not in named}
    for name, topic_id, states in _updates(request):
        before = changed.get(name) or image.topics.get(name)
        after = _topic_after(before, name=name, topic_id=topic_id, states=states)
        if after != before:
            changed[name] = after
    if changed:
        topics, topic_names = _replaced(image, changed)
    after_it = ClusterImage(
        cluster_id=image.cluster_id,
        controller_id=request.controller_id,
        brokers=_brokers(image.brokers, request.live_brokers),
        topics=topics,
        topic_names=topic_names,
    )
    return after_it, tuple(changed)


def _updates(request: UpdateMetadataRequest) -> Iterator[Update]:
    """By topic, whichever way the version groups them."""
    for topic in request.topic_states:
        yield topic.topic_name, topic.topic_id, topic.partition_states
    ungrouped: dict[str, list[UpdateMetadataPartitionState]] = {}
    for state in request.ungrouped_partition_states:
        ungrouped.setdefault(state.topic_name, []).append(state)
    for name, states in ungrouped.items():
        yield name, ZERO_UUID, states


def _topic_after(
    before: TopicImage | None,
    *,
    name: str,
    topic_id: bytes,
    states: Sequence[UpdateMetadataPartitionState],
) -> TopicImage | None:
    if before is not None and topic_id not in (ZERO_UUID, before.topic_id):
        before_id, partitions = topic_id, {}  # deleted and created anew while we were away
    else:
        before_id = before.topic_id if before else topic_id
        partitions = {known.index: known for known in before.partitions} if before else {}
    for state in states:
        if state.leader == LEADER_DURING_DELETE:
            partitions.pop(state.partition_index, None)
        else:
            partitions[state.partition_index] = _partition(state)
    if not partitions:
        return None
    ordered = tuple(partitions[index] for index in sorted(partitions))
    kept_id = before_id if topic_id == ZERO_UUID else topic_id
    return TopicImage(name=name, topic_id=kept_id, partitions=ordered)


def _partition(state: UpdateMetadataPartitionState) -> PartitionImage:
    return PartitionImage(
        index=state.partition_index,
        leader=state.leader,
        leader_epoch=state.leader_epoch,
        isr=tuple(state.isr),
        replicas=tuple(state.replicas),
        offline_replicas=tuple(state.offline_replicas),
        controller_epoch=state.controller_epoch,
    )


def _replaced(
    image: ClusterImage, changed: Mapping[str, TopicImage | None]
) -> tuple[dict[str, TopicImage], dict[bytes, str]]:
    topics, topic_names = dict(image.topics), dict(image.topic_names)
    for name, after in changed.items():
        if before := topics.pop(name, None):
            topic_names.pop(before.topic_id, None)
        if after:
            topics[name] = after
            if after.topic_id != ZERO_UUID:
                topic_names[after.topic_id] = name
    return topics, topic_names


def _brokers(
    before: Mapping[int, BrokerImage], live: Sequence[UpdateMetadataBroker]
) -> Mapping[int, BrokerImage]:
    """The request names all that live; mostly they are those from before."""
    brokers = {broker.id: _broker(broker) for broker in live}
    return before if brokers == before else brokers


def _broker(broker: UpdateMetadataBroker) -> BrokerImage:
    endpoints = tuple(
        Endpoint(
            # Versions 1 and 2 have no listener names: a listener is called after its protocol.
            listener=endpoint.listener or _protocol_name(endpoint.security_protocol),
            host=endpoint.host,
            port=endpoint.port,
            security_protocol=endpoint.security_protocol,
        )
        for endpoint in broker.endpoints
    )
    if not endpoints and broker.v0_host:
        endpoints = (Endpoint("PLAINTEXT", broker.v0_host, broker.v0_port, 0),)
    return BrokerImage(id=broker.id, endpoints=endpoints, rack=broker.rack or None)


def _protocol_name(number: int) -> str:
    if not 0 <= number < len(SECURITY_PROTOCOLS):
        raise KafkaError(ErrorCode.INVALID_REQUEST, f"there is no security protocol {number}")
    return SECURITY_PROTOCOLS[number]
