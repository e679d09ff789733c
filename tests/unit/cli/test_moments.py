"""Times as people write them."""

from __future__ import annotations

import pytest
import typer

from ottla.cli.moments import parse_moment, show_moment


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("1700000000000", 1_700_000_000_000),
        ("2023-11-14T22:13:20Z", 1_700_000_000_000),
        ("2023-11-14 22:13:20.5", 1_700_000_000_500),
        ("2023-11-15T00:13:20+02:00", 1_700_000_000_000),
        ("1970-01-02", 86_400_000),
    ],
)
def test_a_time_is_milliseconds_or_a_date(text: str, moment: int) -> None:
    assert parse_moment(text) == moment


def test_what_is_no_time_is_told_how_one_looks() -> None:
    with pytest.raises(typer.BadParameter, match=r"'noon' is no time: .* 2026-01-31T12:00:00Z"):
        parse_moment("noon")


def test_a_time_is_shown_as_it_can_be_given() -> None:
    assert parse_moment(show_moment(1_700_000_000_123)) == 1_700_000_000_123
