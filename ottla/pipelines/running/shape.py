"""What a pipeline's function does to rows, read from Spark's plan of it.

Only a function that makes at most one row of each can be held to account for every record; one that
neither drops nor makes rows is held to the last of them.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from pyspark.sql import DataFrame

# Below these lies the reading, which keeps its own counts.
_READING = {"MapInArrow", "MapInPandas"}
_KEEPS_ROWS = {"Project", "SubqueryAlias", "EventTimeWatermark", "View"}
_STATEFUL = {
    "Aggregate", "Deduplicate", "DeduplicateWithinWatermark", "Join", "TransformWithState",
    "TransformWithStateInPySpark", "FlatMapGroupsInPandasWithState", "GlobalLimit",
}  # fmt: skip


class Shape(StrEnum):
    PRESERVING = "one row for each"
    FILTERING = "at most one row for each"
    FREE = "any number of rows"


def nodes_above_reading(frame: DataFrame) -> list[str]:
    """The names of the plan's nodes that the function made, from the top."""
    found: list[str] = []
    _walk(_plan_of(frame), found)
    return found


def shape_of(nodes: list[str]) -> Shape:
    others = [name for name in nodes if name not in _KEEPS_ROWS]
    if not others:
        return Shape.PRESERVING
    return Shape.FILTERING if all(name == "Filter" for name in others) else Shape.FREE


def stateful(nodes: list[str]) -> list[str]:
    """What keeps state from batch to batch, in the plan's order."""
    return [name for name in nodes if name in _STATEFUL]


def _plan_of(frame: DataFrame) -> Any:
    java: Any = frame._jdf  # Spark's own plan has no door in Python
    return java.queryExecution().analyzed()


def _walk(node: Any, found: list[str]) -> None:
    name = str(node.nodeName())
    if name in _READING:
        return
    found.append(name)
    children = node.children()
    for index in range(children.size()):
        _walk(children.apply(index), found)
