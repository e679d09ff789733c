"""The parameters of an HTTP request, read one by one; what is wrong with them is told together."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import TypeVar

from ottla.network.http import Answer

Value = TypeVar("Value")
_NEAR_ENOUGH = 0.4  # a wrong guess does less harm than none


class Query:
    def __init__(self, parameters: Mapping[str, str]) -> None:
        self._parameters = parameters
        self.mistakes: list[str] = []

    def one_of(self, name: str, known: Mapping[str, Value], default: Value) -> Value:
        """What a parameter's text stands for."""
        if name not in self._parameters:
            return default
        text = self._parameters[name]
        if text not in known:
            self.mistakes.append(f"{name} {text!r} is unknown{_nearest(text, known)}")
        return known.get(text, default)

    def number(self, name: str, default: int, *, at_least: int, at_most: int) -> int:
        text = self._parameters.get(name, str(default))
        try:
            number = int(text)
        except ValueError:
            self.mistakes.append(f"{name} {text!r} is no number")
            return default
        if not at_least <= number <= at_most:
            self.mistakes.append(f"{name} {number} is not between {at_least} and {at_most}")
        return number

    def require(self, name: str) -> None:
        if name not in self._parameters:
            self.mistakes.append(f"{name} is missing")

    def nothing_but(self, *names: str) -> None:
        known = dict.fromkeys(names)
        self.mistakes += [
            f"parameter {name!r} is unknown{_nearest(name, known)}"
            for name in self._parameters
            if name not in known
        ]

    def refusal(self) -> Answer:
        return 400, "text/plain; charset=utf-8", ("; ".join(self.mistakes) + "\n").encode()


def _nearest(text: str, known: Mapping[str, object]) -> str:
    spellings = {name.lower(): name for name in known}
    found = get_close_matches(text.lower(), spellings, n=1, cutoff=_NEAR_ENOUGH)
    return f"; did you mean {spellings[found[0]]}?" if found else f"; known: {', '.join(known)}"
