"""Which log is compacted next, which part of it, and in which groups."""

from __future__ import annotations

from ottla.storage.cleaning_plan import (
    Bound,
    CleanableRange,
    CleaningPlan,
    LogFacts,
    cleanable_range,
    dirtiest,
    group_segments,
    plan_cleaning,
)
from ottla.storage.config import LogConfig
from ottla.storage.retention import SegmentFacts

NOW = 1_000_000
COMPACTED = LogConfig(compacts=True, deletes=False)


def segment(base_offset: int, size_bytes: int = 100, *, written_ms: int = 500) -> SegmentFacts:
    return SegmentFacts(
        base_offset,
        size_bytes,
        modified_ms=written_ms,
        max_timestamp=written_ms,
        first_timestamp=written_ms,
    )


FOUR = (segment(0), segment(10), segment(20), segment(30))


def log(
    segments: tuple[SegmentFacts, ...] = FOUR,
    *,
    checkpoint: int | None = None,
    config: LogConfig = COMPACTED,
    start: int = 0,
    stable: int = 40,
) -> LogFacts:
    return LogFacts(segments, start, 40, stable, checkpoint, config)


def offsets(facts: LogFacts) -> tuple[int, int]:
    found = cleanable_range(facts, now_ms=NOW)
    return found.first_dirty_offset, found.first_uncleanable_offset


def test_a_log_never_compacted_is_dirty_from_its_start_to_the_active_segment() -> None:
    assert cleanable_range(log(), now_ms=NOW)[:5] == (0, 30, Bound.ACTIVE_SEGMENT, 0, 300)


def test_the_checkpoint_divides_clean_from_dirty() -> None:
    found = cleanable_range(log(checkpoint=20), now_ms=NOW)
    assert found[:5] == (20, 30, Bound.ACTIVE_SEGMENT, 200, 100)
    assert found.dirty_ratio == 100 / 300


def test_a_checkpoint_outside_the_log_is_not_believed() -> None:
    assert offsets(log(FOUR[1:], checkpoint=5, start=10)) == (10, 30)
    assert offsets(log(checkpoint=41)) == (0, 30)


def test_it_is_believed_where_the_log_starts_later_for_that_may_not_last() -> None:
    assert offsets(log(checkpoint=5, start=12)) == (5, 30)
    assert offsets(log(start=12)) == (0, 30)


def test_nothing_from_the_segment_of_the_last_stable_offset_on_is_cleanable() -> None:
    found = cleanable_range(log(stable=25), now_ms=NOW)
    assert (found.first_uncleanable_offset, found.bound) == (20, Bound.OPEN_TRANSACTION)
    assert offsets(log(stable=30)) == (0, 30)


def test_a_segment_younger_than_the_lag_ends_what_is_cleanable() -> None:
    young = segment(10, written_ms=NOW - 99)
    config = LogConfig(compacts=True, min_compaction_lag_ms=100)
    found = cleanable_range(log((FOUR[0], young, *FOUR[2:]), config=config), now_ms=NOW)
    assert (found.first_uncleanable_offset, found.bound) == (10, Bound.TOO_YOUNG)
    assert cleanable_range(log(config=config), now_ms=NOW).bound is Bound.ACTIVE_SEGMENT


def test_a_pass_that_stopped_within_a_segment_goes_on_there() -> None:
    assert cleanable_range(log(checkpoint=15), now_ms=NOW)[:5] == (
        15,
        30,
        Bound.ACTIVE_SEGMENT,
        200,  # the segment counts on both sides, as in Kafka
        200,
    )


def test_what_is_dirty_but_too_young_is_not_cleanable_even_within_a_segment() -> None:
    config = LogConfig(compacts=True, min_compaction_lag_ms=NOW)
    found = cleanable_range(log(checkpoint=15, config=config), now_ms=NOW)
    assert found.cleanable_bytes == 0


def test_records_that_waited_too_long_make_a_log_overdue() -> None:
    for lag_ms, overdue_ms in ((NOW - 501, 1), (NOW - 500, 0), (NOW, 0)):
        config = LogConfig(compacts=True, max_compaction_lag_ms=lag_ms)
        assert cleanable_range(log(config=config), now_ms=NOW).overdue_ms == overdue_ms


def choice(**logs: LogFacts) -> str | None:
    return dirtiest({n: (facts, cleanable_range(facts, now_ms=NOW)) for n, facts in logs.items()})


