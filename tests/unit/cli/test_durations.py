"""Durations as people and Kafka's tools write them, and as they are shown."""

from __future__ import annotations

import pytest
import typer

from ottla.cli.durations import parse_duration, show_duration


@pytest.mark.parametrize(
    ("text", "duration_ms"),
    [
        ("90s", 90_000),
        ("250ms", 250),
        ("1.5h", 5_400_000),
        ("1d12h", 129_600_000),
        ("PT15M", 900_000),
        ("P1DT2H0M1.5S", 93_601_500),
        ("pt1s", 1_000),
    ],
)
def test_both_ways_to_write_are_read(text: str, duration_ms: int) -> None:
    assert parse_duration(text) == duration_ms


@pytest.mark.parametrize("text", ["", "P", "PT", "15", "soon", "1w", "-5m", "5 m"])
def test_what_is_no_duration_is_told(text: str) -> None:
    with pytest.raises(typer.BadParameter, match="is no duration"):
        parse_duration(text)


@pytest.mark.parametrize(
    ("duration_ms", "shown"),
    [
        (0, "0ms"),
        (999, "999ms"),
        (1_000, "1s"),
        (59_999.6, "1m"),
        (192_345, "3m 12s"),
        (7_203_000, "2h"),
        (356_400_000, "4d 3h"),
    ],
)
def test_the_two_largest_units_are_shown(duration_ms: float, shown: str) -> None:
    assert show_duration(duration_ms) == shown
