"""How the keys of a topic are shown and named: as text, decoded if the topic is an internal one."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

from ottla.logtools import decoders
from ottla.protocol.records.record import Record

_DECODERS = {
    "__consumer_offsets": decoders.offsets,
    "__transaction_state": decoders.transactions,
}
_NEAREST = 3


class KeyText:
    """The keys of one topic; None if its name is not known."""

    def __init__(self, topic: str | None) -> None:
        self._decode = _DECODERS.get(topic or "")

    def decoded(self, key: bytes) -> dict[str, object] | None:
        """The fields of an internal topic's key; None where the bytes are all there is."""
        if self._decode is None:
            return None
        shown = self._decode(Record(0, 0, key, None))[0]
        value = shown.value if shown is not None else None
        return value if isinstance(value, dict) and "note" not in value else None

    def text(self, key: bytes | None) -> str:
        if key is None:
            return "(no key)"
        decoded = self.decoded(key)
        if decoded is not None:
            return " ".join(f"{name}={value}" for name, value in _fields(decoded))
        try:
            return key.decode() or "(empty)"
        except UnicodeDecodeError:
            return f"0x{key.hex()}"

    def json(self, key: bytes | None) -> object:
        """The decoded fields, the text, or null if the bytes are no text."""
        if key is None:
            return None
        decoded = self.decoded(key)
        if decoded is not None:
            return decoded
        try:
            return key.decode()
        except UnicodeDecodeError:
            return None

    def is_called(self, key: bytes, name: str) -> bool:
        """Whether `name` is the key; of an internal topic's key, one field is name enough."""
        if key == name.encode():
            return True
        decoded = self.decoded(key)
        if decoded is None:
            return False
        return name == self.text(key) or any(name == value for _, value in _fields(decoded))

    def nearest(self, name: str, keys: list[bytes]) -> list[str]:
        texts = {self.text(key): None for key in keys}
        return get_close_matches(name, texts, _NEAREST, cutoff=0.5)


def _fields(decoded: dict[str, object]) -> Iterator[tuple[str, object]]:
    for name, value in decoded.items():
        if isinstance(value, dict):
            yield from value.items()
        else:
            yield name, value
