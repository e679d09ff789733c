"""Fetch: ranges of logs to consumers and followers, at once or when there is enough."""

from __future__ import annotations

from functools import partial

from ottla.handlers.call import Call
from ottla.handlers.fetch_answer import answer_fetch
from ottla.handlers.fetch_size import answer_bytes
from ottla.handlers.metered_call import MeteredCall
from ottla.network.connection import Connection
from ottla.protocol.apis.fetch import (
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    PartitionData,
)
from ottla.protocol.errors import ErrorCode, KafkaError
from ottla.protocol.primitives import ZERO_UUID
from ottla.replication.delayed_fetch import DelayedFetch, is_enough
from ottla.replication.fetch_sessions import NO_SESSION, Asked, Fetch, Key
from ottla.replication.reading import Found, Reader, Wanted, isolation_of, read
from ottla.timing.purgatory import Purgatory

_FETCH = FetchRequest.api_key
_TOPIC_IDS_FROM = 13


def handle_fetch(request: FetchRequest, call: Call) -> None:
    reader = _reader(request, call)
    if reader.is_follower:
        call.is_follower = True
        call.services.requests.follower_fetched(call.version)
    fetch = _begin(request, call)
    wanted = [_want(asked, call) for asked in fetch.asked]
    if any(each.partition is None for each in wanted):
        # They come last in the answer, as in Kafka.
        wanted, fetch.asked = _unheard_of_last(wanted, fetch.asked)
    reply = answer_fetch
    if isinstance(call, MeteredCall):
        if reader.is_follower:
            call.is_exempt = True
        else:
            reader, reply = _limited(reader, call), _reply_if_quota_allows
    found = read(wanted, reader)
    if request.max_wait_ms <= 0 or not wanted or is_enough(found, reader):
        reply(call, fetch, found)
        return
    fetches, connection = call.services.replicas.fetches, call.connection
    operation = DelayedFetch(wanted, reader, partial(reply, call, fetch), connection)
    partitions = [each.partition for each in wanted if each.partition is not None]
    if connection.on_followed is None:
        connection.on_followed = partial(_give_way, fetches, connection)
        # Kafka lets it wait on when the reader has gone: who asks for weeks would stay for weeks.
        connection.on_closed.append(partial(_forget, fetches, connection))
    watch = [*partitions, connection]
    fetches.park(operation, watch=watch, timeout_ms=request.max_wait_ms)


def _give_way(fetches: Purgatory, connection: Connection, key: int) -> None:
    """Answers a fetch that waits, if the reader wants to know something else meanwhile.

    Answers keep the order of requests, so that would wait as long as the fetch, as it does in
    Kafka. Not for another fetch: who has two under way would get empty answers without end.
    """
    if key != _FETCH:
        for waiting in fetches.cancel(connection):
            waiting.expire()


def _forget(fetches: Purgatory, connection: Connection) -> None:
    fetches.cancel(connection)


def _begin(request: FetchRequest, call: Call) -> Fetch:
    by_id = call.version >= _TOPIC_IDS_FROM
    # Of a partition that is named twice only the last counts, as in Kafka.
    named = {
        (key := Key(topic.topic_id if by_id else topic.topic, partition.partition)): Asked(
            key,
            partition.fetch_offset,
            partition.partition_max_bytes,
            max(partition.current_leader_epoch, -1),
            partition.last_fetched_epoch,
            partition.log_start_offset,
        )
        for topic in request.topics
        for partition in topic.partitions
    }
    asked = list(named.values())
    if request.session_id == NO_SESSION and request.session_epoch == -1:
        return Fetch(asked)
    forgotten = [
        Key(topic.topic_id if by_id else topic.topic, index)
        for topic in request.forgotten_topics_data
        for index in topic.partitions
    ]
    return call.services.sessions.begin(
        asked,
        forgotten,
        session_id=request.session_id,
        epoch=request.session_epoch,
        uses_topic_ids=by_id,
        is_follower=_replica_id(request) >= 0,
        now_ms=call.services.timer.now_ms(),
    )


def _replica_id(request: FetchRequest) -> int:
    if request.replica_state is not None:
        return request.replica_state.replica_id
    return request.replica_id


def _reader(request: FetchRequest, call: Call) -> Reader:
    most = call.services.settings.fetch_max_bytes()
    return Reader(
        replica_id=_replica_id(request),
        isolation=isolation_of(request.isolation_level),
        max_bytes=min(request.max_bytes, most),
        min_bytes=min(request.min_bytes, most),
        first_batch_whole=call.version >= 3,
    )


def _want(asked: Asked, call: Call) -> Wanted:
    services = call.services
    topic, index = asked.key
    topic_id = ZERO_UUID
    try:
        if isinstance(topic, bytes):
            topic_id = topic
            topic = services.metadata.topic_named(topic_id)
        partition = services.replicas.get(topic, index)
        if topic_id not in (ZERO_UUID, partition.topic_id):
            raise KafkaError(ErrorCode.INCONSISTENT_TOPIC_ID, f"{partition}")
        services.replicas.traffic.of(topic).fetches += 1
    except KafkaError as error:
        name = "" if isinstance(topic, bytes) else topic
        return Wanted(name, topic_id, index, None, error.code, *asked[1:5])
    return Wanted(topic, topic_id, index, partition, ErrorCode.NONE, *asked[1:5])


def _unheard_of_last(wanted: list[Wanted], asked: list[Asked]) -> tuple[list[Wanted], list[Asked]]:
    pairs = sorted(zip(wanted, asked, strict=True), key=lambda pair: pair[0].is_unheard_of)
    return [each for each, _ in pairs], [each for _, each in pairs]


def _limited(reader: Reader, call: MeteredCall) -> Reader:
    most = min(reader.max_bytes, call.most_fetch_bytes)
    return reader._replace(max_bytes=int(most), min_bytes=min(reader.min_bytes, int(most)))


def _reply_if_quota_allows(call: Call, fetch: Fetch, found: list[Found]) -> None:
    """Who has to rest gets an empty answer, and what was found is as if it had not been asked."""
    assert isinstance(call, MeteredCall)
    rest_ms = call.throttle_fetch(answer_bytes(fetch, found, version=call.version))
    if not rest_ms:
        answer_fetch(call, fetch, found)
        return
    session_id = NO_SESSION
    if fetch.session is not None and fetch.is_incremental:
        session_id = fetch.session.id
    elif fetch.session is not None:
        call.services.sessions.end(fetch.session)
    call.reply(FetchResponse(throttle_time_ms=rest_ms, session_id=session_id, responses=[]))


def refuse(request: FetchRequest, error: KafkaError) -> FetchResponse:
    """Before version 7 there is no top-level error: each partition carries it."""
    topics = [
        FetchableTopicResponse(
            topic=topic.topic,
            topic_id=topic.topic_id,
            partitions=[
                PartitionData(
                    partition_index=each.partition,
                    error_code=error.code,
                    high_watermark=-1,
                    records=b"",
                )
                for each in topic.partitions
            ],
        )
        for topic in request.topics
    ]
    is_about_the_session = error.code in _SESSION_ERRORS
    return FetchResponse(
        error_code=error.code, session_id=0, responses=[] if is_about_the_session else topics
    )


_SESSION_ERRORS = (
    ErrorCode.FETCH_SESSION_ID_NOT_FOUND,
    ErrorCode.INVALID_FETCH_SESSION_EPOCH,
    ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR,
)
