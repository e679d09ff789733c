"""One line of a dump: the words Kafka's tool prints, and the same facts as values for JSON."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass(slots=True)
class Line:
    """Grows field by field, as Kafka's tool prints it; `kind` tells JSON readers what it is of."""

    kind: str
    text: str = ""
    values: dict[str, object] = field(default_factory=dict)

    def add(self, name: str, value: object, *, text: str | None = None) -> Line:
        """A field; `text` where Kafka shows the value in words of its own."""
        shown = _shown(value) if text is None else text
        self.text += f"{' ' if self.text else ''}{name}: {shown}"
        self.values[name] = value
        return self

    def to_json(self) -> dict[str, object]:
        return {"kind": self.kind, **self.values}


def plain(kind: str, **values: object) -> Line:
    """A line of several fields that need no words of their own."""
    line = Line(kind)
    for name, value in values.items():
        line.add(name, value)
    return line


def java_list(items: Iterable[str]) -> str:
    return f"[{','.join(items)}]"


def optional_long(value: int | None) -> str:
    """Java's OptionalLong, as it prints itself."""
    return "OptionalLong.empty" if value is None else f"OptionalLong[{value}]"


def scala_option(value: int | None) -> str:
    return "None" if value is None else f"Some({value})"


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
