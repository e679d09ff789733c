"""The limit holds over any time, and idling buys only a short burst."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.storage.rate_limit import RateLimit


def test_each_piece_costs_its_share_of_a_second() -> None:
    limit = RateLimit(1_000)
    assert limit.spend(100, now_s=0.0) == 0.1
    assert limit.spend(100, now_s=0.1) == 0.1
    assert limit.spend(100, now_s=0.1) == pytest.approx(0.2)


def test_idling_buys_a_short_burst_and_no_more() -> None:
    limit = RateLimit(1_000)
    limit.spend(1, now_s=0.0)
    assert limit.spend(300, now_s=100.0) == 0.0
    assert limit.spend(100, now_s=100.0) == pytest.approx(0.1)


@given(st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 500)), min_size=1))
def test_the_rate_is_kept_over_any_history(pieces: list[tuple[int, int]]) -> None:
    limit = RateLimit(1_000)
    now_s, spent = 0.0, 0
    for size_bytes, idle_ms in pieces:
        now_s += limit.spend(size_bytes, now_s=now_s)
        spent += size_bytes
        assert spent <= 1_000 * (now_s + 0.3) + 1e-6
        now_s += idle_ms / 1_000
