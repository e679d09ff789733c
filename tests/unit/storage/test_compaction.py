"""Compaction keeps what it must, byte for byte where it can, and explains the rest."""

from __future__ import annotations

from hypothesis import given

from tests.unit.storage.compacted_log import (
    RETENTION_MS,
    TINY,
    WrittenLog,
    compact,
    data_records,
    logs,
    parse,
)


@given(logs())
def test_the_survivors_are_those_of_the_plainest_model(log: WrittenLog) -> None:
    expected = log.survivors()
    after, end_offset = compact(log)
    assert data_records(after) == expected
    assert end_offset == log.end_offset


@given(logs())
def test_many_passes_with_a_tiny_map_end_where_one_with_a_large_map_does(log: WrittenLog) -> None:
    expected = log.survivors()
    batches, end_offset = compact(log, map_bytes=TINY)
    while end_offset < log.end_offset:
        batches, next_end = compact(log, batches, first_dirty=end_offset, map_bytes=TINY)
        assert next_end > end_offset
        end_offset = next_end
    assert data_records(batches) == expected


@given(logs())
def test_what_was_compacted_stays_as_it_is(log: WrittenLog) -> None:
    producers = log.active_producers()
    batches, end = compact(log, producers=producers)
    # Markers lose their data in the first pass, and get their time in the second.
    batches, _ = compact(log, batches, first_dirty=end, producers=producers)
    again, _ = compact(log, batches, first_dirty=end, producers=producers)
    assert again == batches


@given(logs())
def test_in_time_nothing_is_left_but_values_and_their_markers(log: WrittenLog) -> None:
    expected = [record for record in log.survivors() if record.value is not None]
    batches, end = compact(log)
    for turn in range(1, 5):
        batches, _ = compact(log, batches, first_dirty=end, now_ms=turn * RETENTION_MS)
    assert data_records(batches) == expected
    transactional = {
        batch.header.producer_id
        for batch in parse(batches)
        if not batch.is_control and batch.header
    }
    for batch in parse(batches):
        if batch.is_control and batch.header:
            assert batch.header.producer_id in transactional


@given(logs())
def test_an_active_producers_last_batch_stays_if_only_its_header(log: WrittenLog) -> None:
    before = {batch.last_offset: batch.header for batch in parse(log.batches)}
    producers = log.active_producers()
    batches, end = compact(log, producers=producers)
    for turn in range(1, 5):
        batches, _ = compact(
            log, batches, first_dirty=end, now_ms=turn * RETENTION_MS, producers=producers
        )
    after = {batch.last_offset: batch.header for batch in parse(batches)}
    for producer in producers:
        if producer.last_data_offset is not None:
            was, now = before[producer.last_data_offset], after[producer.last_data_offset]
            assert was is not None
            assert now is not None
            assert now.base_offset == was.base_offset
            assert now.base_sequence == was.base_sequence
            assert now.partition_leader_epoch == was.partition_leader_epoch
            assert now.is_transactional == was.is_transactional
