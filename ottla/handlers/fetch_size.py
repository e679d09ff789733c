"""How large a fetch's answer will be, known before it is made: quotas count it whole."""

from __future__ import annotations

from ottla.protocol.apis.fetch import (
    AbortedTransaction,
    EpochEndOffset,
    FetchableTopicResponse,
    FetchResponse,
    PartitionData,
)
from ottla.protocol.codec import encode
from ottla.protocol.varint import uvarint_size
from ottla.replication.fetch_sessions import Fetch, Told
from ottla.replication.reading import Found

_FLEXIBLE_FROM = 12
_SIZE_BYTES = 4


def told_of(found: Found) -> Told:
    return Told(
        found.error,
        found.high_watermark,
        found.log_start_offset,
        has_records=found.slice is not None,
        has_more=found.diverging is not None,
    )


def answer_bytes(fetch: Fetch, found: list[Found], *, version: int) -> int:
    """As Kafka counts: size and body without header, records as they are stored."""
    session = fetch.session if fetch.is_incremental else None
    told = [
        (asked, each)
        for asked, each in zip(fetch.asked, found, strict=True)
        if session is None or session.would_be_news(asked.key, told_of(each))
    ]
    topics: list[FetchableTopicResponse] = []
    last: object = None
    for asked, each in told:
        if asked.key.topic != last:
            last, wanted = asked.key.topic, each.wanted
            topics.append(
                FetchableTopicResponse(topic=wanted.topic, topic_id=wanted.topic_id, partitions=[])
            )
        topics[-1].partitions.append(without_records(each))
    body = encode(FetchResponse(responses=topics), version)
    records = sum(_records_bytes(each.size_bytes, version) for _, each in told)
    return _SIZE_BYTES + len(body) + records


def _records_bytes(size_bytes: int, version: int) -> int:
    """Beyond the length of none, which is one byte where it is a varint."""
    if version < _FLEXIBLE_FROM:
        return size_bytes
    return size_bytes + uvarint_size(size_bytes + 1) - 1


def without_records(found: Found) -> PartitionData:
    """What is told of a partition, but for its records and who else leads it."""
    data = PartitionData(
        partition_index=found.wanted.partition_index,
        error_code=found.error,
        high_watermark=found.high_watermark,
        last_stable_offset=found.last_stable_offset,
        log_start_offset=found.log_start_offset,
        aborted_transactions=None,
        records=b"",
    )
    if found.aborted is not None:
        data.aborted_transactions = [
            AbortedTransaction(producer_id=each.producer_id, first_offset=each.first_offset)
            for each in found.aborted
        ]
    if found.diverging is not None:
        data.diverging_epoch = EpochEndOffset(
            epoch=found.diverging.epoch, end_offset=found.diverging.end_offset
        )
    return data
