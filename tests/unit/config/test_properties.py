"""Java's properties text, with its comments, continuations and escapes."""

from __future__ import annotations

from pathlib import Path

import pytest

from ottla.config.option import ConfigError
from ottla.config.properties import parse_properties, read_properties


@pytest.mark.parametrize(
    ("text", "properties"),
    [
        ("a=1\nb: 2\nc 3\n", {"a": "1", "b": "2", "c": "3"}),
        ("# no\n ! no\n\na=1 # yes\n", {"a": "1 # yes"}),
        ("a=1,\\\n    2,\\\r\n\t3", {"a": "1,2,3"}),
        ("a = 1 \n", {"a": "1 "}),
        ("a=1\na=2", {"a": "2"}),
        ("alone\nempty=", {"alone": "", "empty": ""}),
        ("a\\ b\\=c=d=e:f", {"a b=c": "d=e:f"}),
        ("a=tab\\tline\\nslash\\\\other\\q", {"a": "tab\tline\nslash\\otherq"}),
        ("a=\\u00e9\\uD83D\\uDE00é", {"a": "é😀é"}),
        ("a=one\\\\\nb=2", {"a": "one\\", "b": "2"}),
        ("a=1\\", {"a": "1"}),
    ],
)
def test_a_text_is_read_as_java_reads_it(text: str, properties: dict[str, str]) -> None:
    assert parse_properties(text) == properties


def test_a_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "server.properties"
    path.write_text("broker.id=7\n", encoding="utf-8")
    assert read_properties(str(path)) == {"broker.id": "7"}


@pytest.mark.parametrize("content", [b"a=\\u12\n", b"a=\xff\n", b"a=\\uD83D\n"])
def test_a_broken_file_is_named(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "server.properties"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match=r"server\.properties is not a properties file"):
        read_properties(str(path))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"none\.properties cannot be read: No such file"):
        read_properties(str(tmp_path / "none.properties"))
