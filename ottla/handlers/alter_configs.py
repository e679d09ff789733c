"""AlterConfigs: the whole configuration of topics and brokers, replaced."""

from __future__ import annotations

from ottla.handlers.call import Call
from ottla.handlers.config_target import change_configs, find_target, refuse_repeated
from ottla.protocol.apis.alter_configs import (
    AlterConfigsRequest,
    AlterConfigsResource,
    AlterConfigsResourceResponse,
    AlterConfigsResponse,
)
from ottla.protocol.errors import ErrorCode, KafkaError


async def handle_alter_configs(request: AlterConfigsRequest, call: Call) -> AlterConfigsResponse:
    named = [(each.resource_type, each.resource_name) for each in request.resources]
    responses = []
    for resource in request.resources:
        error: KafkaError | None = None
        try:
            refuse_repeated(named, (resource.resource_type, resource.resource_name))
            await _replace(call, resource, validate_only=request.validate_only)
        except KafkaError as refused:
            error = refused
        responses.append(_response(resource, error))
    return AlterConfigsResponse(responses=responses)


async def _replace(call: Call, resource: AlterConfigsResource, *, validate_only: bool) -> None:
    target = find_target(call, resource.resource_type, resource.resource_name)
    pairs = [(config.name, config.value) for config in resource.configs]
    await change_configs(
        call, target, lambda _: target.replace(pairs), dict(pairs), validate_only=validate_only
    )


def _response(
    resource: AlterConfigsResource, error: KafkaError | None
) -> AlterConfigsResourceResponse:
    return AlterConfigsResourceResponse(
        error_code=error.code if error else ErrorCode.NONE,
        error_message=error.detail if error else None,
        resource_type=resource.resource_type,
        resource_name=resource.resource_name,
    )


def refuse(request: AlterConfigsRequest, error: KafkaError) -> AlterConfigsResponse:
    return AlterConfigsResponse(responses=[_response(each, error) for each in request.resources])
