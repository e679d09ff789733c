"""Produce: batches into the logs that this broker leads, from the buffer they came in.

Nearly every request names one partition and looks like the one before it: `produce_shortcut.py`
takes those. Everything else comes here; what it is answered with is in `produce_answer.py`.
"""

from __future__ import annotations

from functools import partial

from ottla.handlers.call import Call
from ottla.handlers.metered_call import MeteredCall
from ottla.handlers.produce_answer import answer_produce
from ottla.handlers.produce_shortcut import shortcut_for
from ottla.handlers.produce_work import NOT_PREPARED, Prepared, copied, prepare_later
from ottla.handlers.produced_records import check_records, is_transactional
from ottla.handlers.services import Services
from ottla.handlers.transactional_produce import Named, Verdict, producer_of, verify_batches
from ottla.network.connection import Connection
from ottla.protocol.apis.produce import (
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceResponse,
)
from ottla.protocol.errors import ErrorCode, InvalidRecords, KafkaError, ProtocolError
from ottla.protocol.internal.topics import INTERNAL_TOPICS
from ottla.protocol.produce_reader import ProduceFrame, read_produce
from ottla.protocol.records.layout import MAGIC_AT
from ottla.replication.delayed_produce import DelayedProduce, PartitionResult
from ottla.replication.partition import Partition

PRODUCE = 0
_ADMIN_CLIENT = "__admin_client"
# With what else the log refuses, a producer hears where the log starts.
_WITHOUT_LOG_START = (
    ErrorCode.CORRUPT_MESSAGE, ErrorCode.KAFKA_STORAGE_ERROR, ErrorCode.MESSAGE_TOO_LARGE,
    ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.RECORD_LIST_TOO_LARGE,
)  # fmt: skip
_EXPECTED = (*_WITHOUT_LOG_START, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)


def serve_produce(
    services: Services,
    connection: Connection,
    start: int,
    end: int,
    version: int,
    correlation_id: int,
) -> None:
    """Append what a frame holds; the answer follows when the tick's writes are done."""
    frame = read_produce(connection.buffer, start, end, version=version)
    connection.client_id = frame.client_id
    call = Call(
        connection,
        services,
        api_key=PRODUCE,
        version=version,
        correlation_id=correlation_id,
        client_id=frame.client_id,
    )
    call.begun_ns = services.timer.now_ns()
    call.is_timed = services.requests.count(PRODUCE, version)
    if call.is_timed:
        services.requests.times(PRODUCE).size_bytes.observe(end - start)
    if services.quotas is not None:
        call = MeteredCall(call, frame_bytes=end - start)
    # Of a partition that is named twice only the last counts, as in Kafka.
    named = {
        (topic, each.partition_index): connection.view[each.start : each.end]
        if each.start >= 0
        else None
        for topic, partitions in frame.topics
        for each in partitions
    }
    results = None
    later = partial(_verify_and_append, call, frame)
    if not prepare_later(call, named, later):
        results = later(named, NOT_PREPARED)
    connection.owe(call, blocks=results is None or call.is_limited())
    if isinstance(call, MeteredCall):
        call.stop_clock()  # each request is counted: none may take the shortcut
    elif results is not None and len(results) == 1 and not results[0].error:
        connection.shortcut = shortcut_for(
            services, connection, start, frame, results[0].partition, version
        )


def _verify_and_append(
    call: Call, frame: ProduceFrame, named: Named, prepared: Prepared
) -> list[PartitionResult] | None:
    """None: it goes on by itself when it is known which transactions are open."""
    try:
        refused = _verify(call, frame, named, prepared)
    except KafkaError as refusal:
        results = [PartitionResult(*place, refusal.code, str(refusal)) for place in named]
        _answer_when_written(call, frame, results)
        return results
    return None if refused is None else _append_all(call, frame, named, prepared, refused)


def _verify(call: Call, frame: ProduceFrame, named: Named, prepared: Prepared) -> Verdict | None:
    """Which may not be appended; None if that is not known yet.

    Raises what the whole request is refused with.
    """
    if frame.transactional_id is None:
        if any(records is not None and is_transactional(records) for records in named.values()):
            detail = "a transactional batch in a request without a transactional id"
            raise KafkaError(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, detail)
        return {}
    kept: dict[tuple[str, int], memoryview | None] = {}

    def later(verdict: Verdict) -> None:
        _append_all(call, frame, kept, prepared, verdict)

    refused = verify_batches(call, frame.transactional_id, named, later)
    if refused is None:
        call.park()
        kept.update(copied(named))
    return refused


