"""FindCoordinator: which broker coordinates a group; its topic is created if it is missing."""

from __future__ import annotations

from typing import NamedTuple

from ottla.handlers.call import Call
from ottla.metadata.image import Endpoint
from ottla.protocol.apis.find_coordinator import (
    Coordinator,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from ottla.protocol.errors import ErrorCode, KafkaError
from ottla.protocol.internal.topics import GROUP_METADATA_TOPIC

_GROUP, _TRANSACTION, _SHARE = 0, 1, 2
_MANY_FROM = 4
_SHARE_FROM = 6
_NOWHERE = Endpoint(listener="", host="", port=-1, security_protocol=0)


class _Found(NamedTuple):
    error: ErrorCode
    node_id: int = -1
    endpoint: Endpoint = _NOWHERE
    message: str = ""


def handle_find_coordinator(request: FindCoordinatorRequest, call: Call) -> FindCoordinatorResponse:
    if call.version < _MANY_FROM:
        return _response(_find(call, request.key_type, request.key))
    return FindCoordinatorResponse(
        coordinators=[
            _coordinator(key, _find(call, request.key_type, key))
            for key in request.coordinator_keys
        ]
    )


def _response(found: _Found) -> FindCoordinatorResponse:
    return FindCoordinatorResponse(
        error_code=found.error,
        error_message=found.message or found.error.name,  # Kafka says NONE, too
        node_id=found.node_id,
        host=found.endpoint.host,
        port=found.endpoint.port,
    )


def _coordinator(key: str, found: _Found) -> Coordinator:
    return Coordinator(
        key=key,
        node_id=found.node_id,
        host=found.endpoint.host,
        port=found.endpoint.port,
        error_code=found.error,
        error_message=found.message,
    )


def _find(call: Call, key_type: int, key: str) -> _Found:
    if key_type == _GROUP:
        return _group_coordinator(call, key)
    if key_type == _TRANSACTION or (key_type == _SHARE and call.version >= _SHARE_FROM):
        message = "this broker coordinates no transactions and no share groups"
        return _Found(ErrorCode.COORDINATOR_NOT_AVAILABLE, message=message)
    message = f"coordinators of type {key_type} are unknown in version {call.version}"
    return _Found(ErrorCode.INVALID_REQUEST, message=message)


def _group_coordinator(call: Call, group_id: str) -> _Found:
    services = call.services
    image = services.metadata.image
    topic = image.topics.get(GROUP_METADATA_TOPIC)
    if topic is None:
        refused = services.auto_create([GROUP_METADATA_TOPIC])
        message = f"{GROUP_METADATA_TOPIC} is being created"
        if refused:
            message = f"{GROUP_METADATA_TOPIC} needs more brokers for its replicas than there are"
        return _Found(ErrorCode.COORDINATOR_NOT_AVAILABLE, message=message)
    partition = topic.partition(services.groups.partition_for(group_id))
    leader = image.brokers.get(partition.leader) if partition is not None else None
    endpoint = leader.endpoint(call.listener) if leader is not None else None
    if leader is None or endpoint is None:
        message = f"{GROUP_METADATA_TOPIC} has no leader for this group"
        return _Found(ErrorCode.COORDINATOR_NOT_AVAILABLE, message=message)
    return _Found(ErrorCode.NONE, leader.id, endpoint)


def refuse(request: FindCoordinatorRequest, error: KafkaError) -> FindCoordinatorResponse:
    found = _Found(error.code, message=error.detail)
    if request.coordinator_keys:
        keys = request.coordinator_keys
        return FindCoordinatorResponse(coordinators=[_coordinator(key, found) for key in keys])
    return _response(found)
