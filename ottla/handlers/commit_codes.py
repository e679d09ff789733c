"""The codes of a commit of offsets, in the form that the answers of both kinds of commit have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from ottla.coordinators.groups.answers import TopicPartition
from ottla.protocol.errors import ErrorCode

Codes = Mapping[TopicPartition, ErrorCode]
UNKNOWN = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


class _Partition(Protocol):
    @property
    def partition_index(self) -> int: ...


class _Topic(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def partitions(self) -> Sequence[_Partition]: ...


def codes_by_topic(
    topics: Sequence[_Topic], codes: Codes, *, otherwise: ErrorCode
) -> dict[str, dict[int, ErrorCode]]:
    """Of all that were named: one named twice has one answer, as it has one offset."""
    found: dict[str, dict[int, ErrorCode]] = {}
    for topic in topics:
        of_topic = found.setdefault(topic.name, {})
        for each in topic.partitions:
            index = each.partition_index
            of_topic[index] = codes.get((topic.name, index), otherwise)
    return found
