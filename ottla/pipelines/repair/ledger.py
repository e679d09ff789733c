"""A pipeline's ledger: what each batch read, let pass and wrote, and which losses were accepted.

A batch is a file of its own until a hundred of them are made one: that one is written, then they
are deleted. What is found in both is the same, and a batch that is recorded again counts.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterator
from typing import Any

from ottla.pipelines.folder import Folder
from ottla.pipelines.repair.entry import AcceptedLoss, Entry

_ROLLED = 100  # batches in one file
_BATCHES = "batches"
_HUNDREDS = "hundreds"
_LOSSES = "losses"
_FOREVER_MS = 2**63
Told = dict[int, dict[str, Any]]  # entries as JSON, by batch


class Ledger:
    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._has_looked = False

    def record(self, entry: Entry) -> None:
        """As often as the batch is repeated."""
        self._folder.write(f"{_BATCHES}/{entry.batch}.json", _line(entry.to_json()))
        # Also at the first batch of a run: the one before may have died while it rolled.
        if entry.batch % _ROLLED == 0 or not self._has_looked:
            self._roll(before=entry.batch // _ROLLED)
            self._has_looked = True

    def entries(self, from_ms: int = 0, to_ms: int = _FOREVER_MS) -> Iterator[Entry]:
        """Of batches that began in that time, in their order; also while others are recorded."""
        hundreds = self._hundreds()
        # Batches begin in the order of their numbers, so that older files need not be read.
        first = bisect_right(hundreds, from_ms, key=self._began_ms) - 1
        for hundred in hundreds[max(0, first) :]:
            for _, told in sorted(self._read(hundred).items()):
                if from_ms <= told["began_ms"] < to_ms:
                    yield Entry.from_json(told)

    def newest_first(self) -> Iterator[Entry]:
        for hundred in reversed(self._hundreds()):
            for _, told in sorted(self._read(hundred).items(), reverse=True):
                yield Entry.from_json(told)

    def record_loss(self, accepted: AcceptedLoss) -> None:
        name = f"{_LOSSES}/{accepted.at_ms}.json"
        self._folder.write(name, _line(accepted.to_json()))

    def accepted_losses(self) -> list[AcceptedLoss]:
        found = (self._folder.read(f"{_LOSSES}/{name}") for name in self._folder.names(_LOSSES))
        losses = [AcceptedLoss.from_json(json.loads(data)) for data in found if data is not None]
        return sorted(losses, key=lambda accepted: accepted.at_ms)

    def _roll(self, *, before: int) -> None:
        alone = self._numbers(_BATCHES)
        hundreds = dict.fromkeys(batch // _ROLLED for batch in alone if batch // _ROLLED < before)
        for hundred in hundreds:
            lines = b"".join(_line(told) for _, told in sorted(self._read(hundred).items()))
            # Not written a second time: not every folder can replace a file in one step.
            if lines != self._folder.read(_rolled(hundred)):
                self._folder.write(_rolled(hundred), lines)
            for batch in alone:
                if batch // _ROLLED == hundred:
                    self._folder.delete(f"{_BATCHES}/{batch}.json")

    def _read(self, hundred: int) -> Told:
        """First the single files: when one has gone meanwhile, it is in the other already."""
        alone: Told = {}
        for batch in self._numbers(_BATCHES):
            if batch // _ROLLED == hundred:
                alone |= _told(self._folder.read(f"{_BATCHES}/{batch}.json"))
        return {**_told(self._folder.read(_rolled(hundred))), **alone}

    def _hundreds(self) -> list[int]:
        alone = [batch // _ROLLED for batch in self._numbers(_BATCHES)]
        return sorted(dict.fromkeys([*alone, *self._numbers(_HUNDREDS)]))

    def _began_ms(self, hundred: int) -> int:
        return min((told["began_ms"] for told in self._read(hundred).values()), default=0)

    def _numbers(self, under: str) -> list[int]:
        stems = [name.partition(".")[0] for name in self._folder.names(under)]
        return sorted(int(stem) for stem in stems if stem.isdecimal())


def _rolled(hundred: int) -> str:
    return f"{_HUNDREDS}/{hundred}.jsonl"


def _line(told: dict[str, Any]) -> bytes:
    return json.dumps(told, separators=(",", ":")).encode() + b"\n"


def _told(lines: bytes | None) -> Told:
    entries = [json.loads(line) for line in (lines or b"").splitlines()]
    return {told["batch"]: told for told in entries}
