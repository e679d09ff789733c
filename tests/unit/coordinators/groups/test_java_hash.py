"""The partition of a group is Java's choice."""

from __future__ import annotations

import pytest

from ottla.coordinators.groups.java_hash import java_hash, partition_of


@pytest.mark.parametrize(
    ("group_id", "value", "partition"),
    [
        ("", 0, 0),
        ("test", 3556498, 48),
        ("my-group", -1906497762, 12),
        ("console-consumer-12345", 158455506, 6),
        ("grüße", 98768023, 23),
        ("\N{GRINNING FACE}", 1772899, 49),  # two units in UTF-16
        ("polygenelubricants", -(1 << 31), 0),  # whose absolute value Java cannot hold
    ],
)
def test_a_group_is_where_java_puts_it(group_id: str, value: int, partition: int) -> None:
    assert java_hash(group_id) == value
    assert partition_of(group_id, 50) == partition


def test_half_a_surrogate_pair_has_a_hash_too() -> None:
    assert java_hash("\ud83d") == 0xD83D
