"""Versions of Kafka by their long and short names."""

from __future__ import annotations

import pytest

from ottla.config.versions import full_version, is_version, record_magic


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("2.0", "2.0-IV1"),
        ("2.0.1", "2.0-IV1"),
        ("2.0-IV0", "2.0-IV0"),
        ("0.10.2", "0.10.2-IV0"),
        ("0.10.2.1", "0.10.2-IV0"),
        ("0.9.0", "0.9.0"),
        ("3.9", "3.9-IV0"),
        ("4.0-IV1", "4.0-IV1"),
        ("4.0", None),
        ("2.0-IV7", None),
        ("0.9", None),
        ("", None),
        ("9.9", None),
    ],
)
def test_a_name_stands_for_a_version(text: str, version: str | None) -> None:
    assert full_version(text) == version
    assert is_version(text) == (version is not None)


@pytest.mark.parametrize(
    ("text", "magic"), [("0.8.2", 0), ("0.9.0", 0), ("0.10.1-IV2", 1), ("0.11.0", 2), ("3.0", 2)]
)
def test_a_version_writes_a_record_format(text: str, magic: int) -> None:
    assert record_magic(text) == magic
