"""Records of the internal topics in words, whatever is in them."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.logtools import decoders, old_decoders
from ottla.logtools.decoders import ToolStops
from ottla.protocol.codec import encode
from ottla.protocol.internal.consumer_group import (
    ConsumerGroupMetadataKey,
    ConsumerGroupMetadataValue,
)
from ottla.protocol.internal.group_metadata import (
    GroupMetadataKey,
    GroupMetadataValue,
    MemberMetadata,
)
from ottla.protocol.internal.offset_commit import OffsetCommitKey, OffsetCommitValue
from ottla.protocol.internal.transaction_log import TransactionLogKey, TransactionLogValue
from ottla.protocol.records.record import Record
from ottla.protocol.schema import Message


def stored(message: Message, version: int) -> bytes:
    return version.to_bytes(2, "big") + encode(message, version)


COMMIT_KEY = stored(OffsetCommitKey(group="g", topic="t", partition=3), 1)
COMMIT = stored(OffsetCommitValue(offset=9, metadata="m", commit_timestamp=5), 3)
GROUP_KEY = stored(GroupMetadataKey(group="g"), 2)


def group(protocol_type: str, assignment: bytes) -> bytes:
    member = MemberMetadata(
        member_id="m",
        client_id="c",
        client_host="/h",
        session_timeout=1,
        subscription=b"\1",
        assignment=assignment,
    )
    value = GroupMetadataValue(
        protocol_type=protocol_type, generation=1, protocol="p", leader="m", members=[member]
    )
    return stored(value, 2)


def shown(record: Record) -> tuple[str | None, str | None]:
    key, value = decoders.offsets(record)
    return key and key.text, value and value.text


def test_a_deletion_is_a_word() -> None:
    key = '{"type":"1","data":{"group":"g","topic":"t","partition":3}}'
    assert shown(Record(0, 0, COMMIT_KEY, None)) == (key, "<DELETE>")


def test_a_group_of_kip_848_is_shown() -> None:
    key = stored(ConsumerGroupMetadataKey(group_id="g"), 3)
    value = stored(ConsumerGroupMetadataValue(epoch=4), 0)
    assert shown(Record(0, 0, key, value)) == (
        '{"type":"3","data":{"groupId":"g"}}',
        '{"version":"0","data":{"epoch":4}}',
    )


def test_a_kind_that_is_not_known_is_passed_over() -> None:
    record = Record(7, 0, b"\0\x63abc", b"")
    assert shown(record) == ("Unknown record type 99 at offset 7, skipping.", None)


@pytest.mark.parametrize(("key", "value"), [(None, b""), (b"\0", b""), (COMMIT_KEY, b"\0\1\0")])
def test_what_cannot_be_read_is_passed_over(key: bytes | None, value: bytes) -> None:
    text, nothing = shown(Record(7, 0, key, value))
    assert text is not None
    assert text.startswith("Error at offset 7, skipping. ")
    assert nothing is None


def test_members_of_another_protocol_keep_their_bytes() -> None:
    _, value = decoders.offsets(Record(0, 0, GROUP_KEY, group("connect", b"\0\1")))
    assert value is not None
    [member] = json.loads(value.text)["data"]["members"]
    assert (member["subscription"], member["assignment"]) == ("AQ==", "AAE=")


def test_members_whose_bytes_are_no_consumers_keep_them() -> None:
    _, value = decoders.offsets(Record(0, 0, GROUP_KEY, group("consumer", b"\0")))
    assert value is not None
    [member] = json.loads(value.text)["data"]["members"]
    assert member["assignment"] == "AA=="


def test_kafka_2_0_shows_a_commit_with_its_metadata() -> None:
    key, value = old_decoders.offsets(Record(0, 0, COMMIT_KEY, COMMIT))
    assert (key.text, value.text) == ("offset::g:t:3", "9:m")


def test_kafka_2_0_shows_foreign_assignments_in_hex() -> None:
    _, value = old_decoders.offsets(Record(0, 0, GROUP_KEY, group("connect", b"\xab\1")))
    assert json.loads(value.text)["assignment"] == "{m=AB01}"


@pytest.mark.parametrize(
    ("key", "value"),
    [(COMMIT_KEY, None), (b"\0\x63", b"\0\0"), (GROUP_KEY, group("consumer", b""))],
)
def test_kafka_2_0_stops_at_what_it_cannot_decode(key: bytes, value: bytes | None) -> None:
    with pytest.raises(ToolStops):
        old_decoders.offsets(Record(0, 0, key, value))


TRANSACTION_KEY = stored(TransactionLogKey(transactional_id="tx"), 0)


def test_a_state_that_has_no_name_is_a_number() -> None:
    value = TransactionLogValue(
        producer_id=1,
        producer_epoch=0,
        transaction_timeout_ms=2,
        transaction_status=44,
        transaction_partitions=None,
        transaction_last_update_timestamp_ms=3,
        transaction_start_timestamp_ms=4,
    )
    _, shown_value = decoders.transactions(Record(0, 0, TRANSACTION_KEY, stored(value, 0)))
    assert shown_value is not None
    assert "state=44,partitions=[]," in shown_value.text


def test_a_forgotten_transactional_id_is_a_deletion() -> None:
    record = Record(0, 0, TRANSACTION_KEY, None)
    for decode in (decoders.transactions, old_decoders.transactions):
        key, value = decode(record)
        assert key is not None
        assert value is not None
        assert key.text.endswith("transactionalId=tx")
        assert value.text == "<DELETE>"


@given(key=st.none() | st.binary(max_size=40), value=st.none() | st.binary(max_size=80))
def test_any_bytes_are_survived(key: bytes | None, value: bytes | None) -> None:
    record = Record(0, 0, key, value)
    for decode in (decoders.as_text, decoders.offsets, decoders.transactions):
        decode(record)
    for decode in (old_decoders.offsets, old_decoders.transactions):
        with suppress(ToolStops):
            decode(record)
