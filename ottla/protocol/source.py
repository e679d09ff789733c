"""A Python function in the making: its lines, and the names they may use."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Source:
    """Lines are added where the indentation stands; `function` compiles them."""

    def __init__(self, **names: Any) -> None:
        self._names: dict[str, Any] = names
        self._lines: list[str] = []
        self._indent = 1
        self._variables = 0

    def line(self, text: str) -> None:
        self._lines.append("    " * self._indent + text)

    @contextmanager
    def block(self, opening: str) -> Iterator[None]:
        """What is added inside belongs to `opening`, an `if` or a `for`."""
        self.line(opening)
        self._indent += 1
        yield
        self._indent -= 1

    def name(self, thing: Any) -> str:
        """A name by which the function knows some object of ours."""
        name = f"k{len(self._names)}"
        self._names[name] = thing
        return name

    def variable(self, prefix: str) -> str:
        """A local, never used twice: a line to come may still speak of an earlier one."""
        self._variables += 1
        return f"{prefix}{self._variables}"

    def function(self, parameters: str, title: str) -> Any:
        code = "\n".join([f"def made({parameters}):", *self._lines])
        exec(compile(code, f"<{title}>", "exec"), self._names)
        return self._names["made"]
