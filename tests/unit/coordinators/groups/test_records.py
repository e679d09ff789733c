"""Offsets and groups in the log: Kafka's bytes, whichever Kafka wrote them."""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from ottla.coordinators.groups.records import (
    CommittedOffset,
    GroupKey,
    OffsetKey,
    check_offset_value,
    group_tombstone,
    offset_key,
    offset_key_start,
    offset_value,
    parse_group_value,
    parse_key,
    parse_offset_value,
)
from ottla.protocol.errors import ProtocolError

VECTORS = Path(__file__).parents[3] / "wire" / "vectors" / "internal.jsonl.gz"


@cache
def vectors(schema: str) -> list[dict[str, Any]]:
    with gzip.open(VECTORS, "rt", encoding="utf-8") as lines:
        return [case for case in map(json.loads, lines) if case["schema"] == schema]


def stored(case: dict[str, Any]) -> bytes:
    return bytes.fromhex(case["prefixed_hex"])


def test_offset_keys_of_both_versions_are_read() -> None:
    for case in vectors("OffsetCommitKey"):
        fields = case["json"]
        expected = OffsetKey(fields["group"], fields["topic"], fields["partition"])
        assert parse_key(stored(case)) == expected


def test_offset_keys_are_written_as_kafka_writes_version_1() -> None:
    for case in vectors("OffsetCommitKey"):
        if case["version"] == 1:
            fields = case["json"]
            start = offset_key_start(fields["group"])
            assert offset_key(start, fields["topic"], fields["partition"]) == stored(case)


def test_offset_values_of_all_versions_are_read() -> None:
    for case in vectors("OffsetCommitValue"):
        fields = case["json"]
        found = parse_offset_value(stored(case))
        check_offset_value(stored(case))
        assert found[:2] == (fields["offset"], fields.get("leaderEpoch", -1))
        assert found[2:4] == (fields["metadata"], fields["commitTimestamp"])
        expires = fields.get("expireTimestamp", -1)
        assert found.expire_ms == (expires if expires >= 0 else None)


def test_offset_values_are_written_as_kafka_writes_version_3_and_with_an_expiry_version_1() -> None:
    for case in vectors("OffsetCommitValue"):
        fields = case["json"]
        text, commit_ms = fields["metadata"], fields["commitTimestamp"]
        if case["version"] == 3:
            known = CommittedOffset(fields["offset"], fields["leaderEpoch"], text, commit_ms)
            assert offset_value(known) == stored(case)
        elif case["version"] == 1:
            expire_ms = fields["expireTimestamp"]
            known = CommittedOffset(fields["offset"], 5, text, commit_ms, expire_ms)
            assert offset_value(known) == stored(case)


def test_group_values_of_all_versions_are_read() -> None:
    for case in vectors("GroupMetadataValue"):
        found = parse_group_value(stored(case))
        assert found.generation == case["json"]["generation"]
        assert [each.member_id for each in found.members] == [
            each["memberId"] for each in case["json"]["members"]
        ]


def test_a_group_is_named_by_its_key_and_dropped_by_a_tombstone() -> None:
    for case in vectors("GroupMetadataKey"):
        group_id = case["json"]["group"]
        assert parse_key(stored(case)) == GroupKey(group_id)
        assert group_tombstone(group_id) == (stored(case), None)


@pytest.mark.parametrize("version", [3, 4, 8, 99, -1])
def test_kinds_of_records_that_came_later_are_not_known(version: int) -> None:
    assert parse_key(version.to_bytes(2, "big", signed=True) + b"\0\1g") is None


@pytest.mark.parametrize("key", [None, b"", b"\0", b"\0\1", b"\0\1\0\5ab", b"\0\2\0\1\xff"])
def test_a_key_that_is_cut_off_or_garbled_is_refused(key: bytes | None) -> None:
    with pytest.raises(ProtocolError):
        parse_key(key)


@pytest.mark.parametrize(
    "value",
    [
        b"",
        b"\0",
        b"\0\3",
        b"\0\5" + bytes(22),
        b"\0\3" + bytes(12) + b"\0\2\xff\xff" + bytes(8),  # metadata that is no UTF-8
        b"\0\3" + bytes(12) + b"\xff\xff" + bytes(8),  # metadata of length -1
        b"\0\3" + bytes(12) + b"\0\1a" + bytes(7),
    ],
)
def test_a_value_that_is_cut_off_or_garbled_is_refused(value: bytes) -> None:
    with pytest.raises(ProtocolError):
        check_offset_value(value)
    with pytest.raises(ProtocolError):
        parse_offset_value(value)
