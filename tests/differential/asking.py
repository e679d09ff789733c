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
from ottla.protocol.apis.describe_groups import DescribeGroupsRequest
from ottla.protocol.apis.describe_transactions import DescribeTransactionsRequest
from ottla.protocol.apis.find_coordinator import FindCoordinatorRequest
from ottla.protocol.apis.init_producer_id import InitProducerIdRequest
from ottla.protocol.apis.join_group import JoinGroupResponse
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
    has_coordinator = has_transactions = False
    for case in cases:
        if case.needs_coordinator and not has_coordinator:
            _wait_for_coordinator(bootstrap)
            has_coordinator = True
        if case.needs_transactions and not has_transactions:
            _wait_for_transactions(bootstrap)
            has_transactions = True
        if case.name in failed:
            yield case, [f"its topics could not be made: {failed[case.name]}"] * len(case.steps)
        else:
            yield case, _run(bootstrap, case, worlds[case.name])


def _run(bootstrap: str, case: Case, world: World) -> list[Outcome]:
    conversation = _Conversation(bootstrap, world)
    try:
        for number, step in enumerate(case.steps):
            conversation.take(number, step)
        conversation.hear_all()
    finally:
        conversation.close()
    return [conversation.found[number] for number in range(len(case.steps))]


class _Conversation:
    """A case's connections, and what was answered by now."""

    def __init__(self, bootstrap: str, world: World) -> None:
        self.found: dict[int, Outcome] = {}
        self._bootstrap = bootstrap
        self._world = world
        self._normal = Normal(world)
        self._links: dict[str, Connection] = {}
        self._parked: dict[str, tuple[int, Step, bytes]] = {}

    def take(self, number: int, step: Step) -> None:
        self._hear(step.link)
        if step.link not in self._links:
            self._links[step.link] = Connection(self._bootstrap)
        connection = self._links[step.link]
        frame = encode_request(
            step.build(self._world), step.version, correlation_id=number, client_id="differential"
        )
        if step.mangle:
            frame = step.mangle(frame)
        if step.is_parked:
            connection.send(frame)
            self._parked[step.link] = (number, step, frame)
            _pause()  # so that it comes before what others send
        else:
            self._keep(number, step, _try(connection, step, frame, self._world, self._normal))

    def hear_all(self) -> None:
        for link in list(self._parked):
            self._hear(link)

    def _hear(self, link: str) -> None:
        """The answer that is still to come on this connection."""
        if link in self._parked:
            number, step, frame = self._parked.pop(link)
            connection = self._links[link]
            outcome = _try(connection, step, frame, self._world, self._normal)
            self._keep(number, step, outcome)

    def _keep(self, number: int, step: Step, outcome: Outcome) -> None:
        self.found[number] = outcome
        if not isinstance(outcome, dict) and outcome != NO_ANSWER:
            self._links.pop(step.link).close()

    def close(self) -> None:
        for connection in self._links.values():
            connection.close()


def _try(connection: Connection, step: Step, frame: bytes, world: World, normal: Normal) -> Outcome:
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
        if not step.is_parked:
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
    if isinstance(body, JoinGroupResponse) and body.member_id not in ("", *world.members):
        world.members.append(body.member_id)


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


def _wait_for_coordinator(bootstrap: str) -> None:
    """Of groups: their topic is made when somebody asks, and loaded when it is there."""
    with suppress(Closed):
        for _ in range(_TRIES):
            ask(bootstrap, FindCoordinatorRequest(key="g"), 0)
            [group] = ask(bootstrap, DescribeGroupsRequest(groups=["g"]), 0).groups
            if group.error_code == ErrorCode.NONE:
                return
            _pause()


def _wait_for_transactions(bootstrap: str) -> None:
    with suppress(Closed):
        for _ in range(_TRIES):
            ask(bootstrap, FindCoordinatorRequest(key="x", key_type=1), 1)
            request = DescribeTransactionsRequest(transactional_ids=["x"])
            [found] = ask(bootstrap, request, 0).transaction_states
            if found.error_code == ErrorCode.TRANSACTIONAL_ID_NOT_FOUND:
                return
            _pause()


def _pause() -> None:
    threading.Event().wait(_PAUSE_S)
