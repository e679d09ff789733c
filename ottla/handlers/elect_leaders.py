"""ElectLeaders: the preferred or any living replica leads, answered when this broker knows it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from ottla.controller.context import TopicPartition
from ottla.controller.events import ElectionResult, ElectionType
from ottla.handlers.call import Call
from ottla.protocol.apis.elect_leaders import (
    ElectLeadersRequest,
    ElectLeadersResponse,
    PartitionResult,
    ReplicaElectionResult,
)
from ottla.protocol.errors import ErrorCode, KafkaError

Results = dict[TopicPartition, ElectionResult]
_TOP_LEVEL_FROM = 1


async def handle_elect_leaders(
    request: ElectLeadersRequest, call: Call
) -> ElectLeadersResponse | None:
    try:
        results = await call.services.controller.elect_leaders(
            _election_type(request), _asked(request)
        )
        expected = _expected(call, results)
    except KafkaError as error:
        return _refusal(request, error, has_top_level=call.version >= _TOP_LEVEL_FROM)
    if request.topic_partitions is None:
        # Of all partitions, those that needed no election are of no interest.
        needless = ErrorCode.ELECTION_NOT_NEEDED
        results = {at: each for at, each in results.items() if each.code is not needless}
    operation = DelayedElection(call, expected, results, partial(_reply, call))
    topics = list(dict.fromkeys(at.topic for at in expected))
    call.services.elections.park(operation, watch=topics, timeout_ms=max(request.timeout_ms, 0))
    return None


def _election_type(request: ElectLeadersRequest) -> ElectionType:
    try:
        return ElectionType(request.election_type)
    except ValueError:
        detail = f"{request.election_type} is no type of election; expected 0 (preferred), 1 (any)"
        raise KafkaError(ErrorCode.INVALID_REQUEST, detail) from None


def _asked(request: ElectLeadersRequest) -> list[TopicPartition] | None:
    if request.topic_partitions is None:
        return None
    return [
        TopicPartition(topic.topic, index)
        for topic in request.topic_partitions
        for index in topic.partitions
    ]


def _expected(call: Call, results: Results) -> dict[TopicPartition, int]:
    """Who was elected, and will show in the metadata soon."""
    leaderships = call.services.controller.context.leaderships
    return {
        at: leaderships[at].leader
        for at, result in results.items()
        if result.code is ErrorCode.NONE and at in leaderships
    }


class DelayedElection:
    """Answers once: when the metadata shows the new leaders, or when the time is over."""

    __slots__ = ("_call", "_expected", "_reply", "_results", "completed")

    def __init__(
        self,
        call: Call,
        expected: Mapping[TopicPartition, int],
        results: Results,
        reply: partial[None],
    ) -> None:
        self.completed = False
        self._call = call
        self._expected = expected
        self._results = results
        self._reply = reply

    def _late(self) -> list[TopicPartition]:
        image = self._call.services.metadata.image
        found = {at: image.partition(at.topic, at.partition) for at in self._expected}
        return [
            at
            for at, leader in self._expected.items()
            if (known := found[at]) is None or known.leader != leader
        ]

    def try_complete(self) -> bool:
        if not self.completed and not self._late():
            self._complete()
        return self.completed

    def expire(self) -> None:
        for at in self._late():
            self._results[at] = ElectionResult(ErrorCode.REQUEST_TIMED_OUT)
        self._complete()

    def _complete(self) -> None:
        self.completed = True
        self._reply(self._results)


def _reply(call: Call, results: Results) -> None:
    call.reply(ElectLeadersResponse(replica_election_results=_by_topic(results)))


def _by_topic(results: Results) -> list[ReplicaElectionResult]:
    topics: dict[str, list[PartitionResult]] = {}
    for at, result in results.items():
        topics.setdefault(at.topic, []).append(
            PartitionResult(
                partition_id=at.partition, error_code=result.code, error_message=result.message
            )
        )
    return [
        ReplicaElectionResult(topic=name, partition_result=partitions)
        for name, partitions in topics.items()
    ]


def _refusal(
    request: ElectLeadersRequest, error: KafkaError, *, has_top_level: bool
) -> ElectLeadersResponse:
    refused = ElectionResult(error.code, error.detail or None)
    results = dict.fromkeys(_asked(request) or (), refused)
    return ElectLeadersResponse(
        error_code=error.code if has_top_level else ErrorCode.NONE,
        replica_election_results=_by_topic(results),
    )


def refuse(request: ElectLeadersRequest, error: KafkaError) -> ElectLeadersResponse:
    """Whatever the version: version 0 has no place for an error of the whole."""
    return _refusal(request, error, has_top_level=False)
