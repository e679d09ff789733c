"""Whose records somebody asked for, and what to say if there are none."""

from __future__ import annotations

from collections.abc import Sequence

from ottla.logtools.explained_record import ExplainedRecord
from ottla.logtools.key_text import KeyText

_MOST_REMEMBERED = 50_000


class KeyChoice:
    """Keys by name or by their bytes; without any, every record is chosen."""

    def __init__(self, *, names: Sequence[str] = (), keys: Sequence[bytes] = ()) -> None:
        self.is_single = len(names) + len(keys) == 1
        self._names = names
        self._keys = keys
        wanted: list[str | bytes] = [*names, *keys]
        self._found = dict.fromkeys(wanted, False)
        # Of every key met, whether it is wanted; not of all in a log with very many.
        self._known: dict[bytes, bool] = {}

    def takes(self, record: ExplainedRecord, text: KeyText) -> bool:
        if not self._found:
            return True
        key = record.key
        if key is None:
            return False
        known = self._known.get(key)
        if known is None:
            known = self._is_wanted(key, text)
            if len(self._known) < _MOST_REMEMBERED:
                self._known[key] = known
        return known

    def _is_wanted(self, key: bytes, text: KeyText) -> bool:
        called: list[str | bytes] = [name for name in self._names if text.is_called(key, name)]
        called += [wanted for wanted in self._keys if wanted == key]
        for wanted in called:
            self._found[wanted] = True
        return bool(called)

    def missing(self, text: KeyText) -> list[str]:
        """A sentence for each that was not met, with keys that look like it."""
        sentences = []
        for wanted, found in self._found.items():
            if found:
                continue
            name = wanted if isinstance(wanted, str) else text.text(wanted)
            near = text.nearest(name, list(self._known))
            hint = f" Near are {', '.join(near)}." if near else ""
            sentences.append(f"no record has the key {name}.{hint}")
        return sentences
