"""Puts cases to a broker: makes their topics, sends their requests, keeps what was answered."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from ottla.protocol.apis.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from ottla.protocol.apis.init_producer_id import InitProducerIdRequest
from ottla.protocol.apis.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from ottla.protocol.errors import ErrorCode, ProtocolError
from ottla.protocol.framing import decode_response, encode_request
from ottla.protocol.primitives import ZERO_UUID
from ottla.protocol.schema import Message
from tests.differential.case import Case, Step, Topic, World
from tests.differential.normal import Normal
from tests.targets.connection import Closed, Connection, ask

Outcome = Any  # JSON: {"answer": ...}, or a word for the rest
CLOSED, NO_ANSWER, TIMED_OUT = "closed", "no answer", "timed out"
_TOPICS_AT_ONCE = 40
_TRIES, _PAUSE_S = 200, 0.05


def outcomes(bootstrap: str, cases: Sequence[Case], run: str) -> Iterator[tuple[Case, list[Any]]]:
    """Each case with what came of its steps. `run` keeps the topics of several runs apart."""
    worlds = {case.name: World(f"d{run}-{case.name}-") for case in cases}
    failed = _create(bootstrap, cases, worlds)
    _wait_for_producer_ids(bootstrap)
    for case in cases:
        if case.name in failed:
            yield case, [f"its topics could not be made: {failed[case.name]}"] * len(case.steps)
        else:
            yield case, _run(bootstrap, case, worlds[case.name])


def _run(bootstrap: str, case: Case, world: World) -> list[Outcome]:
    normal = Normal(world)
    connection: Connection | None = None
    found: list[Outcome] = []
    for number, step in enumerate(case.steps):
        connection = connection or Connection(bootstrap)
        outcome = _try(connection, step, world, normal, number)
        found.append(outcome)
        if not isinstance(outcome, dict) and outcome != NO_ANSWER:
            connection.close()
            connection = None
    if connection is not None:
        connection.close()
    return found


def _try(connection: Connection, step: Step, world: World, normal: Normal, number: int) -> Outcome:
    frame = encode_request(
        step.build(world), step.version, correlation_id=number, client_id="differential"
    )
    if step.mangle:
        frame = step.mangle(frame)
    try:
        if not step.is_answered:
            connection.send(frame)
            return NO_ANSWER if connection.expect_silence() else "answered"
        return _answer(connection, frame, step, world, normal)
    except Closed:
        return CLOSED
    except TimeoutError:
        return TIMED_OUT


def _answer(
    connection: Connection, frame: bytes, step: Step, world: World, normal: Normal
) -> Outcome:
    for _ in range(_TRIES):
        connection.send(frame)
        data = connection.receive(step.patience_s)
        try:
            response = decode_response(data, api_key=step.api_key, version=step.version)
        except ProtocolError as error:
            return {"unreadable": str(error), "bytes": data.hex()}
        if step.until is None or step.until(response.body):
            break
        _pause()
    if data[:4] != frame[8:12]:
        return {"wrong correlation id": data[:4].hex()}
    _remember(world, response.body)
    outcome = {"answer": normal.answer(response.body, response.version)}
    return outcome | ({"trailing": response.trailing_bytes} if response.trailing_bytes else {})


def _remember(world: World, body: Message) -> None:
    world.answers.append(body)
    if isinstance(body, CreateTopicsResponse | MetadataResponse):
        for topic in body.topics:
            if topic.name and topic.topic_id != ZERO_UUID:
                world.topic_ids[topic.name.removeprefix(world.prefix)] = topic.topic_id


def _create(bootstrap: str, cases: Sequence[Case], worlds: dict[str, World]) -> dict[str, str]:
    """By case, why its topics could not be made."""
    wanted = [
        (case.name, topic, worlds[case.name].name(topic.name))
        for case in cases
        for topic in case.topics
    ]
    failed: dict[str, str] = {}
    for first in range(0, len(wanted), _TOPICS_AT_ONCE):
        some = wanted[first : first + _TOPICS_AT_ONCE]
        request = CreateTopicsRequest(topics=[_creatable(topic, name) for _, topic, name in some])
        results = {each.name: each for each in ask(bootstrap, request, 7).topics}
        for case_name, topic, name in some:
            if code := results[name].error_code:
                failed[case_name] = f"{topic.name}: {ErrorCode(code).name}"
            worlds[case_name].topic_ids[topic.name] = results[name].topic_id
    made = [name for case_name, _, name in wanted if case_name not in failed]
    _wait_for_leaders(bootstrap, made)
    return failed


def _creatable(topic: Topic, name: str) -> CreatableTopic:
    return CreatableTopic(
        name=name,
        num_partitions=topic.partitions,
        replication_factor=1,
        assignments=[],
        configs=[CreatableTopicConfig(name=k, value=v) for k, v in topic.configs.items()],
    )


def _wait_for_leaders(bootstrap: str, names: Sequence[str]) -> None:
    request = MetadataRequest(topics=[MetadataRequestTopic(name=name) for name in names])
    for _ in range(_TRIES):
        answer = ask(bootstrap, request, 7)
        assert isinstance(answer, MetadataResponse)
        if all(
            not topic.error_code and all(each.leader_id >= 0 for each in topic.partitions)
            for topic in answer.topics
        ):
            return
        _pause()
    raise AssertionError(f"no leaders for {len(names)} new topics")


def _wait_for_producer_ids(bootstrap: str) -> None:
    """Kafka fetches its first block of them when somebody asks, and says so meanwhile."""
    request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=1000)
    with suppress(Closed):  # a broker that has none; the cases will show it
        for _ in range(_TRIES):
            code = ask(bootstrap, request, 0).error_code
            if code != ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
                return
            _pause()


def _pause() -> None:
    threading.Event().wait(_PAUSE_S)
