"""DescribeCluster: the brokers and who controls them."""

from __future__ import annotations

from ottla.handlers.call import Call
from ottla.handlers.operations import ALL_CLUSTER_OPERATIONS
from ottla.protocol.apis.describe_cluster import (
    DescribeClusterBroker,
    DescribeClusterRequest,
    DescribeClusterResponse,
)
from ottla.protocol.errors import ErrorCode, KafkaError

_BROKERS = 1
_CONTROLLERS = 2


def handle_describe_cluster(request: DescribeClusterRequest, call: Call) -> DescribeClusterResponse:
    if request.endpoint_type != _BROKERS:
        code = ErrorCode.UNSUPPORTED_ENDPOINT_TYPE
        if request.endpoint_type == _CONTROLLERS:
            code = ErrorCode.MISMATCHED_ENDPOINT_TYPE
        detail = f"endpoint type {request.endpoint_type}: only brokers answer here"
        raise KafkaError(code, detail)
    image = call.services.metadata.image
    response = DescribeClusterResponse(
        cluster_id=image.cluster_id,
        controller_id=image.controller_id,
        brokers=[
            DescribeClusterBroker(
                broker_id=broker.id, host=endpoint.host, port=endpoint.port, rack=broker.rack
            )
            for broker in image.brokers.values()
            if (endpoint := broker.endpoint(call.listener)) is not None
        ],
    )
    if request.include_cluster_authorized_operations:
        response.cluster_authorized_operations = ALL_CLUSTER_OPERATIONS
    return response


def refuse(request: DescribeClusterRequest, error: KafkaError) -> DescribeClusterResponse:
    return DescribeClusterResponse(
        error_code=error.code,
        error_message=str(error),
        cluster_id="",
        brokers=[],
    )
