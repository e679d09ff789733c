"""The answer to a fetch, from what was found for it."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby

from ottla.handlers.call import Call
from ottla.handlers.current_leader import current_leader, nodes
from ottla.handlers.fetch_size import told_of, without_records
from ottla.handlers.old_fetch import (
    MAGIC_2_FROM,
    Conversion,
    refusal_for_old_readers,
    refuse_partition,
)
from ottla.network.pieces import FilePiece
from ottla.protocol.apis.fetch import (
    FetchableTopicResponse,
    FetchResponse,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionData,
)
from ottla.protocol.errors import ErrorCode
from ottla.replication.fetch_sessions import NO_SESSION, Fetch
from ottla.replication.reading import Found
from ottla.storage.files import DiskFailed
from ottla.storage.slice import Slice

_CURRENT_LEADER_FROM = 16
_MOVED = (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.FENCED_LEADER_EPOCH)
# What a reader can be told, and mend, is no failure: so does Kafka count.
_EXPECTED = (
    *_MOVED, ErrorCode.KAFKA_STORAGE_ERROR, ErrorCode.OFFSET_OUT_OF_RANGE,
    ErrorCode.UNKNOWN_LEADER_EPOCH,
)  # fmt: skip


def answer_fetch(call: Call, fetch: Fetch, found: list[Found]) -> None:
    if call.connection.is_closed:
        return
    session = fetch.session
    session_id = session.id if session is not None else NO_SESSION
    told = found if session is None else _news(fetch, found)
    pieces = _pinned(told, is_converted=call.version < MAGIC_2_FROM)
    conversions: list[Conversion] = []
    response = FetchResponse(session_id=session_id, responses=[])
    left = iter(pieces)
    for (topic, topic_id), partitions in groupby(told, _topic_of):
        data = [_partition_data(call, each, next(left), conversions) for each in partitions]
        response.responses.append(
            FetchableTopicResponse(topic=topic, topic_id=topic_id, partitions=data)
        )
    has_errors = any(each.error_code for topic in response.responses for each in topic.partitions)
    if has_errors and call.version >= _CURRENT_LEADER_FROM:
        _tell_leaders(call, response)
    if conversions:
        _send_converted(call, response, conversions)
    else:
        _send_when_read(call, told, lambda: call.reply(response, may_hold_errors=has_errors))


def _news(fetch: Fetch, found: list[Found]) -> list[Found]:
    """What the reader has not heard of in this session; if it has just begun, everything."""
    session, is_incremental = fetch.session, fetch.is_incremental
    assert session is not None
    news = []
    for asked, each in zip(fetch.asked, found, strict=True):
        is_news = session.is_news(asked.key, told_of(each), is_incremental=is_incremental)
        if is_news or not is_incremental:
            news.append(each)
    return news


def _pinned(told: list[Found], *, is_converted: bool) -> list[FilePiece | None]:
    """What will be sent of each; one that cannot be opened any more is told of as that."""
    pieces: list[FilePiece | None] = []
    for number, each in enumerate(told):
        slice_, piece = each.slice, None
        if slice_ is not None and not is_converted:
            try:
                piece = FilePiece(slice_.file, slice_.position, slice_.length)
            except DiskFailed as failure:
                partition = each.wanted.partition
                assert partition is not None
                told[number] = Found(each.wanted, partition.unreadable(failure).code)
        pieces.append(piece)
    return pieces


def _topic_of(found: Found) -> tuple[str, bytes]:
    return found.wanted.topic, found.wanted.topic_id


def _count_read(call: Call, topic: str, size_bytes: int) -> None:
    traffic = call.services.replicas.traffic
    if call.is_follower:
        traffic.replication_bytes_out += size_bytes
    else:
        traffic.of(topic).bytes_out += size_bytes


def _partition_data(
    call: Call, found: Found, piece: FilePiece | None, conversions: list[Conversion]
) -> PartitionData:
    """What old readers need in another format is left to a conversion."""
    partition, slice_ = found.wanted.partition, found.slice
    data = without_records(found)
    if partition is not None and found.error and found.error not in _EXPECTED:
        call.services.replicas.traffic.of(partition.topic).failed_fetches += 1
    if slice_ is not None and partition is not None:
        _count_read(call, partition.topic, slice_.length)
        refusal = refusal_for_old_readers(call.version, partition)
        if refusal:
            refuse_partition(data, refusal)
            if piece is not None:
                piece.release()
        elif piece is None:
            conversions.append(Conversion(call, found, data))
        else:
            data.records = piece
    return data


def _tell_leaders(call: Call, response: FetchResponse) -> None:
    leaders = []
    for topic in response.responses:
        for each in topic.partitions:
            if each.error_code in _MOVED:
                leader = current_leader(call, topic.topic, each.partition_index)
                each.current_leader = LeaderIdAndEpoch(**leader._asdict())
                leaders.append(leader.leader_id)
    response.node_endpoints = [NodeEndpoint(**node._asdict()) for node in nodes(call, leaders)]


def _send_converted(call: Call, response: FetchResponse, conversions: list[Conversion]) -> None:
    """Nobody knows how much there is in what is compressed: not on the loop."""

    def run() -> None:
        for each in conversions:
            each.run()

    def reply(bug: BaseException | None) -> None:
        for each in conversions:
            each.settle()
        if bug is not None:
            call.connection.close()  # there is no answer to wait for
            raise bug
        call.reply(response)

    call.services.replicas.hop.run_in_turn(run, reply)


def _send_when_read(call: Call, told: list[Found], send: Callable[[], None]) -> None:
    cold = [each.slice for each in told if each.slice is not None and _is_cold(each, each.slice)]
    if not cold:
        send()
        return

    def reply(error: BaseException | None) -> None:
        if isinstance(error, DiskFailed):
            call.services.replicas.disk_failed(error)
            call.connection.close()
        send()

    # Read from the disk in a file thread; sendfile would let everybody wait for it.
    call.services.replicas.hop.run(lambda: [each.read_ahead() for each in cold], reply)


def _is_cold(found: Found, slice_: Slice) -> bool:
    """What was appended lately is in memory: only closed segments are asked about."""
    partition = found.wanted.partition
    assert partition is not None
    log = partition.log
    return log is not None and slice_.file is not log.active.log and not slice_.is_cached()
