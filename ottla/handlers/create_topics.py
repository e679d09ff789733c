"""CreateTopics: new topics, answered when their partitions have leaders."""

from __future__ import annotations

from functools import partial

from ottla.controller.topics import CreatedTopic, create_topics
from ottla.handlers.call import Call
from ottla.handlers.delayed_topics import has_leaders, no_room, wait_for_topics
from ottla.protocol.apis.create_topics import (
    CreatableTopicConfigs,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from ottla.protocol.errors import ErrorCode, KafkaError

_CONFIGS_FROM = 5
_REFUSED_FROM = 6  # before, whoever changes too much is only throttled


async def handle_create_topics(
    request: CreateTopicsRequest, call: Call
) -> CreateTopicsResponse | None:
    services = call.services
    results = await create_topics(
        services.controller,
        request.topics,
        services.topic_rules,
        validate_only=request.validate_only,
        spend=call.mutation_quota(strict_from=_REFUSED_FROM),
    )
    created = {
        result.name: has_leaders(result.name, range(result.partitions))
        for result in results
        if result.code is ErrorCode.NONE
    }
    if request.validate_only or not created:
        return _response(call, results, [])
    reply = partial(_reply, call, results)
    wait_for_topics(call, created, reply, timeout_ms=request.timeout_ms)
    return None


def _reply(call: Call, results: list[CreatedTopic], late: list[str]) -> None:
    call.reply(_response(call, results, late))


def _response(call: Call, results: list[CreatedTopic], late: list[str]) -> CreateTopicsResponse:
    return CreateTopicsResponse(
        topics=[_result(call, result, is_late=result.name in late) for result in results]
    )


def _result(call: Call, result: CreatedTopic, *, is_late: bool) -> CreatableTopicResult:
    failed = result.code is not ErrorCode.NONE
    if failed:
        return CreatableTopicResult(
            name=result.name, error_code=result.code, error_message=result.message
        )
    if is_late:  # but it is there
        return CreatableTopicResult(
            name=result.name,
            topic_id=result.topic_id,
            error_code=ErrorCode.REQUEST_TIMED_OUT,
            error_message=None,
        )
    if (reason := no_room(call, result.name, range(result.partitions))) is not None:
        return CreatableTopicResult(
            name=result.name,
            topic_id=result.topic_id,
            error_code=ErrorCode.KAFKA_STORAGE_ERROR,
            error_message=reason,
        )
    return CreatableTopicResult(
        name=result.name,
        topic_id=result.topic_id,
        error_message=None,
        num_partitions=result.partitions,
        replication_factor=result.replication_factor,
        configs=_configs(call, result) if call.version >= _CONFIGS_FROM else [],
    )


def _configs(call: Call, result: CreatedTopic) -> list[CreatableTopicConfigs]:
    return [
        CreatableTopicConfigs(
            name=entry.name,
            value=entry.value,
            read_only=entry.read_only,
            config_source=entry.source,
            is_sensitive=entry.is_sensitive,
        )
        for entry in call.services.overrides.describe_stored_topic(result.configs)
    ]


def refuse(request: CreateTopicsRequest, error: KafkaError) -> CreateTopicsResponse:
    names = dict.fromkeys(topic.name for topic in request.topics)
    return CreateTopicsResponse(
        topics=[
            CreatableTopicResult(
                name=name, error_code=error.code, error_message=error.detail or None
            )
            for name in names
        ]
    )
