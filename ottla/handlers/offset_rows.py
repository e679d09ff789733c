"""Answers with very many offsets, put together column by column.

The rows of an answer are of one length if nothing but offsets is told. Then a byte of all rows is a
slice with a step, and ten thousand rows are a few dozen such slices instead of as many objects.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from struct import Struct

from ottla.coordinators.groups.answers import PlainOffsets
from ottla.coordinators.groups.records import PLAIN_BYTES
from ottla.handlers.call import Call
from ottla.protocol.apis.offset_commit import OffsetCommitResponse
from ottla.protocol.apis.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestTopic,
    OffsetFetchResponse,
)
from ottla.protocol.varint import write_uvarint

_FLEXIBLE_FROM = 6
_GROUPS_FROM = 8
_FEWEST = 30  # below, the ordinary way is as fast
# Size, correlation id, no tags, throttle time.
_START = Struct(">iixi")
# Partition, offset, leader epoch, empty metadata, no error, no tags.
_ROW = bytes(16) + b"\1\0\0\0"
_ROW_BYTES = len(_ROW)
_VALUE_OFFSET = 2  # where offset and leader epoch stand in a value of the log
_OFFSET_AT, _ERROR_AT = 4, 16

Wanted = dict[str, Mapping[str, Sequence[int]] | None]


def reply_in_rows(request: OffsetFetchRequest, call: Call) -> bool:
    """False, and nothing is done, if the answer is small or tells of more than offsets."""
    if call.version < _FLEXIBLE_FROM:
        return False
    wanted = _wanted(request, call.version)
    found = _find(wanted, call, require_stable=request.require_stable) if wanted else None
    if found is None:
        return False
    parts = [] if call.version < _GROUPS_FROM else [write_uvarint(len(found) + 1)]
    for group_id, offsets in found.items():
        if call.version >= _GROUPS_FROM:
            parts.append(compact(group_id))
        parts.append(write_uvarint(len(offsets) + 1))
        parts += map(_topic, offsets)
        parts.append(b"\0\0\0")  # no error, no tags
    if call.version >= _GROUPS_FROM:
        parts.append(b"\0")
    reply_flexible(call, OffsetFetchResponse(), parts)
    return True


def reply_flexible(
    call: Call, response: OffsetFetchResponse | OffsetCommitResponse, parts: Sequence[bytes]
) -> None:
    """In a flexible version: of `response` the throttle time, then the parts."""
    call.throttle(response)
    throttle_ms = response.throttle_time_ms
    frame = join_flexible(parts, correlation_id=call.correlation_id, throttle_time_ms=throttle_ms)
    call.reply_with([frame])


def join_flexible(parts: Sequence[bytes], *, correlation_id: int, throttle_time_ms: int) -> bytes:
    body = b"".join(parts)
    return _START.pack(_START.size - 4 + len(body), correlation_id, throttle_time_ms) + body


def _wanted(request: OffsetFetchRequest, version: int) -> Wanted | None:
    """By group and topic; None if something is named twice, or if it is little."""
    if version < _GROUPS_FROM:
        asked = [(request.group_id, request.topics)]
    else:
        asked = [(group.group_id, group.topics) for group in request.groups]
    count, wanted = 0, Wanted()
    for group_id, topics in asked:
        named = None if topics is None else _named_once(topics)
        if group_id in wanted or (named is None and topics is not None):
            return None
        count += _FEWEST if named is None else sum(map(len, named.values()))
        wanted[group_id] = named
    return wanted if count >= _FEWEST else None


def _named_once(topics: Sequence[OffsetFetchRequestTopic]) -> dict[str, Sequence[int]] | None:
    found: dict[str, Sequence[int]] = {topic.name: topic.partition_indexes for topic in topics}
    is_once = len(found) == len(topics) and all(
        len(dict.fromkeys(indexes)) == len(indexes) > 0 for indexes in found.values()
    )
    return found if is_once else None


def _find(
    wanted: Wanted, call: Call, *, require_stable: bool
) -> dict[str, list[PlainOffsets]] | None:
    found: dict[str, list[PlainOffsets]] = {}
    for group_id, topics in wanted.items():
        offsets = call.services.groups.fetch_plain(group_id, topics, require_stable=require_stable)
        if offsets is None:
            return None
        found[group_id] = offsets
    return found


def _topic(found: PlainOffsets) -> bytes:
    count, values = len(found.indexes), found.values
    rows = bytearray(_ROW * count)
    indexes = Struct(f">{count}i").pack(*found.indexes)
    for byte in range(_OFFSET_AT):
        rows[byte::_ROW_BYTES] = indexes[byte::4]
    for byte in range(_ERROR_AT - _OFFSET_AT):
        rows[_OFFSET_AT + byte :: _ROW_BYTES] = values[_VALUE_OFFSET + byte :: PLAIN_BYTES]
    return b"%b%b%b\0" % (compact(found.topic), write_uvarint(count + 1), bytes(rows))


def compact(text: str) -> bytes:
    """As flexible versions write it."""
    data = text.encode()
    return write_uvarint(len(data) + 1) + data
