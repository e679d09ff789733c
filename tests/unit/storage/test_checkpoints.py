"""Small files: what Kafka's readers take is taken, what they refuse is refused with a reason."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ottla.storage.checkpoints import (
    format_clean_shutdown,
    format_leader_epochs,
    format_offsets,
    format_partition_metadata,
    parse_clean_shutdown,
    parse_leader_epochs,
    parse_offsets,
    parse_partition_metadata,
)
from ottla.storage.epochs import EpochEntry
from ottla.storage.files import CorruptLog
from ottla.storage.properties import parse_meta_properties
from ottla.storage.snapshots import parse_snapshot
from ottla.storage.transactions import parse_transaction_index

TOPIC_ID = bytes(range(1, 17))
INT64 = st.integers(-(1 << 63), (1 << 63) - 1)
TOPICS = st.text(alphabet="abcXYZ019._-", min_size=1, max_size=20)
KEYS = st.tuples(TOPICS, st.integers(0, (1 << 31) - 1))


# Each was put to Kafka 3.9.1's LeaderEpochCheckpointFile, with this result.
@pytest.mark.parametrize(
    ("text", "entries"),
    [
        ("", []),
        ("0\n", []),
        ("0\n0\n", []),
        ("0\n1\n2 3\n", [(2, 3)]),
        ("0\n1\n2 3", [(2, 3)]),
        ("0\n1\n2  3\n", [(2, 3)]),
        ("0\n1\n2\t3 \n", [(2, 3)]),
        ("0\r\n1\r\n2 3\r\n", [(2, 3)]),
        ("0\n1\n+2 +3\n", [(2, 3)]),
        ("0\n2\n5 3\n2 9\n", [(5, 3), (2, 9)]),
    ],
)
def test_a_checkpoint_that_kafka_reads_is_read(text: str, entries: list[tuple[int, int]]) -> None:
    assert list(parse_leader_epochs(text.encode(), "x")) == entries


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("0\n2\n2 3\n", 2),
        ("0\n1\n2 3\n4 5\n", 2),
        ("0\n-1\n", 2),
        ("1\n0\n", 0),
        ("x\n", 0),
        (" 0\n0\n", 0),
        ("0\n1\n2 3 4\n", 4),
        ("0\n1\n 2 3\n", 4),
        ("0\n1\n\n2 3\n", 4),
        ("0\n1\n2 3\n\n", 8),
        ("0\n1\n3000000000 3\n", 4),
        ("0\n1\n1_0 3\n", 4),
        ("0\n1\n٣ 3\n", 4),
    ],
)
def test_a_checkpoint_that_kafka_refuses_is_refused(text: str, position: int) -> None:
    with pytest.raises(CorruptLog, match="checkpoint, byte") as refusal:
        parse_leader_epochs(text.encode(), "checkpoint")
    assert refusal.value.position == position


def test_a_negative_epoch_or_offset_is_refused_before_it_reaches_the_epochs() -> None:
    for line in ("-1 3", "1 -3"):
        with pytest.raises(CorruptLog, match="at offset"):
            parse_leader_epochs(f"0\n1\n{line}\n".encode(), "x")


@given(st.dictionaries(KEYS, INT64))
def test_any_offsets_survive(offsets: dict[tuple[str, int], int]) -> None:
    assert parse_offsets(format_offsets(offsets), "x") == offsets


@given(st.lists(st.builds(EpochEntry, st.integers(0, 99), st.integers(0, 1 << 62))))
def test_any_epochs_survive(entries: list[EpochEntry]) -> None:
    assert list(parse_leader_epochs(format_leader_epochs(entries), "x")) == entries


def test_an_offset_without_a_topic_is_refused() -> None:
    with pytest.raises(CorruptLog, match="without a topic"):
        parse_offsets(b"0\n1\n 0 5\n", "x")


@pytest.mark.parametrize("ending", ["", "\n", "==", "\nmore\n"])
def test_what_follows_a_topic_id_does_not_matter(ending: str) -> None:
    data = format_partition_metadata(TOPIC_ID) + ending.encode()
    assert parse_partition_metadata(data, "x") == TOPIC_ID


@pytest.mark.parametrize(
    "text",
    [
        "",
        "version: 0\n",
        "version:0\ntopic_id: QiRCSBU4RMiMNM2S48j14A",
        "version: x\ntopic_id: QiRCSBU4RMiMNM2S48j14A",
        "version: -1\ntopic_id: QiRCSBU4RMiMNM2S48j14A",
        "version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAA",
        "version: 0\ntopic_id: abc",
        "version: 0\ntopic_id: QiRCSBU4RMiMNM2S4 8j14A",
        "version: 0\ntopic_id: QiRCSBU4RMiMNM2S48j14é",
    ],
)
def test_partition_metadata_without_a_topic_id_is_refused(text: str) -> None:
    with pytest.raises(CorruptLog):
        parse_partition_metadata(text.encode(), "x")


@given(st.integers(-1, (1 << 63) - 1))
def test_a_clean_shutdown_keeps_the_broker_epoch(epoch: int) -> None:
    assert parse_clean_shutdown(format_clean_shutdown(epoch), "x") == epoch


def test_a_clean_shutdown_of_another_version_still_tells_its_epoch() -> None:
    # Kafka 3.9.1 reads all three as 5.
    for text in ('{"brokerEpoch":5}', '{"version":1,"brokerEpoch":5}', ' {"brokerEpoch": 5}\n'):
        assert parse_clean_shutdown(text.encode(), "x") == 5


@pytest.mark.parametrize(
    "text",
    ["x", "{}", "[]", "5", "null", '{"brokerEpoch":"5"}', '{"brokerEpoch":true}', "[" * 9999],
)
def test_a_clean_shutdown_that_makes_no_sense_is_refused(text: str) -> None:
    with pytest.raises(CorruptLog):
        parse_clean_shutdown(text.encode(), "x")


PARSERS: list[Callable[[bytes, str], object]] = [
    parse_offsets,
    parse_leader_epochs,
    parse_partition_metadata,
    parse_clean_shutdown,
    parse_meta_properties,
    parse_snapshot,
    parse_transaction_index,
]
PIECES = st.sampled_from(
    [b"0\n", b"1\n", b"topic 0 5", b"\n", b" ", b"version", b": ", b"=", b"\\", b"\\u00", b"{",
     b'"brokerEpoch":', b"cluster.id=x\n", b"\xff", b"\0\1", b"9" * 30, b"broker.id",
     b"directory.id=", b"\\ud800", b"version=1\n"]
)  # fmt: skip


@pytest.mark.parametrize("parse", PARSERS)
@given(data=st.binary(max_size=200) | st.lists(PIECES, max_size=12).map(b"".join))
@example(data=b"")
def test_whatever_the_bytes_only_corrupt_log_is_raised(
    parse: Callable[[bytes, str], object], data: bytes
) -> None:
    refusal = None
    try:
        parse(data, "some/path")
    except CorruptLog as error:
        refusal = error
    assert refusal is None or refusal.path == "some/path"
    assert refusal is None or 0 <= refusal.position <= len(data)
