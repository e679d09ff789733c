"""Java's .properties text, as server.properties is written. Pure but for `read_properties`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ottla.config.option import ConfigError

_LETTERS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_LINE_END = re.compile(r"\r\n|\r|\n")
_PAIR = re.compile(r"((?:\\.|[^\\=: \t\f])*)[ \t\f]*[=:]?[ \t\f]*(.*)", re.DOTALL)
_ESCAPED = re.compile(r"\\(u[0-9A-Fa-f]{4}|.?)", re.DOTALL)


def read_properties(path: str) -> dict[str, str]:
    """A file's properties; ConfigError if it cannot be read."""
    try:
        with open(path, encoding="utf-8") as file:
            return parse_properties(file.read())
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise ConfigError(f"{path} is not a properties file: {error}") from error


def parse_properties(text: str) -> dict[str, str]:
    """ValueError if an escape is broken. Of a key that comes twice the last value counts."""
    properties = {}
    for line in _logical_lines(text):
        match = _PAIR.fullmatch(line)
        assert match is not None  # a key and a value, both of which may be empty
        key, value = (_unescape(part) for part in match.groups())
        properties[key] = value
    return properties


def _logical_lines(text: str) -> Iterator[str]:
    """Lines without comments and blank ones; a backslash at the end joins the next line."""
    begun: str | None = None
    for natural in _LINE_END.split(text):
        line = natural.lstrip(" \t\f")
        if not begun and (not line or line[0] in "#!"):
            begun = None
            continue
        line = (begun or "") + line
        begun = None
        if (len(line) - len(line.rstrip("\\"))) % 2:
            begun = line[:-1]
        else:
            yield line
    if begun:
        yield begun


def _unescape(text: str) -> str:
    def replace(match: re.Match[str]) -> str:
        escaped = match[1]
        if len(escaped) == 5:
            return chr(int(escaped[1:], 16))
        if escaped in ("", "u"):
            raise ValueError(f"a broken escape: {text[:40]!r}")
        return _LETTERS.get(escaped, escaped)

    if "\\" not in text:
        return text
    # Java's characters are UTF-16 units: two escapes may make one of ours.
    units = _ESCAPED.sub(replace, text).encode("utf-16", "surrogatepass")
    try:
        return units.decode("utf-16")
    except UnicodeDecodeError:
        raise ValueError(f"half a surrogate pair: {text[:40]!r}") from None
