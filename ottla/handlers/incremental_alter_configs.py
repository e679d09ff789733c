"""IncrementalAlterConfigs: single values of topics, brokers and loggers."""

from __future__ import annotations

from ottla.config.alterations import Alteration
from ottla.config.loggers import alter_loggers
from ottla.config.refusal import ConfigRefused
from ottla.handlers.call import Call
from ottla.handlers.config_target import (
    ResourceType,
    change_configs,
    check_broker,
    find_target,
    refusal,
    refuse_repeated,
)
from ottla.protocol.apis.incremental_alter_configs import (
    AlterConfigsResource,
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from ottla.protocol.errors import ErrorCode, KafkaError


async def handle_incremental_alter_configs(
    request: IncrementalAlterConfigsRequest, call: Call
) -> IncrementalAlterConfigsResponse:
    named = [(each.resource_type, each.resource_name) for each in request.resources]
    responses = []
    for resource in request.resources:
        error: KafkaError | None = None
        try:
            refuse_repeated(named, (resource.resource_type, resource.resource_name))
            await _alter(call, resource, validate_only=request.validate_only)
        except KafkaError as refused:
            error = refused
        responses.append(_response(resource, error))
    return IncrementalAlterConfigsResponse(responses=responses)


async def _alter(call: Call, resource: AlterConfigsResource, *, validate_only: bool) -> None:
    alterations = [
        Alteration(each.name, each.config_operation, each.value) for each in resource.configs
    ]
    if resource.resource_type == ResourceType.BROKER_LOGGER:
        check_broker(call, resource.resource_name)
        try:
            alter_loggers(alterations, validate_only=validate_only)
        except ConfigRefused as refused:
            raise refusal(refused) from refused
        return
    target = find_target(call, resource.resource_type, resource.resource_name)
    await change_configs(
        call,
        target,
        lambda current: target.alter(alterations, current),
        {each.name: each.value for each in resource.configs},
        validate_only=validate_only,
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


def refuse(
    request: IncrementalAlterConfigsRequest, error: KafkaError
) -> IncrementalAlterConfigsResponse:
    responses = [_response(each, error) for each in request.resources]
    return IncrementalAlterConfigsResponse(responses=responses)
