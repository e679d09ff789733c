"""Names of folders and files: each is understood, or refused with a reason."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.storage.names import (
    BadName,
    Fate,
    FileName,
    FolderName,
    Kind,
    Stage,
    parse_file_name,
    parse_folder_name,
)

TAG = "0123456789abcdef" * 2
TOPICS = st.text(alphabet="abcXYZ019._-", min_size=1, max_size=249).filter(
    lambda topic: topic not in (".", "..")
)


# As Kafka 3.9.1's UnifiedLog reads them.
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("t-0", FolderName("t", 0)),
        ("my-topic-12", FolderName("my-topic", 12)),
        ("t.x-1", FolderName("t.x", 1)),
        ("t--1", FolderName("t-", 1)),
        ("__cluster_metadata-0", FolderName("__cluster_metadata", 0)),
        (f"t-0.{TAG}-delete", FolderName("t", 0, Fate.DELETE, TAG)),
        (f"a.b-0.{TAG}-future", FolderName("a.b", 0, Fate.FUTURE, TAG)),
        (f"t-0.{TAG}-stray", FolderName("t", 0, Fate.STRAY, TAG)),
    ],
)
def test_a_folder_name_tells_topic_partition_and_fate(name: str, expected: FolderName) -> None:
    assert parse_folder_name(name) == expected
    assert str(expected) == name


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("t", "no partition number"),
        ("t-", "no partition number"),
        ("t-x", "no partition number"),
        ("t-99999999999", "no partition number"),
        ("t-4294967296", "no partition number"),
        (f"ttt.{TAG}-delete", "no partition number"),
        ("-0", "no topic"),
        ("..-0", "no topic"),
        ("t t-0", "no topic"),
        ("t-0-delete", "hexadecimal"),
        ("t-0.zz-future", "hexadecimal"),
        ("", "no partition number"),
    ],
)
def test_a_name_that_no_partition_has_is_refused(name: str, reason: str) -> None:
    with pytest.raises(BadName, match=reason):
        parse_folder_name(name)


def test_a_long_topic_gives_way_when_its_folder_is_deleted() -> None:
    # Kafka 3.9.1 does so too, and leaves 255 characters.
    name = str(FolderName("t" * 249, 0, Fate.DELETE, TAG))
    assert len(name) == 255
    assert name.endswith(f"t-0.{TAG}-delete")
    assert parse_folder_name(name).fate is Fate.DELETE


@given(TOPICS, st.integers(0, (1 << 31) - 1))
def test_any_topic_and_partition_survive(topic: str, partition: int) -> None:
    assert parse_folder_name(str(FolderName(topic, partition))) == (topic, partition, Fate.LIVE, "")


@given(st.integers(0, (1 << 63) - 1), st.sampled_from(Kind), st.sampled_from(Stage))
def test_any_file_of_a_segment_survives(offset: int, kind: Kind, stage: Stage) -> None:
    name = FileName(offset, kind, stage)
    assert parse_file_name(str(name)) == name
    assert len(str(name)) == 20 + len(kind.value) + len(stage.value)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("0.log", "20 digits"),
        ("00000000000000000000", "20 digits"),
        ("leader-epoch-checkpoint", "20 digits"),
        ("٣0000000000000000000.log", "20 digits"),
        ("99999999999999999999.log", "no offset"),
        ("00000000000000000000.txt", "no suffix"),
        ("00000000000000000000.log.old", "no stage"),
    ],
)
def test_a_name_that_no_segment_has_is_refused(name: str, reason: str) -> None:
    with pytest.raises(BadName, match=reason):
        parse_file_name(name)
