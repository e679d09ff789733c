"""Burrow's rules, row by row, and the window that shows them what was seen."""

from __future__ import annotations

import pytest

from ottla.admin.lag import (
    INTERVALS,
    Commit,
    Observation,
    Status,
    Window,
    judge,
    judge_group,
)

NOW = 100_000


def commits(*offsets: int, end: int = 100, every_ms: int = 10_000) -> list[Commit]:
    """The last one is just now; the partition ends at the same place all the time."""
    first_ms = NOW - every_ms * (len(offsets) - 1)
    return [
        Commit(first_ms + number * every_ms, offset, end - offset)
        for number, offset in enumerate(offsets)
    ]


def judged(seen: list[Commit], *ends: int, now_ms: int = NOW, lag: int | None = None) -> Status:
    current = seen[-1].lag if lag is None else lag
    return judge(seen, end_offsets=ends or (100,), current_lag=current, now_ms=now_ms)


def test_a_partition_without_commits_is_ok() -> None:
    assert judge([], end_offsets=[100], current_lag=100, now_ms=NOW) is Status.OK


def test_too_few_commits_are_ok_where_more_are_asked_for() -> None:
    seen = commits(5, 5, 5, 5, 5)
    half = len(seen) / INTERVALS
    for minimum, status in ((half, Status.STALLED), (half + 0.1, Status.OK)):
        found = judge(seen, end_offsets=[100], current_lag=95, now_ms=NOW, minimum_complete=minimum)
        assert found is status


@pytest.mark.parametrize(("allowed", "status"), [(94, Status.STALLED), (95, Status.OK)])
def test_a_lag_that_is_allowed_is_ok(allowed: int, status: Status) -> None:
    found = judge(commits(5, 5), end_offsets=[100], current_lag=95, now_ms=NOW, allowed_lag=allowed)
    assert found is status


def test_a_consumer_silent_for_longer_than_its_window_has_stopped() -> None:
    seen = commits(10, 20, 30)  # over 20 seconds
    assert judged(seen, now_ms=NOW + 20_000) is Status.OK
    assert judged(seen, now_ms=NOW + 20_001) is Status.STOPPED


def test_a_consumer_that_had_read_everything_has_not_stopped_when_a_record_comes() -> None:
    seen = commits(80, 90, 100)
    assert judged(seen, 100, 100, 101, now_ms=NOW + 50_000, lag=1) is Status.OK
    assert judged(seen, 101, 102, 103, now_ms=NOW + 50_000, lag=1) is Status.STOPPED


def test_stopped_comes_before_rewinding() -> None:
    assert judged(commits(30, 20), now_ms=NOW + 10_001) is Status.STOPPED


@pytest.mark.parametrize(
    ("offsets", "status"),
    [
        ((30, 20), Status.REWINDING),
        ((10, 30, 20, 29), Status.REWINDING),
        ((10, 30, 20, 30), Status.OK),
        ((10, 30, 20, 31, 40), Status.OK),
        ((40, 30, 45, 44), Status.REWINDING),
        ((40, 30, 45, 46), Status.OK),
    ],
)
def test_a_consumer_that_went_back_rewinds_until_it_is_there_again(
    offsets: tuple[int, ...], status: Status
) -> None:
    assert judged(commits(*offsets)) is status


def test_a_consumer_was_well_if_it_had_no_lag_within_the_window() -> None:
    stalled = [Commit(0, 100, 0), Commit(50_000, 100, 10), Commit(NOW, 100, 20)]
    assert judged(stalled) is Status.OK
    assert judged(stalled[1:]) is Status.STALLED


def test_the_same_offset_all_the_time_is_stalled() -> None:
    assert judged(commits(5, 5, 5)) is Status.STALLED


def test_a_lag_that_never_shrinks_is_a_warning() -> None:
    growing = [Commit(0, 10, 50), Commit(50_000, 20, 50), Commit(NOW, 30, 60)]
    assert judged(growing) is Status.WARNING
    growing[1] = Commit(50_000, 20, 49)
    assert judged(growing) is Status.OK


@pytest.mark.parametrize(
    ("partitions", "status"),
    [
        ([], Status.OK),
        ([Status.OK, Status.WARNING], Status.WARNING),
        ([Status.WARNING, Status.STOPPED], Status.ERROR),
        ([Status.STALLED], Status.ERROR),
        ([Status.REWINDING, Status.OK], Status.ERROR),
    ],
)
def test_a_group_is_as_bad_as_its_worst_partition(partitions: list[Status], status: Status) -> None:
    assert judge_group(partitions) is status


def test_the_codes_are_burrows() -> None:
    words = "not found, ok, warning, error, stopped, stalled, rewinding"
    assert ", ".join(status.word for status in sorted(Status)) == words


def watched(*seen: tuple[int, int], is_owned: bool = True) -> Window:
    """(committed, end), a second apart."""
    window = Window()
    for number, (offset, end) in enumerate(seen):
        window.observe(Observation(number * 1000, offset, end, is_owned))
    return window


def test_one_look_accuses_nobody_and_knows_no_rate() -> None:
    window = watched((5, 100), is_owned=False)
    assert window.status() is Status.OK
    assert (window.read_per_s(), window.written_per_s(), window.caught_up_in_s()) == (None,) * 3


@pytest.mark.parametrize(("is_owned", "status"), [(True, Status.STALLED), (False, Status.STOPPED)])
def test_what_does_not_move_is_stalled_with_a_member_and_stopped_without(
    is_owned: bool, status: Status
) -> None:
    assert watched((5, 100), (5, 100), is_owned=is_owned).status() is status


def test_a_consumer_outside_of_the_group_that_commits_has_not_stopped() -> None:
    assert watched((5, 100), (6, 100), (6, 100), is_owned=False).status() is Status.OK


def test_it_is_caught_up_when_it_reads_faster_than_is_written() -> None:
    window = watched((0, 100), (30, 110), (60, 120))
    assert (window.read_per_s(), window.written_per_s()) == (30.0, 10.0)
    assert window.caught_up_in_s() == 3.0
    assert watched((0, 100), (10, 110)).caught_up_in_s() is None
    assert watched((0, 100), (110, 110)).caught_up_in_s() == 0.0


def test_an_end_that_was_asked_before_the_commit_is_no_negative_lag() -> None:
    assert watched((90, 100), (101, 100)).caught_up_in_s() == 0.0


def test_the_window_moves_on() -> None:
    window = watched((99, 99), *[(100, 200)] * INTERVALS)
    assert len(window.observations) == INTERVALS
    assert window.status() is Status.STALLED
