"""Bytes as people have them at hand: hex digits in any dress, or a file that may be raw or hex."""

from __future__ import annotations

import re

# What may stand between two bytes. `0x` counts only where a word begins, so 100x2 stays a mistake.
_BETWEEN = re.compile(r"(?<![0-9A-Fa-f])0[xX]|[\s:,]")
_NO_DIGIT = re.compile(r"[^0-9A-Fa-f ]")


class HexError(ValueError):
    """Text that is not hex: which character is wrong, or how many digits there are."""


def from_hex(text: str) -> bytes:
    """The bytes that hex digits stand for; white space, commas, colons and `0x` are skipped."""
    spaced = _BETWEEN.sub(lambda found: " " * len(found[0]), text)
    if wrong := _NO_DIGIT.search(spaced):
        raise HexError(f"{wrong[0]!r} at {_place(text, wrong.start())} is not a hex digit")
    digits = spaced.replace(" ", "")
    if len(digits) % 2:
        raise HexError(
            f"{len(digits)} hex digits are an odd number, and two make a byte: "
            "one is missing or one too many"
        )
    return bytes.fromhex(digits)


def from_file(content: bytes) -> bytes:
    """A file's bytes as they are, or what they spell if they are text.

    A frame holds zero bytes, at the least in its size or key, so it never looks like text.
    """
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return content
    is_text = all(character.isprintable() or character.isspace() for character in text)
    return from_hex(text) if is_text else content


def _place(text: str, index: int) -> str:
    if "\n" not in text.strip():
        return f"character {index + 1}"
    line = text.count("\n", 0, index) + 1
    column = index - text.rfind("\n", 0, index)
    return f"line {line}, column {column}"
