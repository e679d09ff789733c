"""CreatePartitions: more partitions for topics, answered when the new ones have leaders."""

from __future__ import annotations

from functools import partial

from ottla.controller.more_partitions import AddedPartitions, create_partitions
from ottla.handlers.call import Call
from ottla.handlers.delayed_topics import has_leaders, no_room, wait_for_topics
from ottla.protocol.apis.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopicResult,
)
from ottla.protocol.errors import ErrorCode, KafkaError

_REFUSED_FROM = 3  # before, whoever changes too much is only throttled


async def handle_create_partitions(
    request: CreatePartitionsRequest, call: Call
) -> CreatePartitionsResponse | None:
    results = await create_partitions(
        call.services.controller,
        request.topics,
        validate_only=request.validate_only,
        spend=call.mutation_quota(strict_from=_REFUSED_FROM),
    )
    added = {
        result.name: has_leaders(result.name, result.added)
        for result in results
        if result.code is ErrorCode.NONE
    }
    if request.validate_only or not added:
        return _response(call, results, [])
    reply = partial(_reply, call, results)
    wait_for_topics(call, added, reply, timeout_ms=request.timeout_ms)
    return None


def _reply(call: Call, results: list[AddedPartitions], late: list[str]) -> None:
    call.reply(_response(call, results, late))


def _response(
    call: Call, results: list[AddedPartitions], late: list[str]
) -> CreatePartitionsResponse:
    return CreatePartitionsResponse(
        results=[_result(call, result, is_late=result.name in late) for result in results]
    )


def _result(call: Call, result: AddedPartitions, *, is_late: bool) -> CreatePartitionsTopicResult:
    code, message = result.code, result.message
    if is_late:
        code = ErrorCode.REQUEST_TIMED_OUT
    elif (reason := no_room(call, result.name, result.added)) is not None:
        code, message = ErrorCode.KAFKA_STORAGE_ERROR, reason
    return CreatePartitionsTopicResult(name=result.name, error_code=code, error_message=message)


def refuse(request: CreatePartitionsRequest, error: KafkaError) -> CreatePartitionsResponse:
    names = dict.fromkeys(topic.name for topic in request.topics)
    return CreatePartitionsResponse(
        results=[
            CreatePartitionsTopicResult(
                name=name, error_code=error.code, error_message=error.detail or None
            )
            for name in names
        ]
    )
