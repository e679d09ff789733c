"""A rate is kept on average, in small portions."""

from __future__ import annotations

import pytest

from ottla.admin.pace import Pace


def test_without_a_rate_nobody_waits() -> None:
    assert Pace(None).wait_s(done=1_000_000, elapsed_s=0.0) == 0.0
    assert Pace(None).at_once(500) == 500


def test_who_is_early_waits_and_who_is_late_does_not() -> None:
    pace = Pace(10)
    assert pace.wait_s(done=20, elapsed_s=0.5) == 1.5
    assert pace.wait_s(done=20, elapsed_s=2.0) == 0.0
    assert pace.wait_s(done=20, elapsed_s=9.0) == 0.0


@pytest.mark.parametrize(("rate", "portion"), [(0.5, 1), (9, 1), (100, 10), (100_000, 500)])
def test_portions_are_a_tenth_of_a_second_and_at_least_one(rate: float, portion: int) -> None:
    assert Pace(rate).at_once(500) == portion
