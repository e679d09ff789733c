"""meta.properties as Kafka 3.9.1 writes and reads it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.storage.files import CorruptLog
from ottla.storage.properties import (
    MetaProperties,
    format_meta_properties,
    format_properties,
    parse_meta_properties,
    parse_properties,
)

DIRECTORY_ID = bytes.fromhex("422442481538 44c88c34cd92e3c8f5e0")
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


# In this order Kafka 3.9.1 wrote them.
@pytest.mark.parametrize(
    ("meta", "lines"),
    [
        (MetaProperties(node_id=3), ["broker.id=3", "version=0"]),
        (
            MetaProperties(node_id=3, cluster_id="abc"),
            ["broker.id=3", "version=0", "cluster.id=abc"],
        ),
        (
            MetaProperties(0, 3, "abc", DIRECTORY_ID),
            [
                "broker.id=3",
                "directory.id=QiRCSBU4RMiMNM2S48j14A",
                "version=0",
                "cluster.id=abc",
            ],
        ),
        (MetaProperties(1, 3, "abc"), ["node.id=3", "version=1", "cluster.id=abc"]),
        (
            MetaProperties(1, 3, "abc", DIRECTORY_ID),
            ["node.id=3", "directory.id=QiRCSBU4RMiMNM2S48j14A", "version=1", "cluster.id=abc"],
        ),
    ],
)
def test_keys_come_in_kafkas_order(meta: MetaProperties, lines: list[str]) -> None:
    data = format_meta_properties(meta, now_ms=1_794_779_709_123)
    assert data.decode().split("\n") == ["#", "#Sun Nov 15 21:55:09 UTC 2026", *lines, ""]
    assert parse_meta_properties(data, "x") == meta


def test_unknown_keys_are_kept() -> None:
    meta = parse_meta_properties(b"version=0\nbroker.id=1\nrack=a b\nnode.id=7\n", "x")
    assert meta.others == {"rack": "a b", "node.id": "7"}
    assert parse_meta_properties(format_meta_properties(meta, now_ms=0), "x") == meta


@pytest.mark.parametrize(
    ("text", "meta"),
    [
        ("", MetaProperties()),
        ("broker.id=1\n", MetaProperties(node_id=1)),
        ("version=0\nbroker.id=1\nbroker.id=2\n", MetaProperties(node_id=2)),
        ("version=+0\nbroker.id=-1\n", MetaProperties(node_id=-1)),
        (
            "! c\n  version : 0\nbroker.id   7\ncluster.id=a\\\n    b\\u0041\n",
            MetaProperties(node_id=7, cluster_id="abA"),
        ),
    ],
)
def test_what_kafka_reads_is_read(text: str, meta: MetaProperties) -> None:
    assert parse_meta_properties(text.encode(), "x") == meta


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("version=2\nnode.id=1\n", "version 2"),
        ("version=x\n", "version is not a number"),
        ("version=1\nnode.id=1\n", "cluster.id is missing"),
        ("version=1\ncluster.id=x\n", "node.id is missing"),
        ("broker.id=x\n", "broker.id is not a number"),
        ("broker.id=5 \n", "broker.id is not a number"),
        ("directory.id=zz\n", "16 bytes"),
        ("x=\\u12\n", "broken escape"),
        ("x=\\ud800\n", "surrogate"),
    ],
)
def test_what_kafka_refuses_is_refused(text: str, reason: str) -> None:
    with pytest.raises(CorruptLog, match=reason):
        parse_meta_properties(text.encode(), "meta.properties")


@given(st.dictionaries(TEXT, TEXT, max_size=15))
def test_any_properties_survive(properties: dict[str, str]) -> None:
    assert parse_properties(format_properties(properties, now_ms=0), "x") == properties
