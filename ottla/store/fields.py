"""JSON as Kafka writes it into a node, byte for byte, and the fields read from it (pure)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, TypeVar

from ottla.store.port import StoreError

T = TypeVar("T")

_SHOWN = 200
# Kafka's writer escapes with capital digits, and also what does not fit into 16 bits.
_DIFFERENT = re.compile(r"\\(?:u[0-9a-f]{4}|.)|[\U00010000-\U0010ffff]")


class MalformedNode(StoreError):
    """A node holds something else than its place demands."""

    def __init__(self, path: str, data: bytes, reason: str) -> None:
        shown = repr(data[:_SHOWN])[1:] + ("..." if len(data) > _SHOWN else "")
        super().__init__(f"{path}: {reason} in {shown}")
        self.path = path


def encode_json(value: Mapping[str, object]) -> bytes:
    # Any mapping will do, not only a dict.
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=dict)
    return _DIFFERENT.sub(_as_kafka, text).encode()


def _as_kafka(match: re.Match[str]) -> str:
    found = match.group()
    if found[0] != "\\":
        halves = found.encode("utf-16-be").hex().upper()
        return f"\\u{halves[:4]}\\u{halves[4:]}"
    return "\\u" + found[2:].upper() if len(found) > 2 else found


def decode_number(data: bytes, path: str) -> int:
    """A node that is nothing but a number in digits."""
    try:
        return int(data.decode("ascii"))
    except ValueError:
        raise MalformedNode(path, data, "no number") from None


class Fields:
    """The fields of a JSON object; one that is missing or of another type is an error."""

    def __init__(self, data: bytes, path: str, value: object = None) -> None:
        self._data = data
        self._path = path
        if value is None:
            try:
                value = json.loads(data)
            except (ValueError, RecursionError) as error:
                raise self.malformed(f"no JSON ({error})") from None
        if not isinstance(value, dict):
            raise self.malformed(f"{type(value).__name__} instead of an object")
        self._values: dict[str, Any] = value

    def malformed(self, reason: str) -> MalformedNode:
        return MalformedNode(self._path, self._data, reason)

    def version(self, *, oldest: int, newest: int) -> int:
        version = self.number("version")
        if not oldest <= version <= newest:
            raise self.malformed(f"version {version}, not {oldest} to {newest},")
        return version

    def number(self, name: str, default: int | None = None) -> int:
        return self._number(self._get(name, default), name)

    def number_in_text(self, name: str) -> int:
        text = self.text(name)
        try:
            return int(text)
        except ValueError:
            raise self.malformed(f'no number as "{name}"') from None

    def text(self, name: str) -> str:
        return self._of_type(str, self._get(name), name)

    def optional_text(self, name: str) -> str | None:
        return None if self._values.get(name) is None else self.text(name)

    def numbers(self, name: str) -> tuple[int, ...]:
        return self._numbers(self._get(name), name)

    def texts(self, name: str) -> tuple[str, ...]:
        return tuple(self._of_type(str, value, name) for value in self._list(self._get(name), name))

    def objects(self, name: str) -> list[Fields]:
        found = [self._of_type(dict, value, name) for value in self._list(self._get(name), name)]
        return [Fields(self._data, self._path, value) for value in found]

    def texts_by_name(self, name: str) -> dict[str, str]:
        found = self._of_type(dict, self._get(name), name)
        return {key: self._of_type(str, value, name) for key, value in found.items()}

    def numbers_by_number(
        self, name: str, default: dict[str, object] | None = None
    ) -> dict[int, tuple[int, ...]]:
        found = self._of_type(dict, self._get(name, default), name)
        try:
            return {int(key): self._numbers(value, name) for key, value in found.items()}
        except ValueError:
            raise self.malformed(f'something else than numbers as "{name}"') from None

    def levels(self, name: str) -> dict[str, dict[str, int]]:
        """Numbers by name, by name."""
        found = self._of_type(dict, self._get(name, {}), name)
        return {
            outer: {
                inner: self._number(level, name)
                for inner, level in self._of_type(dict, levels, name).items()
            }
            for outer, levels in found.items()
        }

    def _get(self, name: str, default: object = None) -> object:
        value = self._values.get(name, default)
        if value is None:
            raise self.malformed(f'no "{name}"')
        return value

    def _of_type(self, kind: type[T], value: object, name: str) -> T:
        if not isinstance(value, kind):
            raise self.malformed(f'{type(value).__name__} instead of {kind.__name__} as "{name}"')
        return value

    def _number(self, value: object, name: str) -> int:
        if isinstance(value, bool):  # which Python takes for a number
            raise self.malformed(f'bool instead of int as "{name}"')
        return self._of_type(int, value, name)

    def _list(self, value: object, name: str) -> list[object]:
        return self._of_type(list, value, name)

    def _numbers(self, value: object, name: str) -> tuple[int, ...]:
        return tuple(self._number(number, name) for number in self._list(value, name))
