"""TxnOffsetCommit: offsets of a group that count if the producer's transaction is committed."""

from __future__ import annotations

from functools import partial

from ottla.coordinators.groups.answers import OffsetToCommit, TopicPartition
from ottla.coordinators.groups.committing import meaning
from ottla.handlers.call import Call
from ottla.handlers.commit_codes import UNKNOWN, Codes, codes_by_topic
from ottla.handlers.verification import FirstBatch, Question, Refusals, verify
from ottla.protocol.apis.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)
from ottla.protocol.errors import ErrorCode, KafkaError
from ottla.protocol.internal.topics import GROUP_METADATA_TOPIC

_KNOWS_LOADING_FROM = 2
_KNOWS_ABORTABLE_FROM = 4


def handle_txn_offset_commit(
    request: TxnOffsetCommitRequest, call: Call
) -> TxnOffsetCommitResponse | None:
    offsets = _known(request, call)
    if not offsets:
        return _response(request, {})
    groups = call.services.groups
    found = groups.find_transactional(request.group_id)
    if isinstance(found, ErrorCode):
        return _refuse_all(call, request, offsets, found)
    place = (GROUP_METADATA_TOPIC, found.number)
    question = Question(
        request.transactional_id,
        (request.producer_id, request.producer_epoch),
        [FirstBatch(call.services.replicas.get(*place))],
        knows_abortable=call.version >= _KNOWS_ABORTABLE_FROM,
    )
    commit = partial(_commit, call, request, offsets, place)
    refusals = verify(call.services, question, commit)
    if refusals is not None:
        commit(refusals)
    return None


def _commit(
    call: Call,
    request: TxnOffsetCommitRequest,
    offsets: list[OffsetToCommit],
    place: TopicPartition,
    refusals: Refusals,
) -> None:
    if place in refusals:
        call.reply(_refuse_all(call, request, offsets, meaning(refusals[place])))
        return
    call.services.producer_clients.wrote(request.producer_id, call.connection)
    call.services.groups.commit_transactional(
        request.group_id,
        offsets,
        partial(_reply, call, request),
        producer_id=request.producer_id,
        producer_epoch=request.producer_epoch,
        member_id=request.member_id,
        instance_id=request.group_instance_id,
        generation=request.generation_id,
    )


def _known(request: TxnOffsetCommitRequest, call: Call) -> list[OffsetToCommit]:
    """Those of partitions that exist."""
    topics = call.services.metadata.image.topics
    return [
        OffsetToCommit(
            topic.name,
            each.partition_index,
            each.committed_offset,
            each.committed_leader_epoch,
            each.committed_metadata,
        )
        for topic in request.topics
        if (image := topics.get(topic.name)) is not None
        for each in topic.partitions
        if image.partition(each.partition_index) is not None
    ]


def _refuse_all(
    call: Call, request: TxnOffsetCommitRequest, offsets: list[OffsetToCommit], error: ErrorCode
) -> TxnOffsetCommitResponse:
    return _response(request, _in_words(call, {each[:2]: error for each in offsets}))


def _reply(call: Call, request: TxnOffsetCommitRequest, codes: Codes) -> None:
    call.reply(_response(request, _in_words(call, codes)))


def _in_words(call: Call, codes: Codes) -> Codes:
    """Producers before 2.0 did not survive to hear that something loads."""
    if call.version >= _KNOWS_LOADING_FROM:
        return codes
    loading, elsewhere = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.COORDINATOR_NOT_AVAILABLE
    return {place: elsewhere if code is loading else code for place, code in codes.items()}


def _response(
    request: TxnOffsetCommitRequest, codes: Codes, *, otherwise: ErrorCode = UNKNOWN
) -> TxnOffsetCommitResponse:
    return TxnOffsetCommitResponse(
        topics=[
            TxnOffsetCommitResponseTopic(
                name=name,
                partitions=[
                    TxnOffsetCommitResponsePartition(partition_index=index, error_code=error)
                    for index, error in found.items()
                ],
            )
            for name, found in codes_by_topic(request.topics, codes, otherwise=otherwise).items()
        ]
    )


def refuse(request: TxnOffsetCommitRequest, error: KafkaError) -> TxnOffsetCommitResponse:
    return _response(request, {}, otherwise=error.code)
