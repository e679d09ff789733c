"""What a tool found wrong: where, how bad, and what to do about it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import Enum


class Severity(Enum):
    """ERROR: data is damaged or will not be found. WARNING: worth a look. NOTE: harmless."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Finding:
    """`position` is a byte of the file, a line of a text file, or None for the file as a whole."""

    severity: Severity
    file: str
    position: int | None
    what: str
    fix: str

    def to_json(self) -> dict[str, object]:
        return {**asdict(self), "severity": self.severity.value}

    def __str__(self) -> str:
        where = self.file if self.position is None else f"{self.file}, at {self.position}"
        return f"{where}: {self.what}. {self.fix}"


def error(file: str, position: int | None, what: str, fix: str) -> Finding:
    return Finding(Severity.ERROR, file, position, what, fix)


def warning(file: str, position: int | None, what: str, fix: str) -> Finding:
    return Finding(Severity.WARNING, file, position, what, fix)


def note(file: str, position: int | None, what: str, fix: str = "Nothing to do.") -> Finding:
    return Finding(Severity.NOTE, file, position, what, fix)