def _append_all(
    call: Call, frame: ProduceFrame, named: Named, prepared: Prepared, refused: Verdict
) -> list[PartitionResult]:
    results = [
        _append(call, frame, place, records, prepared.get(place), refused.get(place))
        for place, records in named.items()
    ]
    _answer_when_written(call, frame, results)
    return results


def _answer_when_written(call: Call, frame: ProduceFrame, results: list[PartitionResult]) -> None:
    services = call.services
    operation = DelayedProduce(
        results, acks=frame.acks, reply=partial(answer_produce, call, frame.acks)
    )

    def written() -> None:
        operation.written(services.replicas.produces, timeout_ms=frame.timeout_ms)
        if not operation.completed:
            call.park()

    services.tick.settle(written)


def _append(
    call: Call,
    frame: ProduceFrame,
    place: tuple[str, int],
    records: memoryview | None,
    prepared: memoryview | KafkaError | None,
    refusal: KafkaError | None,
) -> PartitionResult:
    topic, index = place
    result = PartitionResult(topic, index)
    partition: Partition | None = None
    replicas = call.services.replicas
    try:
        # In the order of Kafka: where to, what, in which transaction, and then whether it can be.
        if place not in replicas.partitions and not call.services.metadata.exists(topic, index):
            detail = f"there is no partition {topic}-{index}"
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, detail)
        view = check_records(call, records)
        if refusal is not None:
            raise refusal
        _check_request(frame, topic)
        partition = replicas.get(topic, index)
        replicas.traffic.of(topic).produces += 1
        if view is not None:
            _append_to(partition, view, prepared, call, frame.acks, result)
            if frame.transactional_id is not None:
                call.services.producer_clients.wrote(producer_of(view), call.connection)
    except KafkaError as error:
        result.refuse(error.code, str(error))
        if partition is not None:
            _count_refusal(call, topic, error.code, records)
        if partition is not None and partition.log and error.code not in _WITHOUT_LOG_START:
            result.log_start_offset = partition.log.log_start_offset
        if isinstance(error, InvalidRecords):
            result.record_errors = error.records
    return result


def _check_request(frame: ProduceFrame, topic: str) -> None:
    if frame.acks not in (-1, 0, 1):
        raise KafkaError(ErrorCode.INVALID_REQUIRED_ACKS)
    if topic in INTERNAL_TOPICS and frame.client_id != _ADMIN_CLIENT:
        raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"{topic} is the brokers' own")


def _append_to(
    partition: Partition,
    view: memoryview,
    prepared: memoryview | KafkaError | None,
    call: Call,
    acks: int,
    result: PartitionResult,
) -> None:
    magic, now_ms = view[MAGIC_AT], call.services.clock.now_ms()
    if prepared is None:
        appended = partition.append(view, acks=acks, now_ms=now_ms)
    elif isinstance(prepared, KafkaError):
        partition.check_taking(acks)  # which counts before what is wrong with the records
        raise prepared
    else:
        appended = partition.append_prepared(prepared, acks=acks, now_ms=now_ms)
    result.appended(partition, appended)
    if magic != partition.local_log().config.message_magic:
        count = result.required_offset - result.base_offset
        call.services.replicas.traffic.of(partition.topic).messages_written_old += count


def _count_refusal(call: Call, topic: str, code: ErrorCode, records: memoryview | None) -> None:
    """As Kafka does: what a producer can be told, and mend, is no failure."""
    traffic = call.services.replicas.traffic.of(topic)
    if code is ErrorCode.MESSAGE_TOO_LARGE and records is not None:
        traffic.bytes_rejected += len(records)
    if code not in _EXPECTED:
        traffic.failed_produces += 1


def handle_produce(request: ProduceRequest, call: Call) -> ProduceResponse:
    """Only frames are served: `serve_produce` reads them where they lie."""
    raise ProtocolError("a produce request comes in a frame", reading="ProduceRequest")


def refuse(request: ProduceRequest, error: KafkaError) -> ProduceResponse:
    return ProduceResponse(
        responses=[
            TopicProduceResponse(
                name=topic.name,
                partition_responses=[
                    PartitionProduceResponse(
                        index=partition.index, error_code=error.code, base_offset=-1
                    )
                    for partition in topic.partition_data
                ],
            )
            for topic in request.topic_data
        ]
    )
