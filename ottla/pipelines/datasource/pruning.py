"""What a query's conditions leave to be read. Spark applies them all again to what is read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from math import floor
from typing import Any

from pyspark.sql.datasource import (
    EqualNullSafe,
    EqualTo,
    Filter,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    LessThan,
    LessThanOrEqual,
    StringStartsWith,
)

from ottla.pipelines.datasource.offsets import Place


@dataclass(frozen=True, slots=True)
class Conditions:
    """Those that are of use here: on topic, partition, offset and timestamp."""

    filters: tuple[Filter, ...] = ()

    def allow(self, place: Place) -> bool:
        topic, partition = place
        return all(
            _allows(each, topic if each.attribute == ("topic",) else partition)
            for each in self._on("topic", "partition")
        )

    def offsets(self, start: int, end: int) -> tuple[int, int]:
        """The part of a range in which all that may be wanted lies."""
        for each in self._on("offset"):
            match each:
                case EqualTo(_, value) | EqualNullSafe(_, value) if isinstance(value, int):
                    start, end = max(start, value), min(end, value + 1)
                case In(_, values) if values and all(isinstance(one, int) for one in values):
                    start, end = max(start, min(values)), min(end, max(values) + 1)
                case GreaterThan(_, value):
                    start = max(start, value + 1)
                case GreaterThanOrEqual(_, value):
                    start = max(start, value)
                case LessThan(_, value):
                    end = min(end, value)
                case LessThanOrEqual(_, value):
                    end = min(end, value + 1)
        return start, max(start, end)

    def since_ms(self) -> int | None:
        """No record of before is wanted. There is no such end: times need not be in order."""
        lowest = [
            each.value
            for each in self._on("timestamp")
            if isinstance(each, EqualTo | EqualNullSafe | GreaterThan | GreaterThanOrEqual)
            and isinstance(each.value, datetime)
        ]
        return floor(max(lowest).timestamp() * 1000) if lowest else None

    def _on(self, *names: str) -> Iterable[Any]:
        for each in self.filters:
            if getattr(each, "attribute", None) in [(name,) for name in names]:
                yield each


def _allows(condition: Filter, value: Any) -> bool:
    """True, too, where a condition is of a kind that we do not know."""
    match condition:
        case EqualTo(_, wanted) | EqualNullSafe(_, wanted):
            return bool(value == wanted)
        case In(_, wanted):
            return value in wanted
        case StringStartsWith(_, wanted):
            return str(value).startswith(wanted)
        case GreaterThan(_, wanted):
            return bool(value > wanted)
        case GreaterThanOrEqual(_, wanted):
            return bool(value >= wanted)
        case LessThan(_, wanted):
            return bool(value < wanted)
        case LessThanOrEqual(_, wanted):
            return bool(value <= wanted)
        case _:
            return True
