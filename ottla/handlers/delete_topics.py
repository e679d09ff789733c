"""DeleteTopics: topics by name or id, answered when this broker knows of none of them any more."""

from __future__ import annotations

from functools import partial

from ottla.controller.topics import DeletedTopic, delete_topics
from ottla.handlers.call import Call
from ottla.handlers.delayed_topics import is_gone, wait_for_topics
from ottla.protocol.apis.delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)
from ottla.protocol.errors import ErrorCode, KafkaError
from ottla.protocol.primitives import ZERO_UUID

_DISABLED_FROM = 3  # before, there was no code for it
_REFUSED_FROM = 5  # before, whoever changes too much is only throttled


async def handle_delete_topics(
    request: DeleteTopicsRequest, call: Call
) -> DeleteTopicsResponse | None:
    if not call.services.settings.deletes_topics():
        has_code = call.version >= _DISABLED_FROM
        code = ErrorCode.TOPIC_DELETION_DISABLED if has_code else ErrorCode.INVALID_REQUEST
        raise KafkaError(code, "delete.topic.enable is false")
    results = await delete_topics(
        call.services.controller,
        _asked(request),
        spend=call.mutation_quota(strict_from=_REFUSED_FROM),
    )
    deleted = {
        result.name: is_gone(result.name)
        for result in results
        if result.code is ErrorCode.NONE and result.name is not None
    }
    if not deleted:
        return _response(results, [])
    reply = partial(_reply, call, results)
    wait_for_topics(call, deleted, reply, timeout_ms=request.timeout_ms)
    return None


def _asked(request: DeleteTopicsRequest) -> list[DeleteTopicState]:
    """By name only, before version 6."""
    named = [DeleteTopicState(name=name, topic_id=ZERO_UUID) for name in request.topic_names]
    return [*request.topics, *named]


def _reply(call: Call, results: list[DeletedTopic], late: list[str]) -> None:
    call.reply(_response(results, late))


def _response(results: list[DeletedTopic], late: list[str]) -> DeleteTopicsResponse:
    return DeleteTopicsResponse(
        responses=[
            DeletableTopicResult(
                name=result.name,
                topic_id=result.topic_id,
                error_code=(
                    ErrorCode.REQUEST_TIMED_OUT
                    if result.code is ErrorCode.NONE and result.name in late
                    else result.code
                ),
                error_message=result.message,
            )
            for result in results
        ]
    )


def refuse(request: DeleteTopicsRequest, error: KafkaError) -> DeleteTopicsResponse:
    return DeleteTopicsResponse(
        responses=[
            DeletableTopicResult(
                name=topic.name,
                topic_id=topic.topic_id,
                error_code=error.code,
                error_message=error.detail or None,
            )
            for topic in _asked(request)
        ]
    )