def test_the_dirtiest_log_is_next() -> None:
    assert choice(half=log(checkpoint=20), all=log(), most=log(checkpoint=10)) == "all"


def test_a_log_at_its_ratio_or_below_waits() -> None:
    two = (segment(0), segment(10), segment(20))
    assert choice(exactly_half=log(two, checkpoint=10)) is None
    assert choice(clean=log(checkpoint=30)) is None
    assert choice() is None


def test_an_overdue_log_is_compacted_whatever_its_ratio() -> None:
    config = LogConfig(compacts=True, max_compaction_lag_ms=1, min_cleanable_dirty_ratio=1.0)
    assert choice(overdue=log(checkpoint=20, config=config)) == "overdue"
    assert choice(overdue_but_active=log(checkpoint=30, config=config)) is None


def plan(segments: tuple[SegmentFacts, ...], **config: int) -> CleaningPlan:
    facts = log(segments, config=LogConfig(compacts=True, **config))  # type: ignore[arg-type]
    found = cleanable_range(facts, now_ms=NOW)
    return plan_cleaning(facts, found, aborted=[], active_producers=[], map_bytes=1 << 40)


def bases(groups: list[list[SegmentFacts]]) -> list[list[int]]:
    return [[s.base_offset for s in group] for group in groups]


def test_neighbours_are_grouped_while_they_fit_into_one_segment() -> None:
    assert bases(group_segments(plan(FOUR, segment_bytes=300), end_offset=30)) == [[0, 10, 20]]
    assert bases(group_segments(plan(FOUR, segment_bytes=299), end_offset=30)) == [[0, 10], [20]]
    assert bases(group_segments(plan(FOUR, segment_bytes=50), end_offset=30)) == [[0], [10], [20]]


def test_only_segments_that_the_map_reaches_are_rewritten() -> None:
    assert bases(group_segments(plan(FOUR), end_offset=11)) == [[0, 10]]
    assert bases(group_segments(plan(FOUR), end_offset=10)) == [[0]]


def test_indexes_must_fit_as_well() -> None:
    by_offset = tuple(s._replace(index_bytes=60) for s in FOUR)
    by_time = tuple(s._replace(time_index_bytes=60) for s in FOUR)
    for segments in (by_offset, by_time):
        groups = group_segments(plan(segments, segment_index_bytes=100), end_offset=30)
        assert bases(groups) == [[0], [10], [20]]


def test_offsets_of_a_group_fit_into_its_index() -> None:
    far = 1 << 31
    segments = (segment(0), segment(far - 10), segment(far), segment(far + 10))
    facts = LogFacts(segments, 0, far + 20, far + 20, None, COMPACTED)
    found = cleanable_range(facts, now_ms=NOW)
    made = plan_cleaning(facts, found, aborted=[], active_producers=[], map_bytes=1 << 40)
    assert bases(group_segments(made, end_offset=far + 10)) == [[0, far - 10], [far]]


def test_an_empty_segment_joins_its_group_however_far_it_is() -> None:
    far = 1 << 33
    segments = (segment(0), segment(far, 0), segment(far + 10))
    facts = LogFacts(segments, 0, far + 20, far + 20, None, COMPACTED)
    found = cleanable_range(facts, now_ms=NOW)
    made = plan_cleaning(facts, found, aborted=[], active_producers=[], map_bytes=1 << 40)
    assert bases(group_segments(made, end_offset=far + 10)) == [[0, far]]


def test_the_map_is_no_larger_than_the_dirty_part_can_need() -> None:
    facts = log()
    found = CleanableRange(0, 30, Bound.ACTIVE_SEGMENT, 0, 10_000_000, 0)
    for limit, expected in ((1 << 40, 20_000_000), (5_000_000, 5_000_000)):
        made = plan_cleaning(facts, found, aborted=[], active_producers=[], map_bytes=limit)
        assert made.map_bytes == expected


def test_old_tombstones_are_judged_by_the_last_clean_segment() -> None:
    facts = log(checkpoint=20, config=LogConfig(compacts=True, delete_retention_ms=100))
    found = cleanable_range(facts, now_ms=NOW)
    made = plan_cleaning(facts, found, aborted=[], active_producers=[], map_bytes=1)
    assert made.old_tombstone_limit_ms == 400
    assert plan(FOUR).old_tombstone_limit_ms == 0
