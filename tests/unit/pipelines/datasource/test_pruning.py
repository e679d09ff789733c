"""What a query's conditions leave to be read."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from pyspark.sql.datasource import (
    EqualTo,
    Filter,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    IsNotNull,
    LessThan,
    LessThanOrEqual,
    Not,
    StringContains,
    StringStartsWith,
)

from ottla.pipelines.datasource.pruning import Conditions

PLACES = [("eu-orders", 0), ("eu-orders", 1), ("us-orders", 0), ("us-orders", 1)]
TOPIC, PARTITION, OFFSET, TIMESTAMP = ("topic",), ("partition",), ("offset",), ("timestamp",)


def left(*filters: Filter) -> list[int]:
    return [number for number, at in enumerate(PLACES) if Conditions(filters).allow(at)]


@pytest.mark.parametrize(
    ("condition", "places"),
    [
        (EqualTo(PARTITION, 1), [1, 3]),
        (In(PARTITION, (0, 7)), [0, 2]),
        (GreaterThan(PARTITION, 0), [1, 3]),
        (GreaterThanOrEqual(PARTITION, 1), [1, 3]),
        (LessThan(PARTITION, 1), [0, 2]),
        (LessThanOrEqual(PARTITION, 0), [0, 2]),
        (EqualTo(TOPIC, "us-orders"), [2, 3]),
        (StringStartsWith(TOPIC, "eu"), [0, 1]),
        (Not(EqualTo(TOPIC, "us-orders")), [0, 1, 2, 3]),
        (StringContains(TOPIC, "nowhere"), [0, 1, 2, 3]),
        (IsNotNull(TOPIC), [0, 1, 2, 3]),
        (EqualTo(("headers", "topic"), "x"), [0, 1, 2, 3]),
        (EqualTo(("value",), b"1"), [0, 1, 2, 3]),
    ],
)
def test_places_are_left_out_only_if_no_row_of_them_is_wanted(
    condition: Filter, places: list[int]
) -> None:
    assert left(condition) == places


def test_all_conditions_hold_at_once() -> None:
    assert left(EqualTo(TOPIC, "us-orders"), EqualTo(PARTITION, 1)) == [3]


@pytest.mark.parametrize(
    ("condition", "offsets"),
    [
        (EqualTo(OFFSET, 15), (15, 16)),
        (In(OFFSET, (12, 18)), (12, 19)),
        (GreaterThan(OFFSET, 12), (13, 20)),
        (GreaterThanOrEqual(OFFSET, 12), (12, 20)),
        (LessThan(OFFSET, 12), (10, 12)),
        (LessThanOrEqual(OFFSET, 12), (10, 13)),
        (LessThan(OFFSET, 99), (10, 20)),
        (GreaterThan(OFFSET, 99), (100, 100)),
        (Not(EqualTo(OFFSET, 15)), (10, 20)),
    ],
)
def test_offsets_are_narrowed(condition: Filter, offsets: tuple[int, int]) -> None:
    assert Conditions((condition,)).offsets(10, 20) == offsets


def test_a_time_says_where_to_start_and_never_where_to_end() -> None:
    time = datetime(2026, 1, 31, 8, 0, 0, 1500, tzinfo=UTC)
    after = Conditions((GreaterThan(TIMESTAMP, time), LessThan(TIMESTAMP, time)))
    assert after.since_ms() == 1_769_846_400_001
    assert Conditions((LessThan(TIMESTAMP, time),)).since_ms() is None
