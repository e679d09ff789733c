"""FindCoordinator: who coordinates a group or a transactional id, by the leader of its partition.

The topic of that partition is created if it is missing.
"""

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
from ottla.protocol.internal.topics import GROUP_METADATA_TOPIC, TRANSACTION_STATE_TOPIC

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
    services = call.services
    if key_type == _GROUP:
        return _leader(call, GROUP_METADATA_TOPIC, services.groups.partition_for(key))
    if key_type == _TRANSACTION:
        return _leader(call, TRANSACTION_STATE_TOPIC, services.transactions.partition_for(key))
    if key_type == _SHARE and call.version >= _SHARE_FROM:
        message = "this broker coordinates no share groups"
        return _Found(ErrorCode.COORDINATOR_NOT_AVAILABLE, message=message)
    message = f"coordinators of type {key_type} are unknown in version {call.version}"
    return _Found(ErrorCode.INVALID_REQUEST, message=message)


def _leader(call: Call, name: str, index: int) -> _Found:
    services = call.services
    image = services.metadata.image
    topic = image.topics.get(name)
    if topic is None:
        refused = services.auto_create([name])
        message = f"{name} is being created"
        if refused:
            message = f"{name} needs more brokers for its replicas than there are"
        return _Found(ErrorCode.COORDINATOR_NOT_AVAILABLE, message=message)
    partition = topic.partition(index)
    leader = image.brokers.get(partition.leader) if partition is not None else None
    endpoint = leader.endpoint(call.listener) if leader is not None else None
    if leader is None or endpoint is None:
        message = f"partition {index} of {name} has no leader"
        return _Found(ErrorCode.COORDINATOR_NOT_AVAILABLE, message=message)
    return _Found(ErrorCode.NONE, leader.id, endpoint)


def refuse(request: FindCoordinatorRequest, error: KafkaError) -> FindCoordinatorResponse:
    found = _Found(error.code, message=error.detail)
    if request.coordinator_keys:
        keys = request.coordinator_keys
        return FindCoordinatorResponse(coordinators=[_coordinator(key, found) for key in keys])
    return _response(found)
