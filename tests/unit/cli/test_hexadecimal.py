"""Hex in every dress that people paste, and what the rest is told."""

from __future__ import annotations

import pytest

from ottla.cli.hexadecimal import HexError, from_file, from_hex


@pytest.mark.parametrize(
    "text",
    [
        "0012abCD",
        "00 12 ab cd",
        "00:12:ab:cd",
        "0x0012abcd",
        "0x00 0x12 0XAB 0xcd",
        "0x00,0x12,0xab,0xcd",
        "0012\n  ab\tcd\r\n",
        "0 0 1 2 a b c d",
    ],
)
def test_hex_in_any_dress_is_the_same_bytes(text: str) -> None:
    assert from_hex(text) == b"\x00\x12\xab\xcd"


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("00g2", "'g' at character 3"),
        ("0x00 1-2", "'-' at character 7"),
        ("100x20", "'x' at character 4"),
        ("0012\n0z", "'z' at line 2, column 2"),
        ("0012\n\n…", "'…' at line 3, column 1"),
    ],
)
def test_what_is_no_digit_is_named_with_its_place(text: str, place: str) -> None:
    with pytest.raises(HexError, match="is not a hex digit") as mistake:
        from_hex(text)
    assert place in str(mistake.value)


def test_an_odd_number_of_digits_is_refused() -> None:
    with pytest.raises(HexError, match="3 hex digits are an odd number"):
        from_hex("0x00 1")


def test_nothing_is_no_bytes() -> None:
    assert from_hex(" \n") == b""


def test_a_file_of_hex_is_what_it_spells() -> None:
    assert from_file(b"0012\n0004\n") == b"\x00\x12\x00\x04"


@pytest.mark.parametrize("content", [b"\x00\x12\x00\x04", b"ab\xffcd", b"12\x0034"])
def test_any_other_file_is_taken_as_it_is(content: bytes) -> None:
    assert from_file(content) == content


def test_a_file_of_other_text_is_refused_as_hex() -> None:
    with pytest.raises(HexError, match="'h' at character 1"):
        from_file(b"hello")
