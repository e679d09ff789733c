"""DescribeConfigs: the options of topics, brokers and loggers, and where each value comes from."""

from __future__ import annotations

from ottla.config.description import ConfigEntry
from ottla.config.loggers import describe_loggers
from ottla.controller.topic_names import check_name
from ottla.handlers.call import Call
from ottla.handlers.config_target import ResourceType, check_broker, check_topic
from ottla.protocol.apis.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
    DescribeConfigsSynonym,
)
from ottla.protocol.errors import ErrorCode, KafkaError

_TYPES = frozenset(ResourceType)


async def handle_describe_configs(
    request: DescribeConfigsRequest, call: Call
) -> DescribeConfigsResponse:
    for resource in request.resources:
        # As in Kafka one such resource spoils the whole request.
        if resource.resource_type not in _TYPES:
            raise _not_described(resource)
    return DescribeConfigsResponse(
        results=[await _describe(resource, request, call) for resource in request.resources]
    )


async def _describe(
    resource: DescribeConfigsResource, request: DescribeConfigsRequest, call: Call
) -> DescribeConfigsResult:
    try:
        entries = await _entries(resource, call)
    except KafkaError as error:
        return _refused(resource, error)
    return DescribeConfigsResult(
        error_message="",  # not null: so does Kafka
        resource_type=resource.resource_type,
        resource_name=resource.resource_name,
        configs=[_result(entry, request, call.version) for entry in entries],
    )


async def _entries(resource: DescribeConfigsResource, call: Call) -> list[ConfigEntry]:
    overrides, name = call.services.overrides, resource.resource_name
    # Kafka takes an empty list of names for none at all, and so for all of them.
    wanted = resource.configuration_keys or None
    if resource.resource_type == ResourceType.TOPIC:
        check_name(name)
        check_topic(call, name)
        # Of a topic that has no replica here, this broker may not have been told yet.
        properties = await call.services.configs.read(f"topics/{name}")
        return overrides.describe_stored_topic(properties, wanted)
    if resource.resource_type == ResourceType.BROKER:
        if not name:
            return overrides.describe_all_brokers(wanted)
        check_broker(call, name)
        return overrides.describe_this_broker(wanted)
    if resource.resource_type == ResourceType.BROKER_LOGGER:
        check_broker(call, name)
        return describe_loggers(wanted)
    raise _not_described(resource)


def _not_described(resource: DescribeConfigsResource) -> KafkaError:
    detail = f"resources of type {resource.resource_type} have no configuration here"
    return KafkaError(ErrorCode.INVALID_REQUEST, detail)


def _result(
    entry: ConfigEntry, request: DescribeConfigsRequest, version: int
) -> DescribeConfigsResourceResult:
    synonyms = entry.synonyms if request.include_synonyms else ()
    return DescribeConfigsResourceResult(
        name=entry.name,
        value=entry.value,
        read_only=entry.read_only,
        is_default=entry.is_default and version == 0,
        config_source=entry.source,
        is_sensitive=entry.is_sensitive,
        synonyms=[
            DescribeConfigsSynonym(name=each.name, value=each.value, source=each.source)
            for each in synonyms
        ],
        config_type=entry.type,
        documentation=entry.documentation if request.include_documentation else None,
    )


def _refused(resource: DescribeConfigsResource, error: KafkaError) -> DescribeConfigsResult:
    return DescribeConfigsResult(
        error_code=error.code,
        error_message=error.detail or None,
        resource_type=resource.resource_type,
        resource_name=resource.resource_name,
        configs=[],
    )


def refuse(request: DescribeConfigsRequest, error: KafkaError) -> DescribeConfigsResponse:
    return DescribeConfigsResponse(results=[_refused(each, error) for each in request.resources])
