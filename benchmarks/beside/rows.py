"""What stands in the table: a figure, its unit, and what it must reach."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Must:
    """A limit for Ottla's figure, as a multiple of Kafka's or by itself."""

    limit: float
    at_least: bool
    is_ratio: bool = True

    def is_met(self, *, ottla: float, kafka: float | None) -> bool | None:
        """None where there is nothing to compare with."""
        if self.is_ratio and not kafka:
            return None
        value = ottla / kafka if self.is_ratio and kafka else ottla
        return value >= self.limit if self.at_least else value <= self.limit

    def __str__(self) -> str:
        return f"{'>=' if self.at_least else '<='} {self.limit:g}{'x' if self.is_ratio else ''}"


@dataclass(frozen=True, slots=True)
class Row:
    label: str
    unit: str
    must: Must | None = None


def at_least(ratio: float) -> Must:
    return Must(ratio, at_least=True)


def at_most(ratio: float) -> Must:
    return Must(ratio, at_least=False)


def below(value: float) -> Must:
    return Must(value, at_least=False, is_ratio=False)


def above(value: float) -> Must:
    return Must(value, at_least=True, is_ratio=False)
