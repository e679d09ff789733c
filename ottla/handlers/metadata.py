"""Metadata: the brokers, the topics, and who leads which partition."""

from __future__ import annotations

from ottla.controller.topic_names import is_name
from ottla.handlers.call import Call
from ottla.handlers.metadata_answer import encode_metadata
from ottla.handlers.operations import ALL_CLUSTER_OPERATIONS, ALL_TOPIC_OPERATIONS
from ottla.metadata.image import TopicImage
from ottla.protocol.apis.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponseTopic,
)
from ottla.protocol.error_codes import errors_in
from ottla.protocol.errors import ErrorCode, KafkaError
from ottla.protocol.internal.topics import INTERNAL_TOPICS
from ottla.protocol.primitives import ZERO_UUID

_TOPIC_IDS_FROM = 12


def handle_metadata(request: MetadataRequest, call: Call) -> None:
    found, missing = _topics(request, call)
    response = MetadataResponse(
        brokers=_brokers(call),
        cluster_id=call.services.metadata.image.cluster_id,
        controller_id=call.services.metadata.image.controller_id,
        topics=[],
    )
    if request.include_cluster_authorized_operations and call.version <= 10:
        response.cluster_authorized_operations = ALL_CLUSTER_OPERATIONS
    operations = None
    if request.include_topic_authorized_operations:
        operations = ALL_TOPIC_OPERATIONS
    for topic in missing:
        topic.topic_authorized_operations = -(2**31)
        call.services.requests.count_errors(call.api_key, errors_in(topic))
    call.throttle(response)
    call.reply_with([encode_metadata(call, response, found, missing, operations)])


def _topics(
    request: MetadataRequest, call: Call
) -> tuple[list[TopicImage], list[MetadataResponseTopic]]:
    """Those that are there, and what is to say of the others."""
    image = call.services.metadata.image
    if request.topics is None or (call.version == 0 and not request.topics):
        return list(image.topics.values()), []
    found: dict[str, TopicImage] = {}
    missing: dict[str | bytes, MetadataResponseTopic] = {}
    for asked in request.topics:
        topic = _find(asked, call)
        if isinstance(topic, TopicImage):
            found[topic.name] = topic
        else:
            missing[topic.name or topic.topic_id] = topic
    if request.allow_auto_topic_creation or call.version < 4:
        _create(list(missing.values()), call)
    return list(found.values()), list(missing.values())


def _find(asked: MetadataRequestTopic, call: Call) -> TopicImage | MetadataResponseTopic:
    image = call.services.metadata.image
    name = asked.name
    if asked.topic_id != ZERO_UUID or name is None:
        if call.version < _TOPIC_IDS_FROM:
            raise KafkaError(ErrorCode.INVALID_REQUEST, f"version {call.version} asks by name only")
        name = image.topic_names.get(asked.topic_id)
        if name is None:
            return MetadataResponseTopic(
                error_code=ErrorCode.UNKNOWN_TOPIC_ID,
                name=None,
                topic_id=asked.topic_id,
                partitions=[],
            )
    topic = image.topics.get(name)
    if topic is not None:
        return topic
    error = ErrorCode.INVALID_TOPIC_EXCEPTION
    if is_name(name):
        error = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return MetadataResponseTopic(
        error_code=error, name=name, is_internal=name in INTERNAL_TOPICS, partitions=[]
    )


def _create(missing: list[MetadataResponseTopic], call: Call) -> None:
    """Start to create those that may exist; the client asks again."""
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    names = [each.name for each in missing if each.error_code == unknown and each.name]
    if not names or not call.services.settings.auto_creates_topics():
        return
    refused = call.services.auto_create(names)
    for each in missing:
        if each.error_code == unknown:
            each.error_code = refused.get(each.name or "", ErrorCode.LEADER_NOT_AVAILABLE)
    # They are counted but never refused: nobody asked for them in so many words.
    partitions = call.services.topic_rules.default_partitions()
    call.mutation_quota(strict_from=None)((len(names) - len(refused)) * partitions)


def _brokers(call: Call) -> list[MetadataResponseBroker]:
    """Where they are reached from the listener that the request came in through."""
    brokers = []
    for broker in call.services.metadata.image.brokers.values():
        endpoint = broker.endpoint(call.listener)
        if endpoint is not None:
            brokers.append(
                MetadataResponseBroker(
                    node_id=broker.id, host=endpoint.host, port=endpoint.port, rack=broker.rack
                )
            )
    return brokers


def refuse(request: MetadataRequest, error: KafkaError) -> MetadataResponse:
    topics = [
        MetadataResponseTopic(
            error_code=error.code,
            name=each.name if each.name is not None else "",
            topic_id=each.topic_id,
            partitions=[],
        )
        for each in request.topics or []
    ]
    return MetadataResponse(brokers=[], topics=topics)
