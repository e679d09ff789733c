"""Lines are counted within their block, over batches, and no two of a file share a number."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from ottla.pipelines.sources.line_numbers import LineNumbers


def numbers(counting: LineNumbers, rows: Sequence[tuple[str, int]]) -> list[int]:
    topics, offsets = [row[0] for row in rows], [row[1] for row in rows]
    columns = {"topic": pa.array(topics, pa.string()), "offset": pa.array(offsets, pa.int64())}
    numbered = counting.numbered(pa.record_batch(columns))
    assert numbered.column("topic").to_pylist() == topics
    return numbered.column("offset").to_pylist()  # type: ignore[no-any-return]


def test_the_lines_of_a_small_file_have_their_own_numbers() -> None:
    assert numbers(LineNumbers(), [("a", 0)] * 3) == [0, 1, 2]


def test_a_block_goes_on_in_the_next_batch() -> None:
    counting = LineNumbers()
    assert numbers(counting, [("a", 0)] * 2) == [0, 1]
    assert numbers(counting, []) == []
    assert numbers(counting, [("a", 0)] * 2) == [2, 3]


def test_another_file_or_block_is_counted_anew() -> None:
    counting = LineNumbers()
    assert numbers(counting, [("a", 0), ("b", 0), ("b", 0), ("b", 100)]) == [0, 0, 1, 100]
    assert numbers(counting, [("b", 100), ("c", 100)]) == [101, 100]
