"""What is wrong with a declaration: where, what, and how to put it right."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Mistake(NamedTuple):
    place: str  # file and line, pipeline and part
    sentence: str
    fix: str

    def __str__(self) -> str:
        return f"{self.place}: {self.sentence}; {self.fix}" if self.place else self.sentence


class Mistakes(Exception):
    """All at once."""

    def __init__(self, mistakes: Sequence[Mistake]) -> None:
        super().__init__("\n".join(map(str, mistakes)))
        self.mistakes = list(mistakes)


def nearest(word: str, known: Iterable[str]) -> str:
    """The fix for a word that nobody knows."""
    names = list(known)
    close = difflib.get_close_matches(word, names, n=1)
    return f"did you mean {close[0]}?" if close else f"there are: {', '.join(names)}"
